//! `testgen generate`.
