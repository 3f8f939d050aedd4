//! `testgen logs`: training logs, found, summarised and compared.

mod bench_report;

use super::{Out, text_format::TextFormat, written::write_result};
use bench_report::BenchReportArguments;
use std::{
    io,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
};
use testgen_logs::{
    GpuTable, LogError, LogReport, LogSource, LogSummary, read_gpu_table, read_log, render_human,
    render_json, render_page, search_logs,
};
use testgen_types::bounded_file::open;

/// Summarise a training log, or compare two
///
/// Reads the lines that torchtitan, Megatron-LM, Primus, GPT-NeoX, DeepSpeed, NeMo, Lightning, the
/// Hugging Face Trainer (TRL, Axolotl), nanoGPT, llm.c, nanotron, MaxText, torchtune, Composer,
/// OLMo, fairseq, LitGPT and MMEngine print. Losses that are NaN or infinite are counted and
/// located. Two logs are aligned by step. A log may have any size; no GPU is needed.
///
/// A directory, by default the current one, is searched for a log, with rank 0 first, and for
/// tables of nvidia-smi, rocm-smi and amd-smi; the output lists the files that were not taken, with
/// the reason. `--report` writes the speed as `testgen bench` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen logs train.log                             what was trained, how fast, and whether a loss was NaN
  testgen logs mi300x.log h100.log --within 0.01     exit code 1 when losses differ by more than 1 % at a common step
  testgen logs a.log b.log --page curves.html        curves of both logs, one self-contained page
  zcat train.log.gz | testgen logs - --format json
  testgen logs runs/7                                the log and the tables of GPUs of a directory
  testgen logs mi300x.log --gpus amd-smi.csv --report mi300x.jsonl --subject llama --precision bf16

Exit codes: 0 every loss is finite; 1 a loss is NaN or infinite, a log has no loss, or the losses of two logs have no step in common
or differ by more than --within; 2 wrong usage or input, for instance no line of a known form; 4 a log cannot be read.")]
pub(super) struct LogsArguments {
    /// One log, or two to compare; a directory is searched, `-` is standard input [default: the
    /// current directory]
    #[arg(value_name = "FILE", num_args = 0..=2)]
    files: Vec<PathBuf>,
    /// A table of GPUs of the log: CSV with a heading from nvidia-smi, rocm-smi or amd-smi; can be
    /// repeated
    #[arg(long, value_name = "FILE")]
    gpus: Vec<PathBuf>,
    /// The output format; JSON is one object with a version
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
    /// Write a page with curves to this file, too
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// The largest relative difference of two losses at a common step: 0.01 is 1 %
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    within: Option<f64>,
    #[command(flatten)]
    bench: BenchReportArguments,
}

/// Arguments that contradict each other.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error("standard input can be one log only")]
    TwiceStandardInput,
    #[error("`--within` compares two logs, found one")]
    NothingToCompare,
    #[error("`--gpus` belongs to one log, found two")]
    GpusOfTwoLogs,
}

impl CliError for UsageError {
    fn help(&self) -> Option<String> {
        match self {
            Self::TwiceStandardInput => Some("write the other log to a file".to_owned()),
            Self::NothingToCompare => {
                Some("name the second log: `testgen logs A B --within 0.01`".to_owned())
            }
            Self::GpusOfTwoLogs => {
                Some("put each log with its table into a directory, and name the two".to_owned())
            }
        }
    }
}

pub(super) fn run(arguments: &LogsArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.files.len() == 2 && arguments.files.iter().all(|path| is_standard_input(path)) {
        return Err(UsageError::TwiceStandardInput.into());
    }
    if arguments.files.len() < 2 && arguments.within.is_some() {
        return Err(UsageError::NothingToCompare.into());
    }
    // A table does not say to which of two jobs it belongs.
    if arguments.files.len() == 2 && !arguments.gpus.is_empty() {
        return Err(UsageError::GpusOfTwoLogs.into());
    }
    let report = LogReport::with_sources(arguments.logs()?);
    // Before the output, so that an error of the report is not hidden by a summary.
    arguments.bench.write(&report, out)?;
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

impl LogsArguments {
    fn logs(&self) -> Result<Vec<(LogSummary, LogSource)>, LogError> {
        let current = [PathBuf::from(".")];
        let paths = match self.files.as_slice() {
            [] => current.as_slice(),
            files => files,
        };
        let mut logs = Vec::new();
        for path in paths {
            let (log, mut source) = read(path)?;
            for path in &self.gpus {
                source.gpus.push(read_gpus(path)?);
            }
            logs.push((log, source));
        }
        Ok(logs)
    }
}

fn read(path: &Path) -> Result<(LogSummary, LogSource), LogError> {
    if path.is_dir() {
        let found = search_logs(path)?;
        let source = LogSource {
            files: found.files,
            gpus: found.gpus,
        };
        return Ok((found.log, source));
    }
    let log = if is_standard_input(path) {
        read_log(path, io::stdin().lock())?
    } else {
        read_log(path, open(path)?)?
    };
    Ok((log, LogSource::default()))
}

fn read_gpus(path: &Path) -> Result<GpuTable, LogError> {
    // A search skips such a file, but the user named this one.
    read_gpu_table(path, open(path)?)?.ok_or_else(|| LogError::NotAGpuTable {
        path: path.to_owned(),
    })
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    // `parse` also reads `nan` and `inf`, within which every loss would be.
    if fraction.is_finite() && fraction >= 0.0 {
        Ok(fraction)
    } else {
        Err(format!("`{text}` is not a number from 0 on"))
    }
}
