//! One or two logs as JSON.

use super::{
    comparison::LogComparison,
    curve::{Curve, CurvePoint},
    gpu_table::GpuTable,
    metric::Metric,
    search::SearchedFile,
    summary::LogSummary,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most points of a curve in JSON and on the page.
pub(super) const POINTS: usize = 2000;

/// One log, or two and their comparison.
#[derive(Debug, Clone)]
pub struct LogReport {
    /// The logs in the order of the command line.
    pub logs: Vec<LogSummary>,
    /// The files that belong to each log.
    pub sources: Vec<LogSource>,
    /// The comparison of two logs.
    pub comparison: Option<LogComparison>,
}

/// The files that belong to a log.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LogSource {
    /// The files of the searched directory: empty if the log was named.
    pub files: Vec<SearchedFile>,
    /// The tables of GPUs.
    pub gpus: Vec<GpuTable>,
}

/// The version of the JSON form; adding a field is compatible.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct LogDocument<'a> {
    version: u32,
    logs: Vec<ReportedLog<'a>>,
    comparison: Option<&'a LogComparison>,
}

#[derive(Serialize)]
struct ReportedLog<'a> {
    #[serde(flatten)]
    summary: &'a LogSummary,
    #[serde(flatten)]
    source: &'a LogSource,
    curve: CurveJson,
}

/// A curve with at most 2000 points.
#[derive(Serialize)]
pub(super) struct CurveJson {
    steps_per_point: u64,
    points: Vec<PointJson>,
}

#[derive(Serialize)]
struct PointJson {
    step: u64,
    #[serde(flatten)]
    values: BTreeMap<&'static str, f64>,
}

impl LogReport {
    /// A report of one or two logs.
    pub fn new(logs: Vec<LogSummary>) -> Self {
        let without_files = logs.into_iter().map(|log| (log, LogSource::default()));
        Self::with_sources(without_files.collect())
    }

    /// A report of one or two logs with the files that belong to them.
    pub fn with_sources(logs: Vec<(LogSummary, LogSource)>) -> Self {
        let (logs, sources): (Vec<_>, Vec<_>) = logs.into_iter().unzip();
        let comparison = match logs.as_slice() {
            [first, second] => Some(LogComparison::new(first, second)),
            _ => None,
        };
        Self {
            logs,
            sources,
            comparison,
        }
    }

    /// Whether every log has losses, all of them are finite, and the losses of two logs were
    /// compared and differ by at most the fraction `within`.
    pub fn is_green(&self, within: Option<f64>) -> bool {
        let is_finite =
            |log: &LogSummary| !log.has_non_finite_losses() && log.metric(Metric::Loss).is_some();
        self.logs.iter().all(is_finite)
            && self.comparison.as_ref().is_none_or(|comparison| {
                // Losses that were not compared are not within anything.
                comparison
                    .largest_loss_difference()
                    // Also without a limit: an infinite difference is not below the largest number.
                    .is_some_and(|found| found <= within.unwrap_or(f64::MAX))
            })
    }
}

impl CurveJson {
    pub(super) fn new(curve: &Curve) -> Self {
        let curve = curve.reduced(1, POINTS);
        Self {
            steps_per_point: curve.steps_per_point(),
            points: curve.points().map(|point| PointJson::new(&point)).collect(),
        }
    }
}

impl PointJson {
    fn new(point: &CurvePoint) -> Self {
        let named = Metric::ALL
            .iter()
            .zip(point.values)
            .filter(|(metric, _)| **metric != Metric::NanIterations);
        // JSON has no infinity; the mean of finite values can be infinite.
        let values = named.filter_map(|(metric, value)| {
            Some((metric.as_str(), value.filter(|value| value.is_finite())?))
        });
        Self {
            step: point.step,
            values: values.collect(),
        }
    }
}

/// One JSON object with a version. Metrics have the units that `docs/logs.md` lists: seconds,
/// bytes.
pub fn render_json(report: &LogReport) -> String {
    let logs = report
        .logs
        .iter()
        .zip(&report.sources)
        .map(|(summary, source)| ReportedLog {
            summary,
            source,
            curve: CurveJson::new(&summary.curve),
        })
        .collect();
    let document = LogDocument {
        version: VERSION,
        logs,
        comparison: report.comparison.as_ref(),
    };
    format!(
        "{}\n",
        serde_json::to_string_pretty(&document).expect("a report has string keys only")
    )
}
