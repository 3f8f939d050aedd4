//! The result of a run on stdout.

use crate::{
    cli::Out,
    cli_error::Error,
    exit_code::ExitCode,
    kernels::{KernelSummary, read_kernel_lines, render_kernels},
    report::render_human,
    results::Summary,
    run::{Execution, keep_reports, last_lines},
};
use clap::ValueEnum;
use std::path::Path;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RunFormat {
    /// A table, followed by reasons
    Human,
    /// One JSON object with a version
    Json,
}

/// Prints the results of the checks; green is exit code 0.
pub(super) fn show(format: RunFormat, report: &Path, summary: &Summary, out: &mut Out) -> Result<ExitCode, Error> {
    match format {
        RunFormat::Human => {
            write!(out, "{}", render_human(summary))?;
            writeln!(out, "report: {}", report.display())?;
        }
        RunFormat::Json => {
            let json = serde_json::to_string_pretty(summary).expect("a summary has string keys only");
            writeln!(out, "{json}")?;
        }
    }
    Ok(if summary.green { ExitCode::Success } else { ExitCode::Findings })
}

/// The lines come from one process: several are refused.
pub(super) fn show_kernels(
    format: RunFormat,
    report: &Path,
    executions: Vec<Execution>,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let lines = executions.first().map(|execution| read_kernel_lines(execution.report())).transpose()?;
    let crashed = executions.iter().map(|execution| execution.status).find(|status| !status.success());
    let problem = crashed.map(|status| format!("the suite ended before it was done ({status})"));
    for log in keep_reports(executions, report)?.iter().filter(|_| problem.is_some()) {
        show_end(log);
    }
    let summary = KernelSummary::new(lines.unwrap_or_default(), problem);
    match format {
        RunFormat::Human => {
            write!(out, "{}", render_kernels(&summary))?;
            writeln!(out, "report: {}", report.display())?;
        }
        RunFormat::Json => {
            let json = serde_json::to_string_pretty(&summary).expect("outcomes are written as strings");
            writeln!(out, "{json}")?;
        }
    }
    Ok(if summary.green { ExitCode::Success } else { ExitCode::Findings })
}

/// Prints the end of the output of a crashed suite.
pub(super) fn show_end(log: &Path) {
    if let Ok(lines) = last_lines(log) {
        eprintln!("{lines}");
    }
}
