//! `testgen devices`.
