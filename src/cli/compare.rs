//! `testgen compare`: the changes between two reports, check by check.

use super::{Out, written::write_result};
use crate::{
    cli_error::{CliError, Error},
    compare::{CompareOptions, DeviceChoice, DevicePair, ReportComparison, render_human, render_json, render_markdown},
    exit_code::ExitCode,
    results::{MergedReport, read_sources},
    settings::{Overrides, Settings},
};
use clap::ValueEnum;
use std::{path::PathBuf, slice};

/// Compare two reports, check by check
///
/// Every check is the same, better, worse, or only in one of the reports. Two passes are compared by their errors against
/// the golden: a tensor is worse when its error grew by the factor and exceeds a hundredth of its threshold. A check that no
/// longer runs is worse, too. JSON contains three distances for each tensor: first report to golden, second report to
/// golden, and the interval that follows for the distance of the two reports.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen compare last-release reports                    changes since a release
  testgen compare reports reports --devices cuda,rocm     the same checks on two kinds of device
  testgen compare a.jsonl a.jsonl --devices cpu,cpu@torch/eager     two engines on one device
  testgen compare a.jsonl b.jsonl --format markdown

Exit codes: 0 nothing got worse or was lost; 1 a check did, or the reports have no check in common; 2 wrong usage or input.")]
pub(super) struct CompareArguments {
    /// The earlier report, or a directory with reports
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The later report, or a directory with reports
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Compare this device of A with that one of B: cuda,rocm or rocm,rocm-sim; with an engine cuda,cuda@torch
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    devices: Vec<DeviceChoice>,
    /// From this ratio of two errors on, the larger one counts as worse
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0, value_parser = factor)]
    factor: f64,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CompareFormat::Human)]
    format: CompareFormat,
    /// The file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Directory of the specs, for their expected failures [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// A table of the checks that changed
    Human,
    /// For the summary of a CI step
    Markdown,
    /// One JSON object with a version
    Json,
}

/// `--devices` with a number of devices other than two.
#[derive(Debug, thiserror::Error)]
#[error("`--devices` takes two devices, found {found}")]
struct WrongDeviceCount {
    found: usize,
}

impl CliError for WrongDeviceCount {
    fn help(&self) -> Option<String> {
        Some("write `--devices cuda,rocm`: the first of report A, the second of report B".to_owned())
    }
}

pub(super) fn run(arguments: &CompareArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let devices = match arguments.devices.as_slice() {
        [] => None,
        [a, b] => Some(DevicePair { a: a.clone(), b: b.clone() }),
        more => return Err(WrongDeviceCount { found: more.len() }.into()),
    };
    let settings = Settings::resolve(&Overrides { specs: arguments.specs.clone(), ..Overrides::default() })?;
    let expected = settings.expected_failures()?;
    let read = |path| read_sources(slice::from_ref(path)).map(|sources| MergedReport::new(sources, &expected));
    let (first, second) = (read(&arguments.first)?, read(&arguments.second)?);
    let comparison = ReportComparison::new(&first, &second, &CompareOptions { devices, factor: arguments.factor });
    let text = match arguments.format {
        CompareFormat::Human => render_human(&comparison),
        CompareFormat::Markdown => render_markdown(&comparison),
        CompareFormat::Json => render_json(&comparison),
    };
    write_result(arguments.out.as_deref(), &text, out)?;
    Ok(if comparison.green { ExitCode::Success } else { ExitCode::Findings })
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    // Below 1, equal errors would count as worse.
    if factor.is_finite() && factor >= 1.0 { Ok(factor) } else { Err(format!("`{text}` is not a number from 1 on")) }
}
