//! `testgen record`: goldens through Python.

use super::Out;
use crate::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    record::{RecordOptions, record},
    settings::{Overrides, Settings},
    spec::{LoadedSpec, load_all},
    text::Quoted,
};
use std::path::{Path, PathBuf};

/// Spec names listed in the error about an unknown name.
const NAMES_LISTED: usize = 20;

/// Record goldens by running Hugging Face transformers
///
/// Runs the checkpoint with transformers on the CPU in float32 and writes its inputs and outputs, with the noise of the
/// reference itself, as `golden.safetensors` beside the weights, and a request with its answer for each task as
/// `answers.json`. The only command that needs Python, with the packages torch, transformers 5 (4.57 for graphormer, which
/// 5 no longer has), safetensors and numpy. An existing golden stays until the new one is complete.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen record bert                          the checkpoint of the spec `bert`
  testgen record ~/models/my-bert              a directory as `save_pretrained` writes it
  testgen record bert --force --seed 7         other inputs instead of the goldens that are there
  testgen record bert --python .venv/bin/python")]
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
    /// Number of measurements of the reference's own error; the largest counts. One may be too few: if 16-bit checks
    /// fail for a small model, or only `dtype_ladder` does, try 8
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    noise_samples: u32,
    /// Replace existing goldens
    #[arg(long)]
    force: bool,
    /// Keep the goldens and record only `answers.json`: a request of each task and the answer to it
    #[arg(long, conflicts_with_all = ["force", "seed", "noise_samples"])]
    answers: bool,
}

/// No spec has the name.
#[derive(Debug, thiserror::Error)]
#[error("there is no directory and no spec {name}")]
struct UnknownName {
    name: String,
    known: Vec<String>,
}

impl CliError for UnknownName {
    fn help(&self) -> Option<String> {
        let listed: Vec<String> = self.known.iter().take(NAMES_LISTED).map(|name| format!("`{name}`")).collect();
        let more = self.known.len().saturating_sub(NAMES_LISTED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more; see `testgen list`") };
        Some(format!("the specs are {}{more}", listed.join(", ")))
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Error> {
    let options = RecordOptions {
        checkpoint: checkpoint(arguments)?,
        python: arguments.python.clone(),
        seed: arguments.seed,
        noise_samples: arguments.noise_samples,
        force: arguments.force,
        answers: arguments.answers,
    };
    let golden = record(&options)?;
    writeln!(out, "{}", golden.display())?;
    Ok(ExitCode::Success)
}

/// The given directory, or the checkpoint of the spec with this name.
fn checkpoint(arguments: &Arguments) -> Result<PathBuf, Error> {
    if arguments.target.is_dir() {
        return Ok(arguments.target.clone());
    }
    let overrides = Overrides { specs: arguments.specs.clone(), ..Overrides::default() };
    let directory = Settings::resolve(&overrides)?.specs;
    let specs = load_all(&directory)?;
    let target = arguments.target.to_string_lossy();
    let found = specs.iter().find(|loaded| loaded.spec.name.as_str() == target);
    let Some(found) = found else {
        let mut known: Vec<String> = specs.iter().map(|loaded| loaded.spec.name.to_string()).collect();
        known.sort_by(|a, b| likeness(b, &target).total_cmp(&likeness(a, &target)).then(a.cmp(b)));
        return Err(UnknownName { name: Quoted(&target).to_string(), known }.into());
    };
    Ok(directory_of(&directory, found))
}

/// `<specs>/../fixtures/<name>`, or the spec's path, relative to its file.
fn directory_of(specs: &Path, loaded: &LoadedSpec) -> PathBuf {
    let checkpoint = &loaded.spec.checkpoint;
    match (&checkpoint.fixture, &checkpoint.path) {
        (Some(fixture), _) => specs.join("../fixtures").join(fixture),
        (None, Some(path)) => loaded.path.parent().unwrap_or(Path::new("")).join(path),
        // A NUL in a path is rejected when the spec is read.
        (None, None) => PathBuf::new(),
    }
}

fn likeness(name: &str, target: &str) -> f64 {
    strsim::jaro_winkler(name, target)
}
