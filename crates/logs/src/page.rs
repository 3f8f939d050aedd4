//! One or two logs as a self-contained page with curves. Owns its scripts; style and elements come
//! from the report.

use super::{
    comparison::LogComparison,
    metric::Metric,
    report::{CurveJson, LogReport},
    summary::LogSummary,
    text::result,
};
use serde::Serialize;
use testgen_base::page::assemble;

const TEMPLATE: &str = include_str!("page/logs.html");
const SCRIPTS: [&str; 2] = [include_str!("page/curves.js"), include_str!("page/logs.js")];

/// All data that the scripts read.
#[derive(Serialize)]
struct LogPageData<'a> {
    green: bool,
    result: String,
    /// Name and label of each metric.
    metrics: Vec<[&'static str; 2]>,
    logs: Vec<PageLog<'a>>,
    comparison: Option<&'a LogComparison>,
}

#[derive(Serialize)]
struct PageLog<'a> {
    summary: &'a LogSummary,
    formats: Vec<&'static str>,
    curve: CurveJson,
}

/// The whole page. `within` is the limit for the losses of two logs.
pub fn render_page(report: &LogReport, within: Option<f64>) -> String {
    let data = LogPageData {
        green: report.is_green(within),
        result: result(report, within),
        metrics: Metric::ALL
            .iter()
            .map(|metric| [metric.as_str(), metric.label()])
            .collect(),
        logs: report.logs.iter().map(PageLog::new).collect(),
        comparison: report.comparison.as_ref(),
    };
    assemble(TEMPLATE, &SCRIPTS, &data)
}

impl<'a> PageLog<'a> {
    fn new(summary: &'a LogSummary) -> Self {
        let formats = summary
            .formats
            .keys()
            .map(|format| format.as_str())
            .collect();
        Self {
            summary,
            formats,
            curve: CurveJson::new(&summary.curve),
        }
    }
}
