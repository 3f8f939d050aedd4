//! Results of suites: report files read strictly, evaluated, and merged over several machines.
//!
//! Owns: reading JSON lines, the status of each check, incomplete and contradictory reports, the
//! summary of one run, and several reports merged into one. Does not own: rendering (see
//! [`crate::report`]), comparing (see [`crate::compare`]) and the line format
//! (`testgen_types::ReportEntry`).

mod cell;
mod column;
mod completeness;
mod lines;
mod merged;
mod problem;
mod source;
mod status;
mod summary;

pub use cell::{Cell, CellPart, cells};
pub(crate) use cell::{error_text, first_diverging, loaded_bytes};
pub use column::Column;
pub(crate) use column::on_engine;
pub use completeness::find_problems;
pub(crate) use lines::read_report;
pub use lines::{Lines, ReportError, parse_lines, read_lines};
pub use merged::{MergedEntry, MergedReport, StatusCounts};
pub use problem::ReportProblem;
pub(crate) use source::report_files;
pub use source::{ReportSource, read_sources};
pub use status::{ResultStatus, StatusEvaluation, evaluate};
pub use summary::{ExpectedToFail, IgnoredReason, RanOn, Summary, SummaryRow};
