//! The content of one log.

use super::{curve::Curve, format::LogFormat, metric::Metric, statistics::MetricSummary};
use serde::Serialize;
use std::collections::BTreeMap;

/// The content of a log.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LogSummary {
    /// The file, or `-` for standard input.
    pub path: String,
    /// Bytes read.
    pub bytes: u64,
    /// Lines, counted by line feeds.
    pub lines: u64,
    /// Lines with numbers of a step or of the run, by form.
    pub formats: BTreeMap<LogFormat, u64>,
    /// Lines with numbers of a step or of the run.
    pub records: u64,
    /// Headings, and lines below them without a number that is read.
    pub parts: u64,
    /// States of progress bars without numbers of a step.
    pub progress: u64,
    /// All other lines that are not blank.
    pub unmatched: u64,
    /// Lines longer than a mebibyte, of which the start was read.
    pub cut: u64,
    /// The first unmatched lines, escaped and cut to 200 characters.
    pub unmatched_examples: Vec<String>,
    /// Processes that printed numbers of a step with their rank.
    pub ranks: usize,
    /// Whether steps are numbers of lines, because the trainer does not print them.
    pub steps_are_counted: bool,
    /// The smallest step.
    pub first_step: u64,
    /// The largest step.
    pub last_step: u64,
    /// Losses that are NaN or infinite, losses of 0 with such a gradient norm, and iterations that
    /// the trainer reports as such.
    pub non_finite_losses: u64,
    /// The first of them.
    pub non_finite: Vec<NonFinite>,
    /// Each metric that occurs.
    pub metrics: BTreeMap<Metric, MetricSummary>,
    /// The values by step.
    #[serde(skip)]
    pub curve: Curve,
    /// The values of the lines whose steps cannot be aligned with the others, as of DeepSpeed below
    /// the Hugging Face Trainer.
    #[serde(skip)]
    pub other_curve: Curve,
}

/// The place of a loss that is NaN or infinite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NonFinite {
    /// The line, from 1.
    pub line: u64,
    /// The step.
    pub step: u64,
    /// `NaN`, `inf`, `-inf`, `0` with its gradient norm, or a number of iterations.
    pub value: String,
}

impl LogSummary {
    /// Whether a loss is NaN or infinite.
    pub fn has_non_finite_losses(&self) -> bool {
        self.non_finite_losses > 0
    }

    /// The summary of a metric with at least one value.
    pub fn metric(&self, metric: Metric) -> Option<&MetricSummary> {
        self.metrics.get(&metric)
    }
}
