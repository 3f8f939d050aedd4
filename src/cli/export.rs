//! `testgen export`: ONNX graphs through Python.

use super::{Out, checkpoint_argument::checkpoint};
use crate::reference::export::{ExportOptions, export};
use std::path::PathBuf;
use testgen_base::{cli_error::Error, exit_code::ExitCode};

/// Export checkpoints as ONNX graphs, for the engine onnxruntime
///
/// Exports each model with torch as a graph without a cache, whose batch and sequence have any
/// size, and prints its path: target/testgen/onnx/DIGEST/CLASS/model.onnx, or below the folder that
/// TESTGEN_ONNX names. `testgen run --engine onnxruntime` finds it there as long as config.json and
/// the weights of the checkpoint are the same. A graph that exists is not exported again. Needs
/// Python with the packages torch, transformers 5, safetensors, numpy, onnx and onnxscript. A
/// checkpoint that contains `model.onnx` or `onnx/model.onnx` needs no export.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen export bert llama                    the checkpoints of the specs `bert` and `llama`
  testgen export ~/models/my-bert              a directory as `save_pretrained` writes it
  testgen export ~/models/my-bert --into-checkpoint    writes onnx/model.onnx in that directory
  testgen export bert --python .venv/bin/python

Exit codes: 0 every graph exists; 2 wrong usage, or a model that torch cannot export; 3 Python or a package is missing.")]
pub(super) struct ExportArguments {
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
    /// Write `onnx/model.onnx` in the directory of the checkpoint
    #[arg(long)]
    into_checkpoint: bool,
    /// Export again if a graph exists
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &ExportArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let found = arguments
        .targets
        .iter()
        .map(|target| checkpoint(target, arguments.specs.as_deref()));
    let options = ExportOptions {
        checkpoints: found.collect::<Result<_, _>>()?,
        python: arguments.python.clone(),
        into_checkpoint: arguments.into_checkpoint,
        force: arguments.force,
    };
    // The exporter writes to the same stdout.
    out.flush()?;
    export(&options)?;
    Ok(ExitCode::Success)
}
