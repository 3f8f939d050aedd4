//! A checkpoint on the command line: its directory, or the name of a spec.

use crate::{
    base::{
        cli_error::{CliError, Error},
        text::Quoted,
    },
    suite::{
        settings::{Overrides, Settings},
        spec::{CheckpointSource, LoadedSpec, SpecSubject, load_all},
    },
};
use std::path::{Path, PathBuf};

/// Spec names listed in the error about an unknown name.
const NAMES_LISTED: usize = 20;

/// The given directory, or the checkpoint of the spec with this name below `specs`, by default
/// those of the project.
pub(super) fn checkpoint(target: &Path, specs: Option<&Path>) -> Result<PathBuf, Error> {
    if target.is_dir() {
        return Ok(target.to_owned());
    }
    let overrides = Overrides {
        specs: specs.map(Path::to_owned),
        ..Overrides::default()
    };
    let directory = Settings::resolve(&overrides)?.specs;
    let specs = load_all(&directory)?;
    let mut checkpoints = specs
        .iter()
        .filter_map(|loaded| match &loaded.spec.subject {
            SpecSubject::Model { checkpoint, .. } => Some((loaded, checkpoint)),
            SpecSubject::Operators { .. } => None,
        });
    let all = checkpoints.clone();
    let target = target.to_string_lossy();
    let Some((found, checkpoint)) =
        checkpoints.find(|(loaded, _)| loaded.spec.name.as_str() == target)
    else {
        let mut known: Vec<String> = all
            .map(|(loaded, _)| loaded.spec.name.to_string())
            .collect();
        known.sort_by(|a, b| {
            likeness(b, &target)
                .total_cmp(&likeness(a, &target))
                .then(a.cmp(b))
        });
        return Err(UnknownCheckpoint {
            name: Quoted(&target).to_string(),
            known,
        }
        .into());
    };
    Ok(directory_of(&directory, found, checkpoint))
}

/// `<specs>/../fixtures/<name>`, or the spec's path, relative to its file.
fn directory_of(specs: &Path, loaded: &LoadedSpec, checkpoint: &CheckpointSource) -> PathBuf {
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

/// No spec has the name.
#[derive(Debug, thiserror::Error)]
#[error("there is no directory and no spec {name}")]
struct UnknownCheckpoint {
    name: String,
    known: Vec<String>,
}

impl CliError for UnknownCheckpoint {
    fn help(&self) -> Option<String> {
        let listed: Vec<String> = self
            .known
            .iter()
            .take(NAMES_LISTED)
            .map(|name| format!("`{name}`"))
            .collect();
        let more = self.known.len().saturating_sub(NAMES_LISTED);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more; see `testgen show specs`")
        };
        Some(format!("the specs are {}{more}", listed.join(", ")))
    }
}
