//! `testgen logs`: training logs of known trainers, read as a stream, summarised and compared. No
//! GPU is needed.
//!
//! Owns: the line forms of the trainers ([`LogFormat`]), the records that lines contain
//! ([`Parser`]), one log's summary ([`LogSummary`]), the comparison of two logs
//! ([`LogComparison`]), and how they are printed. Memory is bounded: neither the size of a log nor
//! the length of a line matters. Does not own: reports of suites, which the command line reads.

mod ansi;
mod comparison;
mod compiled;
mod curve;
mod definition;
mod error;
mod format;
mod formats;
mod gpu_table;
mod metric;
mod number;
mod page;
mod parser;
mod rank;
mod reading;
mod record;
mod report;
mod search;
mod segments;
mod source_text;
mod statistics;
mod step;
mod summary;
mod text;
mod training_entries;
mod unit;

#[cfg(test)]
mod tests;

pub use comparison::{LogComparison, MetricComparison};
pub use curve::{Curve, CurvePoint};
pub use error::LogError;
pub use format::LogFormat;
pub use gpu_table::{GpuMetric, GpuSummary, GpuTable, GpuTool, read_gpu_table};
pub use metric::Metric;
pub use page::render_page;
pub use parser::Parser;
pub use reading::read_log;
pub use record::{ParsedLine, Record};
pub use report::{LogReport, LogSource, render_json};
pub use search::{LogSearch, SearchOutcome, SearchedFile, search_logs};
pub use statistics::MetricSummary;
pub use summary::{LogSummary, NonFinite};
pub use text::render_human;
pub use training_entries::{TrainingRun, training_entries};
