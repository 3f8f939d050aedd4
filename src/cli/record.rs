//! `testgen record`: goldens through Python.

use super::{Out, checkpoint_argument::checkpoint};
use crate::{
    cli_error::Error,
    exit_code::ExitCode,
    record::{RecordOptions, record},
};
use std::path::PathBuf;

/// Record goldens by running Hugging Face transformers
///
/// Runs the checkpoint with transformers on the CPU in float32 and writes its inputs and outputs, with the noise of the
/// reference itself, as `golden.safetensors` beside the weights, and a request with its answer for each task as
/// `answers.json`. Needs Python with the packages torch, transformers 5 (4.57 for graphormer, which
/// 5 no longer has), safetensors and numpy. An existing golden stays until the new one is complete.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen record bert                          the checkpoint of the spec `bert`
  testgen record ~/models/my-bert              a directory as `save_pretrained` writes it
  testgen record bert --force --seed 7         other inputs instead of the goldens that are there
  testgen record bert --python .venv/bin/python
  testgen record ~/models/x --inputs x.safetensors
                                               its own inputs: tensors named as the arguments of `forward`")]
pub(super) struct Arguments {
    /// A spec's name, or the directory of a checkpoint
    #[arg(value_name = "NAME|DIR")]
    target: PathBuf,
    /// Directory of the specs in which a name is looked up [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// The Python to run; without it TESTGEN_PYTHON, then `python3`
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Selects the inputs; the same seed produces the same file
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of measurements of the reference's own error; the largest counts. With fewer, 16-bit checks of a correct
    /// model fail more often [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    noise_samples: Option<u32>,
    /// A safetensors file with the inputs, named as the arguments of the class's `forward`, in place of drawn ones
    ///
    /// For a type without a native implementation whose inputs the recorder does not make by itself; its error names the argument.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    inputs: Option<PathBuf>,
    /// Replace existing goldens
    #[arg(long)]
    force: bool,
    /// Keep the goldens and record only `answers.json`: a request of each task and the answer to it
    #[arg(long, conflicts_with_all = ["force", "inputs", "seed", "noise_samples"])]
    answers: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Error> {
    let options = RecordOptions {
        checkpoint: checkpoint(&arguments.target, arguments.specs.as_deref())?,
        python: arguments.python.clone(),
        seed: arguments.seed,
        noise_samples: arguments.noise_samples,
        inputs: arguments.inputs.clone(),
        force: arguments.force,
        answers: arguments.answers,
    };
    let golden = record(&options)?;
    writeln!(out, "{}", golden.display())?;
    Ok(ExitCode::Success)
}
