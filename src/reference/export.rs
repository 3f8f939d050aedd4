//! Exporting checkpoints as ONNX graphs, for the engine `onnxruntime`.
//!
//! Owns: the folder of exported graphs, and running the exporter with Python. Does not own: the
//! exporter itself, which is part of `testgen-python` and reports missing packages and other
//! errors.

use crate::reference::python_program::{PythonError, PythonProgram};
use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf, absolute},
    process::Stdio,
};
use testgen_base::child_process;
use testgen_engine::{GRAPHS_VARIABLE, isolated_python, python_program};
use testgen_python::EXPORTER;

/// The folder of exported graphs, unless the variable names another one.
const GRAPHS: &str = "target/testgen/onnx";

/// The options of an export.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// Directories as `save_pretrained` writes them.
    pub checkpoints: Vec<PathBuf>,
    /// The Python to use; without it `TESTGEN_PYTHON`, then `python3`.
    pub python: Option<PathBuf>,
    /// Writes `onnx/model.onnx` of the checkpoint in place of a file in the folder of exported
    /// graphs.
    pub into_checkpoint: bool,
    /// Replaces graphs that exist.
    pub force: bool,
}

/// The absolute path of the folder of exported graphs, which has
/// `<digest of the checkpoint>/<class>/model.onnx`.
pub fn graphs_folder() -> PathBuf {
    let named = env::var_os(GRAPHS_VARIABLE).filter(|folder| !folder.is_empty());
    let folder = named.map_or_else(|| PathBuf::from(GRAPHS), PathBuf::from);
    // The suite receives it, too, and runs in another directory.
    absolute(&folder).unwrap_or(folder)
}

/// Exports the checkpoints. The exporter prints the paths of the graphs to stdout and errors to
/// stderr.
///
/// # Errors
///
/// When a directory is not a checkpoint, Python or a package is missing, or a model cannot be
/// exported. The other checkpoints are exported nevertheless.
pub fn export(options: &ExportOptions) -> Result<(), PythonError> {
    // Python must not read files that cannot be trusted, so all are checked before it starts.
    for checkpoint in &options.checkpoints {
        PythonProgram::check(checkpoint)?;
    }
    child_process::watch_interrupts();
    let directory = PythonProgram::Exporter.unpack(&EXPORTER)?;
    let program = python_program(options.python.as_deref().map(Path::as_os_str));
    let mut command = isolated_python(&program);
    command
        .args(EXPORTER.arguments(directory.path()))
        .args(arguments(options))
        .stdin(Stdio::null());
    let mut exporter = PythonProgram::Exporter.start(command)?;
    PythonProgram::Exporter.outcome(child_process::wait(&mut exporter, || {})?)
}

fn arguments(options: &ExportOptions) -> Vec<OsString> {
    let flags = [
        (options.into_checkpoint, "--into-checkpoint"),
        (options.force, "--force"),
    ];
    let flags = flags
        .into_iter()
        .filter(|(set, _)| *set)
        .map(|(_, flag)| OsString::from(flag));
    // A path that starts with `-` must not be parsed as a flag.
    let paths = [graphs_folder()]
        .into_iter()
        .chain(options.checkpoints.iter().cloned());
    flags
        .chain([OsString::from("--")])
        .chain(paths.map(PathBuf::into_os_string))
        .collect()
}
