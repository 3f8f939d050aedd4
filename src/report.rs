//! Reports: what the checks of a suite wrote, read strictly, judged and shown.
//!
//! Owns: reading JSON lines, what makes a report incomplete or contradictory, the summary and its two faces. Does not
//! own: running the suite (see [`crate::run`]) and the line format (`testgen_contract::Record`).

mod failure;
mod human;
mod judgement;
mod lines;
mod problem;
mod summary;
mod table;

pub use failure::render_failure;
pub use human::render_human;
pub use judgement::judge;
pub use lines::{Lines, ReportError, parse_lines, read_lines};
pub use problem::Problem;
pub use summary::{IgnoredReason, RanOn, Row, Summary};
pub use table::{Align, Table};
