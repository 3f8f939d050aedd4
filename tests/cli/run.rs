//! `testgen run`.
