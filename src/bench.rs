//! Results of `testgen bench`: times of subjects whose results agree with their reference.
//!
//! Owns: reading the lines of such a report, showing them, plotting them, and comparing two. Does not own: running
//! the suite (see [`crate::execution::run`]) and the line format (`testgen_types::BenchEntry`).

mod between_starts;
mod bootstrap;
mod comparison;
mod comparison_text;
mod digits;
mod human;
mod lines;
mod plot_axis;
mod plot_svg;
mod speed_page;
mod starts;
mod summary;
mod throughput;

pub use bootstrap::SpeedRatio;
pub use comparison::{
    RefusedPair, SpeedChange, SpeedComparison, SpeedOptions, SpeedRow, SpeedSide, SpeedWork,
    WrongWork,
};
pub use comparison_text::{render_speed, render_speed_json, render_speed_markdown};
pub use human::render_bench;
pub use lines::{BenchLines, read_bench_lines, read_bench_reports};
pub use speed_page::render_speed_page;
pub use summary::BenchSummary;
