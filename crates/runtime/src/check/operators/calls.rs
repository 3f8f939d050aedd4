//! The calls that checks of operators make: the cases of a spec, the device that computes them,
//! their comparison with the reference, and the files of failed calls.

pub(super) mod algorithms;
pub(super) mod cases;
pub(super) mod compared;
pub(super) mod evidence;
pub(super) mod failed;
pub(super) mod recorded;
pub(super) mod under_test;
pub(super) mod unsupported;
