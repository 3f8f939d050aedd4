//! `testgen report`: reports of several machines as one, as a table of models or operators, or as
//! the changes since other reports.

mod comparison_base;

use super::{Out, written::write_result};
use crate::{
    bench::{
        BenchSummary, SpeedComparison, read_bench_reports, render_speed, render_speed_json,
        render_speed_markdown, render_speed_page,
    },
    compare::{ReportComparison, render_human, render_json, render_markdown as render_changes},
    report::{render_junit, render_markdown, render_page, render_structured},
    results::{
        expected_failure::ExpectedFailures,
        model_table::ModelTable,
        operator_table::OperatorTable,
        read::{MergedReport, ReportError, read_sources},
    },
    settings::{Overrides, Settings},
    spec::{LoadedSpec, load_all},
};
use clap::ValueEnum;
use comparison_base::BaseArguments;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
};
use testgen_types::bounded_file::{limit, read_text};

/// Merge reports of several machines into a page, Markdown, JSON or JUnit, or compare them with
/// other reports
///
/// Reads every `*.jsonl` below the directories, as `testgen run` and suites with TESTGEN_REPORT
/// write them, and every `*.jsonl.gz`. When one machine lacks a device and another machine has it,
/// the result of the latter counts; a simulation does not count as the device. Of several results
/// of one check on one device the most severe is kept. Failures that the specs or testgen.toml
/// expect are marked as expected until they expire; an unexpected pass is red.
///
/// With `--base`, every check is the same, better, worse, or only in one of the reports. Two passes
/// are compared by their errors against the golden: a tensor is worse when its error grew by the
/// factor and exceeds a hundredth of its threshold. A check that no longer runs is worse, too. The
/// JSON of `--by changes` contains three distances for each tensor: base to golden, report to
/// golden, and the interval that follows for the distance of the two.
///
/// With `--by speed`, reports of `testgen bench` are compared: the ratio of the medians of the same
/// work, with an interval of 95 %. Work whose configuration differs is refused, with the field. As
/// html, throughput over the batch and over the length is plotted, also without a base.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen report reports --out report.html                    one self-contained page
  testgen report reports --format markdown >> \"$GITHUB_STEP_SUMMARY\"
  testgen report cpu.jsonl mi300x/ --format junit --out junit.xml
  testgen report reports --base last-release --out report.html
  testgen report reports --base last-release --by changes     changes since a release
  testgen report reports --base reports --by changes --devices cuda,rocm     the same checks on two kinds of device
  testgen report a.jsonl --base a.jsonl --by changes --devices cpu,cpu@torch/eager     two engines on one device
  testgen report docs/measurements/models --by models > docs/reference/models.md
  testgen report new.jsonl --base old.jsonl --by speed --fail-slower 1.1     times of `testgen bench`
  testgen report times --by speed --format html --out speed.html     plots of throughput

Exit codes: 0 no check failed or is missing, and by changes nothing got worse or was lost; 1 a check or the report itself is red, by
changes a check got worse or was lost, a report has a bad line or lacks a test, or the reports have no check in common (the report is
written nevertheless), by speed work is refused, wrong, or slower than `--fail-slower` allows; 2 wrong usage or input, for instance a
directory without reports.")]
pub(super) struct ReportArguments {
    /// Reports, or directories with reports
    #[arg(value_name = "DIR", required = true)]
    reports: Vec<PathBuf>,
    /// The rows of the report
    #[arg(long, value_name = "ROWS", value_enum, default_value_t = ReportRows::Checks)]
    by: ReportRows,
    /// The output format; by default the first one: html, markdown, json or junit by checks,
    /// markdown by models and operators, human, markdown or json by changes,
    /// human, markdown, json or html by speed
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<ReportFormat>,
    /// The file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    base: BaseArguments,
    /// Tests that must have a result, one per line, as
    /// `cargo nextest list --message-format oneline` prints them
    #[arg(long, value_name = "FILE")]
    tests: Option<PathBuf>,
    /// Directory of the specs, for their expected failures [default: `specs` of testgen.toml, else
    /// model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
}

/// The rows of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportRows {
    /// Each check of each model
    Checks,
    /// Each model type, with the most severe result of each device
    Models,
    /// Each operator, with the most severe result of each device
    Operators,
    /// Each check that changed since `--base`
    Changes,
    /// Each measurement of `testgen bench`, with its ratio to the base
    Speed,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// One self-contained page
    Html,
    /// A table for people
    Human,
    /// For the summary of a CI step, or a page of documentation
    Markdown,
    /// For other programs, with a version
    Json,
    /// For CI systems that display test results
    Junit,
}

/// A format that the rows do not have.
#[derive(Debug, thiserror::Error)]
#[error("`--by {by}` has no format `{format}`")]
struct NoSuchFormat {
    by: String,
    format: String,
}

impl CliError for NoSuchFormat {
    fn help(&self) -> Option<String> {
        Some("`testgen report --help` lists the formats of each".to_owned())
    }
}

