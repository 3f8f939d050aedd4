//! The program of an engine: which one, with which arguments and environment.

use crate::{engine_name::EngineName, python::built_in};
use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    num::NonZero,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};
use tempfile::TempDir;
use testgen_python::EmbeddedProgram;

/// The variable that names the Python of the engines `torch` and `onnxruntime`; without it
/// `python3`.
pub const PYTHON_VARIABLE: &str = "TESTGEN_PYTHON";

/// `TESTGEN_ENGINE_<NAME>` names the program of the engine `<name>`.
pub const PROGRAM_PREFIX: &str = "TESTGEN_ENGINE_";

/// The variable with the folder of the graphs that `testgen export` writes, which the engine
/// `onnxruntime` reads.
pub const GRAPHS_VARIABLE: &str = "TESTGEN_ONNX";

/// The engines that are libraries of a vendor: processes of the suite itself, which loads the
/// library and calls it.
pub const LIBRARIES: [&str; 6] = [
    "cublas",
    "cublaslt",
    "rocblas",
    "hipblaslt",
    "cudnn",
    "miopen",
];

/// The variable with the name of the library, in the environment of such a process.
pub const LIBRARY_VARIABLE: &str = "TESTGEN_LIBRARY";

/// How to start an engine. Files that belong to it are deleted when this is dropped.
#[derive(Debug)]
pub struct EngineCommand {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Whether the environment is reduced to a few variables.
    pub(crate) isolated: bool,
    /// The library that the process loads.
    library: Option<String>,
    #[expect(dead_code, reason = "deletes the files when it is dropped")]
    files: Option<TempDir>,
}

/// An engine has no program.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// No known engine has this name.
    #[error(
        "engine `{name}` is unknown: `torch`, `onnxruntime`, `cublas`, `cublaslt`, `rocblas`, `hipblaslt`, `cudnn` and `miopen` are built in, and {variable} is not set to a program that speaks the protocol of docs/engines.md"
    )]
    Unknown {
        /// The name.
        name: String,
        /// The variable that would name its program.
        variable: String,
    },
    /// The program that this process runs is not known, so that it cannot be started again for a
    /// library.
    #[error("cannot start this program again as an engine: {0}")]
    Restart(io::Error),
    /// The files of a built-in engine cannot be written.
    #[error("cannot write the files of the engine: {0}")]
    Write(#[from] io::Error),
}

impl EngineCommand {
    /// The command of a named engine: its variable, else the built-in one.
    ///
    /// # Errors
    ///
    /// When the name is unknown, or temporary files cannot be written.
    pub fn for_engine(name: &EngineName) -> Result<Self, CommandError> {
        Self::with_python(name, None)
    }

    /// Like [`Self::for_engine`]; `python` takes precedence over the variable with the Python of
    /// built-in engines.
    ///
    /// # Errors
    ///
    /// See [`Self::for_engine`].
    pub fn with_python(name: &EngineName, python: Option<&OsStr>) -> Result<Self, CommandError> {
        // Of the program without its options: all columns of an engine share one program.
        let variable = variable_of(name);
        match (program_of(&variable), built_in(name.program())) {
            // First, so that a user can replace a built-in engine.
            (Some(program), _) => Ok(Self::program(program)),
            (None, Some(embedded)) => Self::embedded(embedded, python),
            (None, None) if LIBRARIES.contains(&name.program()) => Self::library(name.program()),
            (None, None) => Err(CommandError::Unknown {
                name: name.program().to_owned(),
                variable,
            }),
        }
    }

    /// Whether the named engine is the one that is built in, and no program of the user's.
    pub fn is_built_in(name: &EngineName) -> bool {
        built_in(name.program()).is_some() && program_of(&variable_of(name)).is_none()
    }

    /// An engine of the user's, with the user's environment.
    pub fn program(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            isolated: false,
            library: None,
            files: None,
        }
    }

    /// The engine of a vendor's library: the suite, started again.
    fn library(name: &str) -> Result<Self, CommandError> {
        let suite = env::current_exe().map_err(CommandError::Restart)?;
        Ok(Self {
            library: Some(name.to_owned()),
            ..Self::program(suite)
        })
    }

    /// The same command with arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = OsString>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    fn embedded(embedded: EmbeddedProgram, python: Option<&OsStr>) -> Result<Self, CommandError> {
        let files = tempfile::Builder::new()
            .prefix("testgen-engine-")
            .tempdir()?;
        // Written for each process, because another version of testgen may run at the same time.
        embedded.write(files.path())?;
        let isolated = [OsString::from(ISOLATED)].into_iter();
        Ok(Self {
            program: python_program(python),
            arguments: isolated.chain(embedded.arguments(files.path())).collect(),
            isolated: true,
            library: None,
            files: Some(files),
        })
    }

    /// The command with its environment.
    pub(crate) fn build(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if self.isolated {
            reduce_environment(&mut command);
        }
        command.envs(
            self.library
                .iter()
                .map(|library| (LIBRARY_VARIABLE, library)),
        );
        // After the environment was reduced, which removes every variable.
        command.envs(share_of_processors());
        command
    }
}

/// The variable that names the program of an engine.
fn variable_of(name: &EngineName) -> String {
    format!("{PROGRAM_PREFIX}{}", name.program().to_ascii_uppercase())
}

/// The program that a variable names.
fn program_of(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|program| !program.is_empty())
}

