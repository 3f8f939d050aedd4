//! A checkpoint on the command line: its directory, or the name of a spec.

use crate::{
    reference::record::SyntheticWeights,
    settings::{Overrides, Settings},
    spec::{
        CheckpointPlace, CheckpointSource, LoadedSpec, SyntheticProblem, SyntheticSource, load_all,
    },
};
use std::path::{Path, PathBuf};
use testgen_base::{
    cli_error::{CliError, Error},
    text::Quoted,
};

/// Spec names listed in the error about an unknown name.
const NAMES_LISTED: usize = 20;

/// A checkpoint that the command line names.
pub(super) struct NamedCheckpoint {
    /// Its directory; the directory of a synthetic one has no weights.
    pub(super) directory: PathBuf,
    /// The configuration of a synthetic one, and how its weights are made.
    pub(super) synthetic: Option<SyntheticWeights>,
}

/// The complete checkpoint: the given directory, or the checkpoint of the spec with this name below
/// `specs`, by default the specs of the project. A synthetic one is made.
pub(super) fn checkpoint(target: &Path, specs: Option<&Path>) -> Result<PathBuf, Error> {
    let directory = named(target, specs)?.directory;
    Ok(testgen_checkpoints::checkpoint(&directory).map_err(SyntheticProblem::Recipe)?)
}

/// As [`checkpoint`], without making a synthetic one.
pub(super) fn named(target: &Path, specs: Option<&Path>) -> Result<NamedCheckpoint, Error> {
    // A directory needs neither a project nor valid specs.
    if target.is_dir() {
        return Ok(NamedCheckpoint {
            directory: target.to_owned(),
            synthetic: None,
        });
    }
    let overrides = Overrides {
        specs: specs.map(Path::to_owned),
        ..Overrides::default()
    };
    let directory = Settings::resolve(&overrides)?.specs;
    let specs = load_all(&directory)?;
    let mut checkpoints = specs
        .iter()
        .filter_map(|loaded| Some((loaded, &loaded.spec.subject.model()?.checkpoint)));
    // A copy for the error: `find` takes names out of the iterator.
    let all = checkpoints.clone();
    let target = target.to_string_lossy();
    let Some((found, checkpoint)) =
        checkpoints.find(|(loaded, _)| loaded.spec.name.as_str() == target)
    else {
        let mut known: Vec<String> = all
            .map(|(loaded, _)| loaded.spec.name.to_string())
            .collect();
        // The most similar names first, because the given one is most likely a misspelling.
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
    named_of(&directory, found, checkpoint)
}

/// `<specs>/../fixtures/<name>`, the spec's path, relative to its file, or the directory beside the
/// file.
fn named_of(
    specs: &Path,
    loaded: &LoadedSpec,
    checkpoint: &CheckpointSource,
) -> Result<NamedCheckpoint, Error> {
    let directory = match &checkpoint.place {
        CheckpointPlace::Fixture(fixture) => specs.join("../fixtures").join(fixture),
        CheckpointPlace::Path(path) => loaded.path.parent().unwrap_or(Path::new("")).join(path),
        CheckpointPlace::Synthetic(source) => {
            let config = source.config.text(&loaded.path);
            let synthetic = SyntheticWeights {
                config: config.map_err(SyntheticProblem::from)?,
                seed: source.seed,
                quantise: checkpoint.quantise,
            };
            return Ok(NamedCheckpoint {
                directory: SyntheticSource::directory(&loaded.path),
                synthetic: Some(synthetic),
            });
        }
    };
    Ok(NamedCheckpoint {
        directory,
        synthetic: None,
    })
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
