//! Fakes of the programs and crates that `testgen` uses.

pub(crate) mod suite;
