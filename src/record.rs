//! Recording goldens: the only place that runs Python, and only when a user asks for it.
//!
//! Owns: finding a Python and running the embedded recorder with it, isolated from the user's environment. Does not own: the recorder itself
//! (`record/*.py`), which reports missing packages and other errors.

mod environment;

use crate::{
    checkpoint_files::{self, CheckpointFilesError},
    child_process::{self, ChildError},
    cli_error::CliError,
    exit_code::ExitCode,
};
use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// The recorder's main file; `python -I goldens.py CHECKPOINT [--seed N] [--noise-samples N] [--force]`.
const RECORDER: &str = "goldens.py";

/// The files of the recorder; Python imports the others from the directory of the main file.
const FILES: &[(&str, &str)] = &[
    (RECORDER, include_str!("record/goldens.py")),
    ("answer_arrays.py", include_str!("record/answer_arrays.py")),
    ("answer_generation.py", include_str!("record/answer_generation.py")),
    ("answer_media.py", include_str!("record/answer_media.py")),
    ("answer_subject.py", include_str!("record/answer_subject.py")),
    ("answer_tasks.py", include_str!("record/answer_tasks.py")),
    ("answer_text.py", include_str!("record/answer_text.py")),
    ("answers.py", include_str!("record/answers.py")),
    ("any_audio.py", include_str!("record/any_audio.py")),
    ("any_cases.py", include_str!("record/any_cases.py")),
    ("any_extra.py", include_str!("record/any_extra.py")),
    ("any_generation.py", include_str!("record/any_generation.py")),
    ("any_images.py", include_str!("record/any_images.py")),
    ("any_series.py", include_str!("record/any_series.py")),
    ("any_text.py", include_str!("record/any_text.py")),
    ("atomic_file.py", include_str!("record/atomic_file.py")),
    ("config_effects.py", include_str!("record/config_effects.py")),
    ("decoder_inputs.py", include_str!("record/decoder_inputs.py")),
    ("decoder_only.py", include_str!("record/decoder_only.py")),
    ("diffusion.py", include_str!("record/diffusion.py")),
    ("encoder_decoder.py", include_str!("record/encoder_decoder.py")),
    ("encoder_only.py", include_str!("record/encoder_only.py")),
    ("errors.py", include_str!("record/errors.py")),
    ("families.py", include_str!("record/families.py")),
    ("forward_arguments.py", include_str!("record/forward_arguments.py")),
    ("generation.py", include_str!("record/generation.py")),
    ("given_inputs.py", include_str!("record/given_inputs.py")),
    ("golden_file.py", include_str!("record/golden_file.py")),
    ("graph.py", include_str!("record/graph.py")),
    ("image_inputs.py", include_str!("record/image_inputs.py")),
    ("measured_sizes.py", include_str!("record/measured_sizes.py")),
    ("multimodal.py", include_str!("record/multimodal.py")),
    ("noise.py", include_str!("record/noise.py")),
    ("noise_samples.py", include_str!("record/noise_samples.py")),
    ("object_detection.py", include_str!("record/object_detection.py")),
    ("rag.py", include_str!("record/rag.py")),
    ("reference.py", include_str!("record/reference.py")),
    ("registry.json", include_str!("record/registry.json")),
    ("registry.py", include_str!("record/registry.py")),
    ("relative_errors.py", include_str!("record/relative_errors.py")),
    ("results.py", include_str!("record/results.py")),
    ("rounded_inputs.py", include_str!("record/rounded_inputs.py")),
    ("speech.py", include_str!("record/speech.py")),
    ("text_inputs.py", include_str!("record/text_inputs.py")),
    ("time_series.py", include_str!("record/time_series.py")),
    ("versions.py", include_str!("record/versions.py")),
    ("vision.py", include_str!("record/vision.py")),
    ("vision_text.py", include_str!("record/vision_text.py")),
    ("vocabulary.py", include_str!("record/vocabulary.py")),
    ("weight_files.py", include_str!("record/weight_files.py")),
];

/// The options of a recording.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// A directory as `save_pretrained` writes it; `golden.safetensors` is written into it.
    pub checkpoint: PathBuf,
    /// The Python to use; without it `TESTGEN_PYTHON`, then `python3`.
    pub python: Option<PathBuf>,
    /// Selects the inputs.
    pub seed: u64,
    /// The number of measurements of the reference's own error; the largest counts. Without it the recorder's default.
    pub noise_samples: Option<u32>,
    /// A file with the inputs, which are drawn without it.
    pub inputs: Option<PathBuf>,
    /// Replaces existing goldens.
    pub force: bool,
    /// Keeps the golden and records the answers only.
    pub answers: bool,
}

/// Nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The path is not a directory with a configuration.
    #[error("`{}` is not a checkpoint directory: it has no config.json", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
    /// The weights are a pickle or quantized, or a name or a link leads out of the directory.
    #[error(transparent)]
    Files(#[from] CheckpointFilesError),
    /// Python cannot be started.
    #[error("cannot start `{}`: {source}", program.display())]
    PythonMissing {
        /// The program that was tried.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The recorder's files cannot be written.
    #[error("cannot write the recorder: {source}")]
    Write {
        /// The system's error.
        source: io::Error,
    },
    /// The recorder reported, on stderr, an error that the user can fix.
    #[error("nothing was recorded")]
    Refused {
        /// The exit code of this command.
        code: ExitCode,
    },
    /// The recorder ended with an unexpected status, which is a bug.
    #[error("the recorder ended with {status}; nothing was recorded")]
    Crashed {
        /// The recorder's status.
        status: ExitStatus,
    },
    /// Waiting for it failed, or was interrupted.
    #[error(transparent)]
    Child(#[from] ChildError),
}

impl CliError for RecordError {
    fn help(&self) -> Option<String> {
        let packages = "pip install torch transformers safetensors numpy";
        match self {
            Self::Files(error) => error.help(),
            Self::NoCheckpoint { .. } => Some("give a directory as `save_pretrained` writes it".to_owned()),
            Self::PythonMissing { .. } => {
                Some(format!("install Python 3 and run `{packages}`, or name one with --python or TESTGEN_PYTHON"))
            }
            Self::Refused { code: ExitCode::EnvironmentMissing } => {
                // The recorder has printed the packages, which depend on the model type.
                Some("install that for the Python in use, or name another with --python or TESTGEN_PYTHON".to_owned())
            }
            Self::Write { .. } | Self::Refused { .. } | Self::Crashed { .. } | Self::Child(_) => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoCheckpoint { .. } | Self::Files(_) => ExitCode::BadInput,
            Self::PythonMissing { .. } => ExitCode::EnvironmentMissing,
            Self::Refused { code } => *code,
            Self::Write { .. } | Self::Crashed { .. } => ExitCode::Internal,
            Self::Child(error) => error.exit_code(),
        }
    }
}

/// Records goldens and answers, and returns the path of the file that was requested. The recorder's messages go to stderr
/// unchanged.
///
/// # Errors
///
/// When the directory is not a checkpoint, Python or a package is missing, or the model cannot be recorded.
pub fn record(options: &RecordOptions) -> Result<PathBuf, RecordError> {
    if options.checkpoint.join("config.json").symlink_metadata().is_err() {
        return Err(RecordError::NoCheckpoint { path: options.checkpoint.clone() });
    }
    checkpoint_files::check(&options.checkpoint)?;
    child_process::watch_interrupts();
    let write = |source| RecordError::Write { source };
    let directory = tempfile::tempdir().map_err(write)?;
    for (name, text) in FILES {
        fs::write(directory.path().join(name), text).map_err(write)?;
    }
    let script = directory.path().join(RECORDER);
    let program = python(options.python.as_deref());
    let mut command = command(&program, &script, options);
    child_process::end_with_this_process(&mut command);
    let mut recorder = command.spawn().map_err(|source| RecordError::PythonMissing { program, source })?;
    let status = child_process::wait(&mut recorder, || {})?;
    let file = if options.answers { "answers.json" } else { "golden.safetensors" };
    outcome(status).map(|()| options.checkpoint.join(file))
}

fn python(given: Option<&Path>) -> PathBuf {
    let from_environment = || env::var_os("TESTGEN_PYTHON").filter(|program| !program.is_empty());
    let program = given.map(|path| path.as_os_str().to_owned()).or_else(from_environment);
    PathBuf::from(program.unwrap_or_else(|| OsString::from("python3")))
}

fn command(program: &Path, script: &Path, options: &RecordOptions) -> Command {
    let mut command = Command::new(program);
    environment::scrub(&mut command);
    // Isolated: neither variables nor the working directory nor packages of the user's home decide what is imported.
    command.arg("-I");
    // A path that starts with `-` must not be parsed as a flag.
    command.arg(script).arg(format!("--seed={}", options.seed));
    command.args(options.noise_samples.map(|number| format!("--noise-samples={number}")));
    command.args(options.inputs.as_deref().map(|inputs| {
        let mut flag = OsString::from("--inputs=");
        flag.push(inputs);
        flag
    }));
    command.args(options.force.then_some("--force")).args(options.answers.then_some("--answers"));
    command.arg("--").arg(&options.checkpoint);
    // The recorder prints the path to stdout, and the caller prints it, too.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// The recorder's exit codes: 0 recorded, 1 cannot be recorded, 3 a package is missing; argparse has 2.
fn outcome(status: ExitStatus) -> Result<(), RecordError> {
    match status.code() {
        Some(0) => Ok(()),
        Some(1 | 2) => Err(RecordError::Refused { code: ExitCode::BadInput }),
        Some(3) => Err(RecordError::Refused { code: ExitCode::EnvironmentMissing }),
        Some(_) | None => Err(RecordError::Crashed { status }),
    }
}
