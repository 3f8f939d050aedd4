//! `testgen add`.
