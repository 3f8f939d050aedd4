//! `testgen explain`.
