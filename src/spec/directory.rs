//! Reads all specs below a directory: every problem of every file, and the rules between files.

use super::{
    CheckpointPlace, ModelSpec, SyntheticProblem,
    problem::{SpecErrors, SpecProblem},
    yaml::{self, LARGEST_FILE, SpecFile},
};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};
use testgen_base::text::Quoted;
use testgen_types::bounded_file::read_text;
use walkdir::{DirEntry, WalkDir};

/// A valid spec, with its file.
#[derive(Debug, Clone)]
pub struct LoadedSpec {
    /// The path of the file.
    pub path: PathBuf,
    /// The file's text.
    pub text: Arc<str>,
    /// The spec.
    pub spec: ModelSpec,
}

impl LoadedSpec {
    /// Reports a synthetic checkpoint that was recorded before the spec was changed.
    ///
    /// # Errors
    ///
    /// If the recorded configuration, seed or scheme differs from the spec, or cannot be read.
    pub fn check_recording(&self) -> Result<(), SyntheticProblem> {
        let Some(model) = self.spec.subject.model() else {
            return Ok(());
        };
        match &model.checkpoint.place {
            CheckpointPlace::Synthetic(source) => {
                source.check_recording(model.checkpoint.quantise, &self.path)
            }
            CheckpointPlace::Fixture(_) | CheckpointPlace::Path(_) => Ok(()),
        }
    }
}

/// Reads every `*.yaml` below `directory`, following symbolic links, ordered by architecture and
/// name.
pub fn load_all(directory: &Path) -> Result<Vec<LoadedSpec>, SpecErrors> {
    let mut problems = Vec::new();
    let mut loaded = Vec::new();
    let files = find(directory, &mut problems);
    for result in files.par_iter().map(|path| load(path)).collect::<Vec<_>>() {
        match result {
            Ok(spec) => loaded.push(spec),
            Err(found) => problems.extend(found),
        }
    }
    // Only among valid specs: the name of another one is not known.
    problems.extend(clashes(&loaded));
    if !problems.is_empty() {
        problems.sort_by_key(SpecProblem::order);
        return Err(SpecErrors { problems });
    }
    loaded.sort_by(|a, b| key(a).cmp(&key(b)));
    Ok(loaded)
}

fn key(loaded: &LoadedSpec) -> (&'static str, &str) {
    (loaded.spec.architecture.as_str(), loaded.spec.name.as_str())
}

/// The spec files in a fixed order; a file that several links lead to counts once.
fn find(directory: &Path, problems: &mut Vec<SpecProblem>) -> Vec<PathBuf> {
    let shown = directory.display().to_string();
    if !directory.is_dir() {
        let help = "name the directory of specs with `--specs DIR`, or write a first spec with `testgen add DIR`";
        problems.push(
            SpecProblem::of_file(&shown, "the directory of specs does not exist").with_help(help),
        );
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut identities = Identities::default();
    let mut found = Vec::new();
    for entry in WalkDir::new(directory)
        .follow_links(true)
        .sort_by_file_name()
    {
        match entry {
            Ok(entry) if is_yaml(&entry) => found.push((entry.depth(), entry.into_path())),
            Ok(entry) => problems.extend(wrong_extension(&entry)),
            // A link to a directory above it: the specs there are found without it.
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(directory);
                // Several links to one unreadable file are one problem.
                if seen.insert(identities.identity(path)) {
                    problems.push(unreadable(path, &io_reason(&error)));
                }
            }
        }
    }
    // The shortest path to a file is the one that users know.
    found.sort();
    found
        .into_iter()
        .map(|(_, path)| path)
        .filter(|path| seen.insert(identities.identity(path)))
        .collect()
}

fn is_yaml(entry: &DirEntry) -> bool {
    // The name of a directory can end in `.yaml`, too.
    !entry.file_type().is_dir() && entry.path().extension().is_some_and(|end| end == "yaml")
}

/// The problem of a file that looks like a spec and is not read as one.
fn wrong_extension(entry: &DirEntry) -> Option<SpecProblem> {
    let is_similar = entry.path().extension().is_some_and(|end| end == "yml");
    // Not skipped silently: the user believes that the model is tested.
    (is_similar && !entry.file_type().is_dir()).then(|| {
        let path = entry.path().display().to_string();
        SpecProblem::of_file(&path, "a spec's name ends in `.yaml`").with_help("rename the file")
    })
}

fn unreadable(path: &Path, reason: &str) -> SpecProblem {
    let path = path.display().to_string();
    SpecProblem::of_file(&path, format!("the file cannot be read: {reason}"))
}

/// The files that paths lead to, with the directories that were resolved for earlier paths.
#[derive(Default)]
struct Identities {
    directories: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Identities {
    /// The file that a link points to; for a dangling link, the link itself.
    fn identity(&mut self, path: &Path) -> PathBuf {
        // Resolving a path reads a link for each of its parts, so it is done once for each
        // directory.
        let target = if path.is_symlink() {
            path.canonicalize().ok()
        } else {
            None
        };
        target
            .or_else(|| self.in_directory(path))
            .unwrap_or_else(|| path.to_owned())
    }

    fn in_directory(&mut self, path: &Path) -> Option<PathBuf> {
        let directory = path.parent()?;
        if !self.directories.contains_key(directory) {
            self.directories
                .insert(directory.to_owned(), directory.canonicalize().ok());
        }
        Some(
            self.directories
                .get(directory)?
                .as_ref()?
                .join(path.file_name()?),
        )
    }
}

fn io_reason(error: &walkdir::Error) -> String {
    error
        .io_error()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

fn load(path: &Path) -> Result<LoadedSpec, Vec<SpecProblem>> {
    let shown = path.display().to_string();
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text: Arc<str> = read_text(path, LARGEST_FILE)
        .map_err(|error| vec![unreadable(path, &error.problem.to_string())])?
        .into();
    let file = SpecFile {
        path: shown,
        stem,
        text: Arc::clone(&text),
    };
    yaml::read(&file).map(|spec| LoadedSpec {
        path: path.to_owned(),
        text,
        spec,
    })
}

/// Errors for names and modules that two files share.
fn clashes(loaded: &[LoadedSpec]) -> Vec<SpecProblem> {
    let mut by_module: BTreeMap<String, &LoadedSpec> = BTreeMap::new();
    let mut problems = Vec::new();
    for spec in loaded {
        // Different names may become one module: `a-b` and `a.b`.
        let module = spec.spec.name.module();
        let Some(other) = by_module.insert(module.clone(), spec) else {
            continue;
        };
        let place = other.path.display().to_string();
        let message = if other.spec.name == spec.spec.name {
            format!(
                "the name `{}` is taken by {}",
                spec.spec.name,
                Quoted(&place)
            )
        } else {
            format!(
                "`{}` and `{}` both become the module `{module}`",
                other.spec.name, spec.spec.name
            )
        };
        let problem = SpecProblem::of_file(&spec.path.display().to_string(), message);
        problems.push(problem.with_help(format!(
            "rename one of them; the other is {}",
            Quoted(&place)
        )));
    }
    problems
}
