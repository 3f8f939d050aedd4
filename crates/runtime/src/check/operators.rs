//! The checks of operators, and what only they share.

mod algorithms;
mod calls;
mod compared;
pub(super) mod determinism;
mod evidence;
mod failed;
pub(super) mod forward;
pub(super) mod integers;
pub(super) mod memory_released;
pub(super) mod placement;
mod recorded_calls;
pub(super) mod relations;
pub(super) mod shapes;
pub(super) mod special_values;
pub(super) mod stress;
mod under_test;
mod unsupported;
