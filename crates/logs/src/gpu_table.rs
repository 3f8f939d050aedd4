//! Tables of GPUs that `nvidia-smi`, `rocm-smi` and `amd-smi` print as CSV beside a training run.
//!
//! Owns: recognising a table by its heading, its columns in one unit, and one summary for each GPU.
//! Memory is bounded. A table without a heading is not read, because its columns would be guesses.

mod cells;
mod columns;
mod gpu_metric;
mod read;
mod table;
mod tool;

#[cfg(test)]
mod tests;

pub use gpu_metric::GpuMetric;
pub use read::read_gpu_table;
pub use table::{GpuSummary, GpuTable};
pub use tool::GpuTool;
