//! Reports: what the checks of a suite wrote, read strictly, judged and shown.
//!
//! Owns: reading JSON lines, what makes a report incomplete or contradictory, the summary of one run, and several reports
//! merged into one with its faces (page, Markdown, JSON, JUnit). Does not own: comparing (see [`crate::compare`]), running the suite (see [`crate::run`]) and the line format (`testgen_contract::Record`).

mod cell;
mod failure;
mod human;
mod judgement;
mod junit;
mod lines;
mod markdown;
mod merged;
mod page;
mod problem;
mod source;
mod standing;
mod structured;
mod summary;
mod table;

pub use cell::{Cell, cells};
pub use failure::render_failure;
pub use human::render_human;
pub use judgement::judge;
pub use junit::render_junit;
pub use lines::{Lines, ReportError, parse_lines, read_lines};
pub(crate) use markdown::cell_text;
pub use markdown::render_markdown;
pub use merged::{Column, Entry, Merged};
pub use page::render_page;
pub use problem::Problem;
pub use source::{Source, read_sources};
pub use standing::{Judged, Standing, judge_record};
pub use structured::{render_structured, structured_schema};
pub use summary::{Expectation, IgnoredReason, RanOn, Row, Summary};
pub use table::{Align, Table};