/// The Python of built-in engines: the given one, else [`PYTHON_VARIABLE`], else `python3`.
pub fn python_program(given: Option<&OsStr>) -> OsString {
    given
        .map(OsStr::to_owned)
        .or_else(|| env::var_os(PYTHON_VARIABLE).filter(|program| !program.is_empty()))
        .unwrap_or_else(|| "python3".into())
}

/// The Python `program`, isolated and with the environment that built-in engines have, so that both
/// import the same packages and see the same devices.
pub fn isolated_python(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.arg(ISOLATED);
    reduce_environment(&mut command);
    command
}

/// Python's flag.
// Neither variables nor the working directory nor packages of the user's home decide what is
// imported.
const ISOLATED: &str = "-I";

/// The threads of a process that computes with OpenMP, as PyTorch and NumPy do.
const THREADS_VARIABLE: &str = "OMP_NUM_THREADS";

/// The threads of each process; 0: the libraries decide.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Divides the processors among `processes` that compute at the same time, for all that are started
/// from now on. PyTorch starts a thread for each processor otherwise, also beside fifteen processes
/// that do the same. `OMP_NUM_THREADS` of the user takes precedence.
pub fn share_processors(processes: usize) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    THREADS.store(threads_of_each(processors, processes), Relaxed);
}

/// The threads that the processes of this suite may start, unless the user decides.
fn share_of_processors() -> Option<(&'static str, String)> {
    let threads = Some(THREADS.load(Relaxed))
        .filter(|threads| *threads > 0 && env::var_os(THREADS_VARIABLE).is_none());
    threads.map(|threads| (THREADS_VARIABLE, threads.to_string()))
}

fn threads_of_each(processors: usize, processes: usize) -> usize {
    // At least 1, because 0 leaves the number to the libraries.
    (processors / processes.max(1)).max(1)
}

fn reduce_environment(command: &mut Command) {
    command.env_clear();
    command.envs(
        KEPT.iter()
            .filter_map(|(name, _)| Some((name, env::var_os(name)?))),
    );
    // By prefix and not by name, because drivers and libraries add variables with every version.
    command.envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_devices)));
    // Last, so that no variable of the user replaces one of these.
    command.envs(SET);
}

fn is_of_devices(variable: &str) -> bool {
    DEVICE_PREFIXES
        .iter()
        .any(|prefix| variable.starts_with(prefix))
}

/// The variables that are passed to built-in engines, each with its use.
const KEPT: [(&str, &str); 9] = [
    ("PATH", "finds `python3`; `compile` starts a C++ compiler"),
    ("HOME", "transformers and triton create their caches there"),
    ("TMPDIR", "temporary files"),
    ("LANG", "the encoding of file names"),
    ("LC_ALL", "the encoding of file names"),
    (
        "LD_LIBRARY_PATH",
        "libraries of Python, torch and drivers that are not in the standard directories",
    ),
    ("GPU_DEVICE_ORDINAL", "visible AMD GPUs"),
    ("ROCR_VISIBLE_DEVICES", "visible AMD GPUs"),
    (GRAPHS_VARIABLE, "the graphs that `testgen export` writes"),
];

/// Variables of drivers and of the libraries that compute.
// The engine must see the devices that testgen sees, and results depend on them, so that a user
// must be able to set them.
const DEVICE_PREFIXES: [&str; 20] = [
    "CUBLASLT_",
    "CUBLAS_",
    "CUDA_",
    "FLASH_ATTENTION_",
    "HIPBLASLT_",
    "HIP_",
    "HSA_",
    "MIGRAPHX_",
    "MIOPEN_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "ONEDNN_",
    "ORT_",
    "PYTORCH_",
    "RCCL_",
    "ROCBLAS_",
    "ROCM_",
    "TENSILE_",
    "TORCH_",
];

/// The variables that are set.
// The Hub is never asked, whatever the user's environment contains.
const SET: [(&str, &str); 3] = [
    ("HF_HUB_OFFLINE", "1"),
    ("HF_HUB_DISABLE_TELEMETRY", "1"),
    ("TOKENIZERS_PARALLELISM", "false"),
];

#[cfg(test)]
mod tests {
    use super::{
        EngineCommand, THREADS_VARIABLE, is_of_devices, share_processors, threads_of_each,
    };
    use std::env;

    #[test]
    fn processes_share_the_processors() {
        assert_eq!(
            [1, 5, 16, 40].map(|processes| threads_of_each(16, processes)),
            [16, 3, 1, 1]
        );
        assert_eq!(threads_of_each(2, 0), 2);
    }

    #[test]
    fn variables_that_choose_kernels_are_passed() {
        assert!(
            is_of_devices("CUBLAS_WORKSPACE_CONFIG") && is_of_devices("CUBLASLT_WORKSPACE_SIZE")
        );
        assert!(!is_of_devices("PYTHONPATH"));
    }

    #[test]
    fn every_engine_gets_its_share() {
        share_processors(usize::MAX);
        let command = EngineCommand::program("engine").build();
        let given = command
            .get_envs()
            .find(|(name, _)| *name == THREADS_VARIABLE)
            .and_then(|(_, value)| value);
        assert_eq!(given.is_some(), env::var_os(THREADS_VARIABLE).is_none());
        assert!(given.is_none_or(|threads| threads == "1"));
    }
}