pub(super) fn run(arguments: &ReportArguments, out: &mut Out) -> Result<ExitCode, Error> {
    // Reports of times have other lines than reports of checks.
    let (text, green) = if arguments.by == ReportRows::Speed {
        of_times(arguments)?
    } else {
        of_checks(arguments)?
    };
    write_result(arguments.out.as_deref(), &text, out)?;
    Ok(if green {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

/// The text of reports of times, and whether they are green.
fn of_times(arguments: &ReportArguments) -> Result<(String, bool), Error> {
    if arguments.tests.is_some() {
        return Err(comparison_base::NoSuchOption {
            by: name_of(arguments.by),
            option: "--tests",
        }
        .into());
    }
    let reports = read_bench_reports(&arguments.reports)?;
    let comparison = arguments.base.speed(&reports)?;
    match (arguments.format, comparison) {
        // First, because plots need no base.
        (Some(ReportFormat::Html), comparison) => {
            let summary = BenchSummary::new(reports, None);
            let page = render_speed_page(&summary, comparison.as_ref());
            Ok((page, comparison.map_or(summary.green, |it| it.green)))
        }
        (_, Some(comparison)) => Ok((arguments.speed(&comparison)?, comparison.green)),
        (_, None) => Err(comparison_base::NoBase { by: "speed" }.into()),
    }
}

/// The text of reports of checks, and whether they are green.
fn of_checks(arguments: &ReportArguments) -> Result<(String, bool), Error> {
    arguments.base.confirm_no_limit(name_of(arguments.by))?;
    if matches!(arguments.by, ReportRows::Models | ReportRows::Operators) {
        arguments.base.confirm_absent(name_of(arguments.by))?;
    }
    let settings = Settings::resolve(&Overrides {
        specs: arguments.specs.clone(),
        ..Overrides::default()
    })?;
    let expected = ExpectedFailures::of_project(&settings)?;
    let mut merged = MergedReport::new(read_sources(&arguments.reports)?, &expected);
    if let Some(path) = &arguments.tests {
        merged.require(&read_tests(path)?);
    }
    let comparison = arguments.base.compare(&merged, &expected)?;
    Ok(match (arguments.by, &comparison) {
        (ReportRows::Changes, Some(comparison)) => {
            (arguments.changes(comparison)?, comparison.green)
        }
        (ReportRows::Changes, None) => return Err(comparison_base::NoBase { by: "changes" }.into()),
        // `of_times` has the rows by speed, so that none comes here.
        (ReportRows::Checks | ReportRows::Speed, comparison) => (
            arguments.checks(&merged, comparison.as_ref())?,
            merged.is_green(),
        ),
        (ReportRows::Models, _) => {
            let specs = arguments.specs_of_table(&settings)?;
            (
                ModelTable::new(&specs, &merged).markdown(),
                merged.is_green(),
            )
        }
        (ReportRows::Operators, _) => {
            let specs = arguments.specs_of_table(&settings)?;
            (
                OperatorTable::new(&specs, &merged).markdown(),
                merged.is_green(),
            )
        }
    })
}

/// The last word of each line, because nextest prints the binary before it.
fn read_tests(path: &Path) -> Result<BTreeSet<String>, ReportError> {
    let text = read_text(path, limit::REPORT)?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_whitespace().next_back())
        .map(str::to_owned)
        .collect())
}

impl ReportArguments {
    fn checks(
        &self,
        merged: &MergedReport,
        base: Option<&ReportComparison>,
    ) -> Result<String, NoSuchFormat> {
        Ok(match self.format.unwrap_or(ReportFormat::Html) {
            ReportFormat::Html => render_page(merged, base),
            ReportFormat::Markdown => render_markdown(merged, base),
            ReportFormat::Json => render_structured(merged, base),
            ReportFormat::Junit => render_junit(merged),
            format @ ReportFormat::Human => return Err(self.no_such(format)),
        })
    }

    fn changes(&self, comparison: &ReportComparison) -> Result<String, NoSuchFormat> {
        Ok(match self.format.unwrap_or(ReportFormat::Human) {
            ReportFormat::Human => render_human(comparison),
            ReportFormat::Markdown => render_changes(comparison),
            ReportFormat::Json => render_json(comparison),
            format @ (ReportFormat::Html | ReportFormat::Junit) => return Err(self.no_such(format)),
        })
    }

    fn speed(&self, comparison: &SpeedComparison) -> Result<String, NoSuchFormat> {
        Ok(match self.format.unwrap_or(ReportFormat::Human) {
            ReportFormat::Human => render_speed(comparison),
            ReportFormat::Markdown => render_speed_markdown(comparison),
            ReportFormat::Json => render_speed_json(comparison),
            format @ (ReportFormat::Html | ReportFormat::Junit) => return Err(self.no_such(format)),
        })
    }

    /// The specs of a table, which is Markdown.
    fn specs_of_table(&self, settings: &Settings) -> Result<Vec<LoadedSpec>, Error> {
        match self.format {
            None | Some(ReportFormat::Markdown) => Ok(load_all(&settings.specs)?),
            Some(format) => Err(self.no_such(format).into()),
        }
    }

    fn no_such(&self, format: ReportFormat) -> NoSuchFormat {
        NoSuchFormat {
            by: name_of(self.by),
            format: name_of(format),
        }
    }
}

/// The name of a value on the command line.
fn name_of(value: impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}
