//! The engines of a run, as variables of the suite's process.

use crate::reference::export::graphs_folder;
use std::{
    ffi::OsString,
    path::{Path, PathBuf, absolute},
};
use testgen_engine::{EngineName, GRAPHS_VARIABLE, PYTHON_VARIABLE};

/// The variables for `engines`, none for the suite's default, for the Python of engines that need
/// one, and for exported graphs.
pub fn engine_variables(
    engines: &[EngineName],
    python: Option<&Path>,
) -> Vec<(&'static str, OsString)> {
    let names: Vec<String> = engines.iter().map(EngineName::to_string).collect();
    let names = (!names.is_empty()).then(|| ("TESTGEN_ENGINES", names.join(",").into()));
    let graphs = (GRAPHS_VARIABLE, graphs_folder().into_os_string());
    names
        .into_iter()
        .chain([graphs])
        .chain(python.map(|path| (PYTHON_VARIABLE, from_here(path).into())))
        .collect()
}

/// The suite runs in another directory; a name without a slash is searched in PATH.
fn from_here(path: &Path) -> PathBuf {
    match path.components().count() {
        // One part is the name of a program, which is found in PATH.
        0 | 1 => path.to_owned(),
        _ => absolute(path).unwrap_or_else(|_| PathBuf::from(path)),
    }
}
