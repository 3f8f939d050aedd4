//! Fakes of what `testgen` starts and calls.

pub(crate) mod suite;
