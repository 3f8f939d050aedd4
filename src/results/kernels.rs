//! Results of `testgen kernels`: every kernel that an autotuner could choose, on every product of
//! some models.
//!
//! Owns: reading the lines of such a report, counting them, and rendering the counts. Does not own:
//! running the suite (see [`crate::execution::run`]) and the line format
//! (`testgen_types::KernelEntry`).

mod human;
mod lines;
mod summary;

pub use human::render_kernels;
pub use lines::{KernelLines, read_kernel_lines};
pub use summary::{KernelExample, KernelRow, KernelSummary};
