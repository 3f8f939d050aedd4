//! The form of a line: how it is recognised, and where its numbers are.

use super::{format::LogFormat, metric::Metric, unit::Unit};

/// One form of line with the numbers of a step.
pub(super) struct LogDefinition {
    pub(super) format: LogFormat,
    /// A text that every such line contains.
    // All are searched at once by their first four bytes, so that these should be rare in logs.
    pub(super) signature: &'static str,
    /// Texts of which it contains at least one; all lines with the signature where there are none.
    pub(super) any_of: &'static [&'static str],
    /// Where the step is; the first one that is found counts. Without any, the line is about the
    /// run: a peak of memory, a mean of the whole run.
    pub(super) step: &'static [StepSource],
    /// Its numbers; of several places of a metric the first one that is found counts.
    pub(super) fields: &'static [Field],
}

/// A form with a heading and one number on each of the following lines.
pub(super) struct LogBlock {
    pub(super) format: LogFormat,
    /// A text that the heading contains, before the step.
    pub(super) heading: &'static str,
    /// Starts of the lines of the block, after spaces.
    pub(super) parts: &'static [&'static str],
    pub(super) fields: &'static [Field],
}

/// A number of a line.
pub(super) struct Field(pub(super) Metric, pub(super) LinePosition, pub(super) Unit);

/// A position in a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum LinePosition {
    /// After this text, which does not continue a longer word.
    After(&'static str),
    /// Before this text.
    Before(&'static str),
}

/// Where the step is.
#[derive(Debug, Clone, Copy)]
pub(super) enum StepSource {
    /// A number of the line.
    At(LinePosition),
    /// The position of a tqdm bar, `Epoch 2:  10%|# | 10/100 [`, counted from the first epoch.
    Bar,
    /// `Epoch(train) [2][ 10/100]`, counted from the first epoch.
    EpochBracket,
    /// The trainer does not print it: lines are numbered from 1.
    Counted,
}
