//! `testgen verify`.
