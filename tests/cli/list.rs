//! `testgen list`.
