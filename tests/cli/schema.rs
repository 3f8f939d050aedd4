//! `testgen schema`.
