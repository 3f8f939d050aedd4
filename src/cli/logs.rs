//! `testgen logs`: training logs, summarised and compared.

use super::{Out, text_format::TextFormat, written::write_result};
use std::{
    io,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
};
use testgen_logs::{
    LogError, LogReport, LogSummary, read_log, render_human, render_json, render_page,
};
use testgen_types::bounded_file::open;

/// Summarise a training log, or compare two
///
/// Reads the lines that torchtitan, Megatron-LM, Primus, GPT-NeoX, DeepSpeed, NeMo, Lightning, the
/// Hugging Face Trainer (TRL, Axolotl), nanoGPT, llm.c, nanotron, MaxText, torchtune, Composer,
/// OLMo, fairseq, LitGPT and MMEngine print. Losses that are NaN or infinite are counted and
/// located. Two logs are aligned by step. A log may have any size; no GPU is needed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen logs train.log                             what was trained, how fast, and whether a loss was NaN
  testgen logs mi300x.log h100.log --within 0.01     exit code 1 when losses differ by more than 1 % at a common step
  testgen logs a.log b.log --page curves.html        curves of both logs, one self-contained page
  zcat train.log.gz | testgen logs - --format json

Exit codes: 0 every loss is finite; 1 a loss is NaN or infinite, a log has no loss, or the losses of two logs have no step in common
or differ by more than --within; 2 wrong usage or input, for instance no line of a known form; 4 a log cannot be read.")]
pub(super) struct LogsArguments {
    /// One log, or two to compare; `-` is standard input
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// The output format; JSON is one object with a version
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
    /// Write a page with curves to this file, too
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// The largest relative difference of two losses at a common step: 0.01 is 1 %
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    within: Option<f64>,
}

/// Arguments that contradict each other.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error("standard input can be one log only")]
    TwiceStandardInput,
    #[error("`--within` compares two logs, found one")]
    NothingToCompare,
}

impl CliError for UsageError {
    fn help(&self) -> Option<String> {
        match self {
            Self::TwiceStandardInput => Some("write the other log to a file".to_owned()),
            Self::NothingToCompare => {
                Some("name the second log: `testgen logs A B --within 0.01`".to_owned())
            }
        }
    }
}

pub(super) fn run(arguments: &LogsArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.files.len() == 2 && arguments.files.iter().all(|path| is_standard_input(path)) {
        return Err(UsageError::TwiceStandardInput.into());
    }
    if arguments.files.len() == 1 && arguments.within.is_some() {
        return Err(UsageError::NothingToCompare.into());
    }
    let report = LogReport::new(
        arguments
            .files
            .iter()
            .map(|path| read(path))
            .collect::<Result<_, _>>()?,
    );
    if arguments.page.is_some() {
        write_result(
            arguments.page.as_deref(),
            &render_page(&report, arguments.within),
            out,
        )?;
    }
    let text = match arguments.format {
        TextFormat::Human => render_human(&report, arguments.within),
        TextFormat::Json => render_json(&report),
    };
    write_result(None, &text, out)?;
    Ok(if report.is_green(arguments.within) {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

fn read(path: &Path) -> Result<LogSummary, LogError> {
    if is_standard_input(path) {
        read_log(path, io::stdin().lock())
    } else {
        read_log(path, open(path)?)
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if fraction.is_finite() && fraction >= 0.0 {
        Ok(fraction)
    } else {
        Err(format!("`{text}` is not a number from 0 on"))
    }
}
