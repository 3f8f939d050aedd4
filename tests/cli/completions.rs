//! `testgen completions`.
