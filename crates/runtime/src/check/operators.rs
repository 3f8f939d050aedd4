//! The checks of operators, and the calls that they make.

mod calls;
pub(super) mod determinism;
pub(super) mod forward;
pub(super) mod integers;
pub(super) mod memory_released;
pub(super) mod placement;
pub(super) mod relations;
pub(super) mod shapes;
pub(super) mod special_values;
pub(super) mod stress;

pub(crate) use calls::compared::Agreement;
pub(super) use calls::compared::compare_each;
