//! Tests of the dependencies in Cargo.lock: advisories, licences and sources, as deny.toml permits
//! them. cargo-deny checks the same with the advisories of the day; these tests need no network and
//! no installation.
