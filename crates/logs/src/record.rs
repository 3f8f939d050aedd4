//! The numbers of one step in one line of a log.

use super::{format::LogFormat, metric::Metric};

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedLine {
    /// Numbers of a step.
    Record(Record),
    /// A heading, or a line below one, without a number that is read.
    Part,
    /// A progress bar without numbers of a step.
    Progress,
    /// Anything else.
    Unmatched,
}

/// Numbers of a step, or of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The form of the line.
    pub format: LogFormat,
    /// The step as printed, or the number of the line for trainers that do not print it; 0 if the
    /// line is about the run.
    pub step: u64,
    /// Whether the step is the number of the line.
    pub is_counted: bool,
    /// Whether the line is about the run instead of a step.
    pub is_about_run: bool,
    /// The process that printed it, where its prefix says so.
    pub rank: Option<u32>,
    /// A value for each of [`Metric::ALL`], in the unit of the metric.
    pub values: [Option<f64>; Metric::COUNT],
}

impl Record {
    /// The value of a metric.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.values[metric.index()]
    }

    /// Whether the loss was NaN or infinite and is printed as 0.
    ///
    /// With `logging_nan_inf_filter`, its default, the Hugging Face Trainer prints 0 where all
    /// losses since the last line were NaN or infinite; the gradient norm is not filtered.
    pub fn hides_loss(&self) -> bool {
        self.value(Metric::Loss) == Some(0.0)
            && self
                .value(Metric::GradNorm)
                .is_some_and(|norm| !norm.is_finite())
    }
}
