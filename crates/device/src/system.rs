//! The inputs of detection: file system root, environment and library directories, so that tests
//! can run on fakes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::{limit, read_bytes};

/// A machine as detection sees it.
///
/// On a fake, every absolute path is below its root, also in variables (`ROCM_PATH=/opt/rocm` is
/// `<root>/opt/rocm`), and libraries are searched in the given directories only, never through the
/// host's loader.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
    variables: BTreeMap<String, String>,
    /// `None`: the loader of the host.
    library_dirs: Option<Vec<PathBuf>>,
}

impl System {
    /// This machine, with the current environment. Variables that are not UTF-8 are ignored.
    pub fn host() -> Self {
        Self {
            root: PathBuf::from("/"),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            library_dirs: None,
        }
    }

    /// A machine made of a directory tree, a set of variables and directories that replace the
    /// loader's search path.
    pub fn fake<Name: Into<String>, Value: Into<String>>(
        root: &Path,
        variables: impl IntoIterator<Item = (Name, Value)>,
        library_dirs: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        Self {
            root: root.to_path_buf(),
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            library_dirs: Some(library_dirs.into_iter().collect()),
        }
    }

    /// The value of an environment variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All variables, for child processes.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// The real location of an absolute path of this machine.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        match path.strip_prefix("/") {
            // A path below the root was translated before; on the host, every path is.
            Ok(relative) if !path.starts_with(&self.root) => self.root.join(relative),
            _ => path.to_path_buf(),
        }
    }

    /// The text of a file without surrounding whitespace; `None` when it cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = read_bytes(&self.path(path), limit::SYSTEM).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The names in a directory, sorted by a trailing number (so that `10` follows `9`), then by
    /// name; empty when it does not exist.
    pub fn list(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_by_key(|name| (trailing_number(name), name.clone()));
        names
    }

    /// The files that the loader tries for a bare library name.
    pub fn loader_candidates(&self, file_name: &str) -> Vec<PathBuf> {
        match &self.library_dirs {
            None => vec![PathBuf::from(file_name)],
            Some(directories) => directories
                .iter()
                .map(|directory| directory.join(file_name))
                .collect(),
        }
    }

    /// The first executable of this name on `PATH`.
    pub(crate) fn executable(&self, name: &str) -> Option<PathBuf> {
        let directories = std::env::split_paths(self.variable("PATH")?);
        directories
            .map(|directory| self.path(directory).join(name))
            .find(|candidate| is_executable(candidate))
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

fn trailing_number(name: &str) -> Option<u64> {
    let digits = name.trim_start_matches(|character: char| !character.is_ascii_digit());
    digits.parse().ok()
}
