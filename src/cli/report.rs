//! `testgen report`: reports of several machines as one page.

use super::{Out, written::write_result};
use crate::{
    cli_error::Error,
    compare::{CompareOptions, ReportComparison},
    exit_code::ExitCode,
    report::{render_junit, render_markdown, render_page, render_structured, structured_schema},
    results::{MergedReport, ReportError, read_sources},
    settings::{Overrides, Settings},
};
use clap::ValueEnum;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use testgen_types::bounded_file::{limit, read_text};

/// Merge reports of several machines into a page, Markdown, JSON or JUnit
///
/// Reads every `*.jsonl` below the directories, as `testgen run` and suites with TESTGEN_REPORT write them. When one machine
/// lacks a device and another machine has it, the result of the latter counts; a simulation does not count as the device.
/// Of several results of one check on one device the most severe is kept. Failures that the specs or testgen.toml expect are
/// marked as expected until they expire; an unexpected pass is red.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen report reports --out report.html                    one self-contained page
  testgen report reports --format markdown >> \"$GITHUB_STEP_SUMMARY\"
  testgen report cpu.jsonl mi300x/ --format junit --out junit.xml
  testgen report reports --base last-release --out report.html

Exit codes: 0 no check failed or is missing; 1 a check or the report itself is red (the report is written nevertheless);
2 wrong usage or input, for instance a directory without reports.")]
pub(super) struct ReportArguments {
    /// Reports, or directories with reports
    #[arg(value_name = "DIR", required_unless_present = "schema")]
    reports: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Html)]
    format: ReportFormat,
    /// The file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Reports to compare with, for instance those of the last release
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Tests that must have a result, one per line, as `cargo nextest list --message-format oneline` prints them
    #[arg(long, value_name = "FILE")]
    tests: Option<PathBuf>,
    /// Directory of the specs, for their expected failures [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// Print the JSON Schema of `--format json` instead
    #[arg(long, conflicts_with_all = ["reports", "format", "base"])]
    schema: bool,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// One self-contained page
    Html,
    /// For the summary of a CI step
    Markdown,
    /// For other programs, with a version and a schema
    Json,
    /// For CI systems that display test results
    Junit,
}

pub(super) fn run(arguments: &ReportArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.schema {
        write_result(arguments.out.as_deref(), &structured_schema(), out)?;
        return Ok(ExitCode::Success);
    }
    let settings = Settings::resolve(&Overrides { specs: arguments.specs.clone(), ..Overrides::default() })?;
    let expected = settings.expected_failures()?;
    let mut merged = MergedReport::new(read_sources(&arguments.reports)?, &expected);
    if let Some(path) = &arguments.tests {
        merged.require(&read_tests(path)?);
    }
    let base = match &arguments.base {
        Some(path) => Some(MergedReport::new(read_sources(std::slice::from_ref(path))?, &expected)),
        None => None,
    };
    let comparison = base.map(|base| ReportComparison::new(&base, &merged, &CompareOptions::default()));
    let text = render(arguments.format, &merged, comparison.as_ref());
    write_result(arguments.out.as_deref(), &text, out)?;
    Ok(if merged.is_green() { ExitCode::Success } else { ExitCode::Findings })
}

/// The last word of each line, because nextest prints the binary before it.
fn read_tests(path: &Path) -> Result<BTreeSet<String>, ReportError> {
    let text = read_text(path, limit::REPORT)?;
    Ok(text.lines().filter_map(|line| line.split_whitespace().next_back()).map(str::to_owned).collect())
}

fn render(format: ReportFormat, merged: &MergedReport, base: Option<&ReportComparison>) -> String {
    match format {
        ReportFormat::Html => render_page(merged, base),
        ReportFormat::Markdown => render_markdown(merged, base),
        ReportFormat::Json => render_structured(merged, base),
        ReportFormat::Junit => render_junit(merged),
    }
}
