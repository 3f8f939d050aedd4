//! Where everything of one call lies, and the command that headers name.

use super::{
    GenerateError,
    location::{absolute, common_ancestor, relative},
};
use crate::{
    settings::{Runtime, Settings},
    shell::generate_command,
    spec::{Checkpoint, LoadedSpec},
};
use std::path::{Path, PathBuf};

/// The places of one call, absolute.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(super) specs: PathBuf,
    pub(super) out: PathBuf,
    pub(super) runtime: Runtime,
    base: PathBuf,
    templates: Option<PathBuf>,
    runtime_given: bool,
}

impl Layout {
    /// Resolves the settings.
    pub fn new(settings: &Settings) -> Result<Self, GenerateError> {
        let specs = absolute(&settings.specs)?;
        let out = absolute(&settings.out)?;
        if out.parent().is_none() || specs.starts_with(&out) {
            let reason = "the suite would be around the specs".to_owned();
            return Err(GenerateError::BadDirectory { path: settings.out.clone(), reason });
        }
        if out.exists() && !out.is_dir() {
            let reason = "it is no directory".to_owned();
            return Err(GenerateError::BadDirectory { path: settings.out.clone(), reason });
        }
        let runtime = match &settings.runtime {
            Some(Runtime::Version(version)) => Runtime::Version(version.clone()),
            Some(Runtime::Path(path)) => Runtime::Path(existing_runtime(absolute(path)?)?),
            None => Runtime::Path(default_runtime(&out)?),
        };
        let templates = settings.templates.as_deref().map(absolute).transpose()?;
        let base = common_ancestor(&specs, &out);
        Ok(Self { specs, out, runtime, base, templates, runtime_given: settings.runtime.is_some() })
    }

    /// The directory of the suite, absolute.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Where the harness of a spec is, absolute.
    pub fn harness(&self, loaded: &LoadedSpec) -> PathBuf {
        self.out.join(harness_path(loaded))
    }

    /// A path as headers show it: from the nearest directory around specs and suite.
    pub(super) fn shown(&self, path: &Path) -> String {
        relative(&self.base, path)
    }

    /// A spec's path as headers show it, safe inside a comment.
    pub(super) fn shown_spec(&self, path: &Path) -> Result<String, GenerateError> {
        let shown = self.shown(&absolute(path)?);
        Ok(shown
            .chars()
            .flat_map(|c| if c.is_control() || c == '`' { c.escape_unicode().collect() } else { vec![c] })
            .collect())
    }

    /// The command that writes the whole suite, to be run in the nearest directory around specs and suite.
    pub fn command(&self) -> String {
        let templates = self.templates.as_deref().map(|path| self.shown(path));
        let runtime = match &self.runtime {
            _ if !self.runtime_given => None,
            Runtime::Path(path) => Some(self.shown(path)),
            Runtime::Version(version) => Some(version.clone()),
        };
        generate_command(&self.shown(&self.specs), &self.shown(&self.out), templates.as_deref(), runtime.as_deref())
    }

    /// The checkpoint of a spec as the suite's manifest directory sees it; an absolute path stays what the user wrote.
    pub fn checkpoint(&self, spec_file: &Path, source: &Checkpoint) -> Result<String, GenerateError> {
        let target = match (&source.fixture, &source.path) {
            (Some(fixture), _) => self.specs.join("../fixtures").join(fixture),
            (None, Some(path)) if Path::new(path).is_absolute() => return Ok(path.clone()),
            (None, path) => {
                let directory = spec_file.parent().unwrap_or(Path::new(""));
                directory.join(path.as_deref().unwrap_or("."))
            }
        };
        Ok(relative(&self.out, &absolute(&target)?))
    }
}

/// Where the harness of a spec is in the suite.
pub(super) fn harness_path(loaded: &LoadedSpec) -> String {
    format!("src/{}/{}.rs", loaded.spec.architecture, loaded.spec.name.module())
}

/// The way from a directory to a path; neither need exist.
pub fn relative_path(from: &Path, to: &Path) -> Result<String, GenerateError> {
    Ok(relative(&absolute(from)?, &absolute(to)?))
}

/// The runtime of the source tree that the suite is in, else of the source tree that this binary was built from.
fn default_runtime(out: &Path) -> Result<PathBuf, GenerateError> {
    let beside = out.ancestors().skip(1).map(|directory| directory.join("runtime")).find(|path| is_runtime(path));
    beside.map_or_else(|| existing_runtime(absolute(&Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime"))?), Ok)
}

fn is_runtime(directory: &Path) -> bool {
    let manifest = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.replace(' ', "") == "name=\"testgen-runtime\"")
}

fn existing_runtime(path: PathBuf) -> Result<PathBuf, GenerateError> {
    if is_runtime(&path) { Ok(path) } else { Err(GenerateError::NoRuntime { path }) }
}
