//! The directories of one call, and the command that headers name.

use super::{
    GenerateError,
    location::{absolute, common_ancestor, join, relative},
    runtime,
};
use crate::{
    settings::{Runtime, Settings, generate_command},
    spec::{CheckpointPlace, CheckpointSource, LoadedSpec, SyntheticSource},
};
use std::path::{Path, PathBuf};

/// The directories of one call, absolute.
#[derive(Debug, Clone)]
pub struct SuiteLayout {
    pub(super) specs: PathBuf,
    pub(super) out: PathBuf,
    base: PathBuf,
    templates: Option<PathBuf>,
    runtime: Option<Runtime>,
}

impl SuiteLayout {
    /// Resolves the settings.
    pub fn new(settings: &Settings) -> Result<Self, GenerateError> {
        let specs = absolute(&settings.specs)?;
        let out = absolute(&settings.out)?;
        // Files that are left over are deleted in the suite, and the specs must not be among them.
        if out.parent().is_none() || specs.starts_with(&out) {
            let reason = "the suite would contain the specs".to_owned();
            return Err(GenerateError::BadDirectory {
                path: settings.out.clone(),
                reason,
            });
        }
        if out.exists() && !out.is_dir() {
            let reason = "it is not a directory".to_owned();
            return Err(GenerateError::BadDirectory {
                path: settings.out.clone(),
                reason,
            });
        }
        let runtime = match &settings.runtime {
            Some(Runtime::Path(path)) => Some(Runtime::Path(absolute(path)?)),
            other => other.clone(),
        };
        let templates = settings.templates.as_deref().map(absolute).transpose()?;
        // Headers show paths relative to it, so that every checkout generates the same files.
        let base = common_ancestor(&specs, &out);
        Ok(Self {
            specs,
            out,
            base,
            templates,
            runtime,
        })
    }

    /// The directory of the suite, absolute.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The path of a spec's harness, absolute.
    pub fn harness(&self, loaded: &LoadedSpec) -> PathBuf {
        self.out.join(harness_path(loaded))
    }

    /// A path as headers show it: relative to the nearest directory that contains specs and suite.
    pub(super) fn shown(&self, path: &Path) -> String {
        relative(&self.base, path)
    }

    /// A spec's path as headers show it, safe inside a comment.
    pub(super) fn shown_spec(&self, path: &Path) -> Result<String, GenerateError> {
        let shown = self.shown(&absolute(path)?);
        Ok(shown
            .chars()
            .flat_map(|c| {
                // A line break would end the comment, and a backtick the code in it.
                if c.is_control() || c == '`' {
                    c.escape_unicode().collect()
                } else {
                    vec![c]
                }
            })
            .collect())
    }

    /// The command that writes the whole suite, to be run in the nearest directory that contains
    /// specs and suite.
    pub fn command(&self) -> String {
        let templates = self.templates.as_deref().map(|path| self.shown(path));
        let runtime = match &self.runtime {
            None => None,
            Some(Runtime::Path(path)) => Some(self.shown(path)),
            Some(Runtime::Version(version)) => Some(version.clone()),
        };
        generate_command(
            &self.shown(&self.specs),
            &self.shown(&self.out),
            templates.as_deref(),
            runtime.as_deref(),
        )
    }

    /// The runtime that the suite depends on.
    pub fn runtime(&self) -> Result<Runtime, GenerateError> {
        runtime::find(self.runtime.as_ref(), &self.out)
    }

    /// The checkpoint of a spec, absolute. Links below the directory of the specs are resolved only
    /// when tests run.
    pub fn checkpoint_directory(
        &self,
        spec_file: &Path,
        source: &CheckpointSource,
    ) -> Result<PathBuf, GenerateError> {
        match &source.place {
            CheckpointPlace::Fixture(fixture) => {
                Ok(join(&self.specs, &Path::new("../fixtures").join(fixture)))
            }
            CheckpointPlace::Path(path) => {
                let directory = absolute(spec_file.parent().unwrap_or(Path::new("")))?;
                Ok(join(&directory, Path::new(path)))
            }
            CheckpointPlace::Synthetic(_) => absolute(&SyntheticSource::directory(spec_file)),
        }
    }

    /// The checkpoint relative to the suite's manifest; an absolute path stays as the user wrote
    /// it.
    pub fn checkpoint(
        &self,
        spec_file: &Path,
        source: &CheckpointSource,
    ) -> Result<String, GenerateError> {
        match &source.place {
            CheckpointPlace::Path(path) if Path::new(path).is_absolute() => Ok(path.clone()),
            _ => Ok(relative(
                &self.out,
                &self.checkpoint_directory(spec_file, source)?,
            )),
        }
    }
}

/// The path of a spec's harness in the suite.
pub(super) fn harness_path(loaded: &LoadedSpec) -> String {
    format!(
        "src/{}/{}.rs",
        loaded.spec.architecture,
        loaded.spec.name.module()
    )
}

/// The relative path from a directory to another path; neither needs to exist.
pub fn relative_path(from: &Path, to: &Path) -> Result<String, GenerateError> {
    Ok(relative(&absolute(from)?, &absolute(to)?))
}
