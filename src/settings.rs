//! The directories of specs, suite, templates and runtime: from `testgen.toml`, overridden by
//! flags.

mod generate_command;

pub(crate) use generate_command::generate_command;

use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use std::path::{Path, PathBuf};
use testgen_base::{
    cli_error::{CliError, Error},
    text::limited,
};
use testgen_engine::EngineName;
use testgen_types::bounded_file::{FileError, limit, read_text};

/// The name of the settings file; the nearest one in or above the working directory counts.
pub const FILE_NAME: &str = "testgen.toml";

/// The directories and the runtime. Paths are relative to the working directory, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The directory of specs.
    pub specs: PathBuf,
    /// The directory of the suite.
    pub out: PathBuf,
    /// Templates that replace the ones in the binary.
    pub templates: Option<PathBuf>,
    /// The runtime that the suite depends on; without it, the runtime of the source tree.
    pub runtime: Option<Runtime>,
    /// The engines that compute; empty for the native one alone.
    pub engines: Vec<EngineName>,
}

/// The runtime that a suite depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime {
    /// A directory with the crate `testgen-runtime`.
    Path(PathBuf),
    /// A version requirement for a registry.
    Version(String),
}

/// The values of flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// See [`Settings::specs`].
    pub specs: Option<PathBuf>,
    /// See [`Settings::out`].
    pub out: Option<PathBuf>,
    /// See [`Settings::templates`].
    pub templates: Option<PathBuf>,
    /// A directory or a version.
    pub runtime: Option<String>,
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// `testgen.toml` cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// `testgen.toml` has an invalid key or value.
    #[error("`{}` is wrong\n{reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The error, with line and column.
        reason: String,
    },
    /// A runtime that is neither a directory nor a version.
    #[error("the runtime `{given}` is neither a directory with `testgen-runtime` nor a version")]
    BadRuntime {
        /// The given value.
        given: String,
    },
}

impl CliError for SettingsError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Unreadable(_) => None,
            Self::Wrong { .. } => Some("its keys are `specs`, `out`, `templates`, `runtime`, `engines`, `xfail` and `ci`; docs/ci.md describes the last two".to_owned()),
            Self::BadRuntime { .. } => Some("write `--runtime some/testgen/runtime` or `--runtime 0.1`".to_owned()),
        }
    }
}

impl Settings {
    /// Flags first, then the nearest `testgen.toml`, then the layout of this repository.
    pub fn resolve(flags: &Overrides) -> Result<Self, Error> {
        let file = SettingsFile::nearest()?.unwrap_or_default();
        // A flag is relative to the working directory, the file's value to the file.
        let runtime = match (&flags.runtime, &file.runtime) {
            (Some(given), _) => Some(runtime(given, Path::new(""))?),
            (None, Some(given)) => Some(runtime(given, &file.directory)?),
            (None, None) => None,
        };
        let from_file = |path: Option<PathBuf>| path.map(|path| file.directory.join(path));
        Ok(Self {
            specs: flags
                .specs
                .clone()
                .or(from_file(file.specs.clone()))
                .unwrap_or_else(|| "model_specs".into()),
            out: flags
                .out
                .clone()
                .or(from_file(file.out.clone()))
                .unwrap_or_else(|| "generated".into()),
            templates: flags
                .templates
                .clone()
                .or(from_file(file.templates.clone())),
            runtime,
            engines: file.engines.iter().map(|name| name.0.clone()).collect(),
        })
    }
}

impl Settings {
    /// The command that generates with these settings, from the working directory.
    pub fn command(&self) -> String {
        let runtime = self.runtime.as_ref().map(|runtime| match runtime {
            Runtime::Path(path) => path_text(path),
            Runtime::Version(version) => version.clone(),
        });
        let templates = self.templates.as_deref().map(path_text);
        generate_command(
            &path_text(&self.specs),
            &path_text(&self.out),
            templates.as_deref(),
            runtime.as_deref(),
        )
    }
}

/// A `testgen.toml`; its paths are relative to its directory.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsFile {
    /// The directory of the file.
    #[serde(skip)]
    pub directory: PathBuf,
    /// The path of the file, and its text.
    #[serde(skip)]
    source: (PathBuf, String),
    specs: Option<PathBuf>,
    out: Option<PathBuf>,
    templates: Option<PathBuf>,
    runtime: Option<String>,
    /// The engines that `run` computes with.
    engines: Vec<EngineSetting>,
    /// Checks that are known to fail, until a date; read with [`Self::section`], as `ci`.
    // Declared although it is ignored here, because unknown keys are errors.
    xfail: IgnoredAny,
    /// The machines that run the suite, for `testgen matrix`.
    ci: IgnoredAny,
}

/// The name of an engine.
#[derive(Debug, Clone)]
struct EngineSetting(EngineName);

impl<'de> Deserialize<'de> for EngineSetting {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl SettingsFile {
    /// The nearest file in or above the working directory.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or has an invalid key or value.
    pub fn nearest() -> Result<Option<Self>, SettingsError> {
        std::env::current_dir()
            .ok()
            .and_then(|directory| find(&directory))
            .map(|path| read(&path))
            .transpose()
    }

    /// The keys of the file that `Section` has, which belong to another room.
    ///
    /// # Errors
    ///
    /// When a value of them is invalid.
    pub fn section<Section: DeserializeOwned>(&self) -> Result<Section, SettingsError> {
        let (path, text) = &self.source;
        from_toml(text, path)
    }
}

fn find(directory: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .map(|directory| directory.join(FILE_NAME))
        // A dangling link is an error when it is read, and not a reason to search further up.
        .find(|path| path.symlink_metadata().is_ok())
}

fn read(path: &Path) -> Result<SettingsFile, SettingsError> {
    parse(&read_text(path, limit::SOURCE)?, path)
}

/// The settings in `text`, the content of `path`.
pub(crate) fn parse(text: &str, path: &Path) -> Result<SettingsFile, SettingsError> {
    let file: SettingsFile = from_toml(text, path)?;
    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(SettingsFile {
        directory,
        source: (path.to_owned(), text.to_owned()),
        ..file
    })
}

fn from_toml<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, SettingsError> {
    toml::from_str(text).map_err(|error| SettingsError::Wrong {
        path: path.to_owned(),
        reason: limited(&error.to_string()),
    })
}

/// A directory if it exists, else a version if it has the form of one.
fn runtime(given: &str, directory: &Path) -> Result<Runtime, SettingsError> {
    let path = directory.join(given);
    // A directory first: a name like `0.1` can be one.
    if path.join("Cargo.toml").is_file() {
        return Ok(Runtime::Path(path));
    }
    // Comparison operators of cargo's version requirements.
    let version = given.trim_start_matches(['^', '~', '=', '>', '<', ' ']);
    let plausible = version.starts_with(|c: char| c.is_ascii_digit())
        && given
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "^~=<>.,+-* ".contains(c));
    match plausible {
        true => Ok(Runtime::Version(given.to_owned())),
        false => Err(SettingsError::BadRuntime {
            given: given.to_owned(),
        }),
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
