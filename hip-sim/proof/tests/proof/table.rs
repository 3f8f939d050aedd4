//! docs/hip-sim.md, whose table is made of the rows.
pub(crate) fn check() {}
