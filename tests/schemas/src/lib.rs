//! Empty: the tests validate snapshots and this repository's own files against the schemas in
//! `vendor/`.
