//! `testgen record`.
