//! `testgen record`: goldens through Python.

use super::{Out, checkpoint_argument::named};
use crate::reference::{
    python_program::PythonError,
    record::{RecordOptions, RecordTarget, record_all},
};
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    progress::RunProgress,
};

/// Record goldens by running Hugging Face transformers
///
/// Runs the checkpoint with transformers on the CPU in float32 and writes its inputs and outputs,
/// with the noise of the reference itself, as `golden.safetensors` beside the weights, and a
/// request with its answer for each task as `answers.json`. Needs Python with the packages torch,
/// transformers 5 (4.57 for graphormer, which 5 no longer has), safetensors and numpy. An existing
/// golden stays until the new one is complete.
///
/// Several checkpoints are recorded at once, each in a process with one thread, as far as
/// processors and memory reach; the files have the same bytes as one after another. Stderr shows
/// the step of each and the expected time.
///
/// Of a spec with a synthetic checkpoint, its configuration and the list of its tensors are
/// recorded, too, in the directory that has the name of the spec's file without `.yaml`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen record bert                          the checkpoint of the spec `bert`
  testgen record ~/models/my-bert              a directory as `save_pretrained` writes it
  testgen record bert gpt2 ~/models/x          several at once
  testgen record bert --force --seed 7         other inputs instead of the goldens that are there
  testgen record bert --python .venv/bin/python
  testgen record ~/models/x --inputs x.safetensors
                                               its own inputs: tensors named as the arguments of `forward`")]
pub(super) struct RecordArguments {
    /// Names of specs, or directories of checkpoints
    #[arg(value_name = "NAME|DIR", required = true)]
    targets: Vec<PathBuf>,
    /// Directory of the specs in which a name is looked up [default: `specs` of testgen.toml, else
    /// model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// The Python to run; without it TESTGEN_PYTHON, then `python3`
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Selects the inputs; the same seed produces the same file
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of measurements of the reference's own error; the largest counts. With fewer, 16-bit
    /// checks of a correct model fail more often [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    noise_samples: Option<u32>,
    /// A safetensors file with the inputs, named as the arguments of the class's `forward`, in
    /// place of drawn ones
    ///
    /// For a type without a native implementation whose inputs the recorder does not make by
    /// itself; its error names the argument.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    inputs: Option<PathBuf>,
    /// Replace existing goldens
    #[arg(long)]
    force: bool,
    /// Keep the goldens and record only `answers.json`: a request of each task and the answer to it
    #[arg(long, conflicts_with_all = ["force", "inputs", "seed", "noise_samples"])]
    answers: bool,
    /// Number of checkpoints that are recorded at once [default: the number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// No progress on stderr
    #[arg(short, long)]
    quiet: bool,
}

/// The option names the inputs of one checkpoint.
#[derive(Debug, thiserror::Error)]
#[error("--inputs names the inputs of one checkpoint; {given} are given")]
struct InputsOfSeveral {
    given: usize,
}

impl CliError for InputsOfSeveral {
    fn help(&self) -> Option<String> {
        Some("record each checkpoint with its own file".to_owned())
    }
}

/// Some of several checkpoints were not recorded.
#[derive(Debug, thiserror::Error)]
#[error("{} of {all} checkpoints were not recorded: {}", failed.len(), failed.join(", "))]
struct NotAllRecorded {
    failed: Vec<String>,
    all: usize,
    code: ExitCode,
}

impl CliError for NotAllRecorded {
    fn exit_code(&self) -> ExitCode {
        self.code
    }
}

pub(super) fn run(arguments: &RecordArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.inputs.is_some() && arguments.targets.len() > 1 {
        return Err(InputsOfSeveral {
            given: arguments.targets.len(),
        }
        .into());
    }
    let targets = targets(arguments)?;
    let options = RecordOptions {
        python: arguments.python.clone(),
        seed: arguments.seed,
        noise_samples: arguments.noise_samples,
        inputs: arguments.inputs.clone(),
        force: arguments.force,
        answers: arguments.answers,
    };
    let mut progress = RunProgress::new(arguments.quiet);
    let results = record_all(&targets, &options, arguments.jobs, &mut progress)?;
    let (all, mut failed) = (targets.len(), Vec::new());
    // The results have the order of the targets, in whatever order the recordings have ended.
    for (target, result) in targets.into_iter().zip(results) {
        match result {
            Ok(golden) => writeln!(out, "{}", golden.display())?,
            Err(error) => failed.push((target.name, error)),
        }
    }
    // A single checkpoint keeps its own message, help and exit code.
    if all == 1
        && let Some((_, error)) = failed.pop()
    {
        return Err(error.into());
    }
    not_all(failed, all, &mut progress).map_or(Ok(ExitCode::Success), |error| Err(error.into()))
}

/// Each checkpoint once, with its name.
fn targets(arguments: &RecordArguments) -> Result<Vec<RecordTarget>, Error> {
    let mut targets: Vec<RecordTarget> = Vec::new();
    for target in &arguments.targets {
        let found = named(target, arguments.specs.as_deref())?;
        // A name and a directory may lead to the same checkpoint, which two recorders would write
        // at once.
        if targets
            .iter()
            .all(|other| canonical(&other.checkpoint) != canonical(&found.directory))
        {
            targets.push(RecordTarget {
                name: target.display().to_string(),
                checkpoint: found.directory,
                synthetic: found.synthetic,
            });
        }
    }
    Ok(targets)
}

/// The path without links.
fn canonical(path: &Path) -> PathBuf {
    // A synthetic checkpoint may not have its directory yet.
    path.canonicalize().unwrap_or(path.to_owned())
}

/// Prints the error of each checkpoint; the exit code is the first one's.
fn not_all(
    failed: Vec<(String, PythonError)>,
    all: usize,
    progress: &mut RunProgress,
) -> Option<NotAllRecorded> {
    for (name, error) in &failed {
        progress.message(&format!("{name}: error: {error}"));
        if let Some(help) = error.help() {
            progress.message(&format!("{name}: help: {help}"));
        }
    }
    // Failures can have different exit codes: the first failure decides.
    let code = failed.first()?.1.exit_code();
    Some(NotAllRecorded {
        failed: failed.into_iter().map(|(name, _)| name).collect(),
        all,
        code,
    })
}
