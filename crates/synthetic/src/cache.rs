//! The directories that are made from recipes, in `$TESTGEN_CACHE/synthetic`.
//!
//! A directory is named by the digest of the recorded files that it is made from, and gets its name
//! when it is complete. Checkpoints with the same recipe share their weights through hard links, so
//! that a new golden does not write them again.

use crate::{
    error::SyntheticError,
    recipe::{FILE, Recipe},
    weights_file,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;
use testgen_types::{
    bounded_file::{limit, read_bytes},
    cache_folder, from_python,
};

/// The weights as transformers names them.
const WEIGHTS: &str = "model.safetensors";
/// The weights as diffusers names them, which reads no others.
const DIFFUSERS_WEIGHTS: &str = "diffusion_pytorch_model.safetensors";

/// The complete checkpoint of `directory`: its recorded files with weights, in the cache. A
/// directory without a recipe is complete itself.
///
/// # Errors
///
/// When a file of it cannot be read, the recipe is damaged or too large, or the cache cannot be
/// written.
pub fn checkpoint(directory: &Path) -> Result<PathBuf, SyntheticError> {
    // Found or made once: checks of one model ask many times, at once.
    static MADE: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    if !directory.join(FILE).is_file() {
        return Ok(directory.to_owned());
    }
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = made.get(directory) {
        return Ok(found.clone());
    }
    let found = made_in(&folder()?, directory)?;
    made.insert(directory.to_owned(), found.clone());
    Ok(found)
}

/// Adds the weights to a directory with a recipe that [`temporary`] has created.
///
/// # Errors
///
/// As [`checkpoint`].
pub fn complete(directory: &Path) -> Result<(), SyntheticError> {
    complete_in(&folder()?, directory)
}

/// A directory in the cache, deleted when it is dropped.
///
/// # Errors
///
/// When there is no cache, or it cannot be written.
pub fn temporary() -> Result<TempDir, SyntheticError> {
    temporary_in(&folder()?)
}

fn folder() -> Result<PathBuf, SyntheticError> {
    let folder = cache_folder(|name| std::env::var_os(name)).ok_or(SyntheticError::NoCache)?;
    Ok(folder.join("synthetic"))
}

fn temporary_in(folder: &Path) -> Result<TempDir, SyntheticError> {
    let made = fs::create_dir_all(folder)
        .and_then(|()| tempfile::Builder::new().prefix(".").tempdir_in(folder));
    made.map_err(|source| cache_error(folder, source))
}

pub(crate) fn made_in(folder: &Path, directory: &Path) -> Result<PathBuf, SyntheticError> {
    let files = recorded_files(directory)?;
    let target = folder.join(digest(&files));
    if target.is_dir() {
        return Ok(target);
    }
    let made = temporary_in(folder)?;
    for (name, content) in &files {
        let path = made.path().join(name);
        fs::write(&path, content).map_err(|source| cache_error(&path, source))?;
    }
    complete_in(folder, made.path())?;
    named(made.path(), &target)?;
    Ok(target)
}

fn complete_in(folder: &Path, directory: &Path) -> Result<(), SyntheticError> {
    let recipe = Recipe::read(directory)?;
    let weights = weights(folder, directory, &recipe)?;
    let link = directory.join(weights_name(directory));
    fs::hard_link(&weights, &link).map_err(|source| cache_error(&link, source))
}

/// The name of the weights. Configurations of diffusers name their class in `_class_name`.
fn weights_name(directory: &Path) -> &'static str {
    let bytes = read_bytes(&directory.join("config.json"), limit::CONFIG).unwrap_or_default();
    // One that cannot be read is reported by the load.
    let config: Value = serde_json::from_slice(&from_python(&bytes)).unwrap_or_default();
    if config.get("_class_name").is_some() {
        DIFFUSERS_WEIGHTS
    } else {
        WEIGHTS
    }
}

/// The file with the weights of the recipe in `directory`.
fn weights(folder: &Path, directory: &Path, recipe: &Recipe) -> Result<PathBuf, SyntheticError> {
    let content = read_bytes(&directory.join(FILE), limit::CONFIG)?;
    let target = folder.join(format!("{}.safetensors", hex(&Sha256::digest(content))));
    if target.is_file() {
        return Ok(target);
    }
    let made = temporary_in(folder)?;
    let path = made.path().join(WEIGHTS);
    weights_file::write(recipe, &path)?;
    named(&path, &target)?;
    Ok(target)
}

/// Renames a complete file or directory; another process may have been faster.
fn named(made: &Path, target: &Path) -> Result<(), SyntheticError> {
    match fs::rename(made, target) {
        Err(_) if target.exists() => Ok(()),
        result => result.map_err(|source| cache_error(target, source)),
    }
}

/// The files of the directory by name.
fn recorded_files(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, SyntheticError> {
    let failed = |source| cache_error(directory, source);
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A name in another encoding is not that of a file which anything reads.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // Temporary files of a recorder, and folders.
        if name.starts_with('.') || !entry.path().is_file() {
            continue;
        }
        files.insert(name, read_bytes(&entry.path(), limit::GOLDEN)?);
    }
    Ok(files)
}

fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut digest = Sha256::new();
    for (name, content) in files {
        digest.update(name);
        digest.update([0]);
        digest.update(Sha256::digest(content));
    }
    hex(&digest.finalize())
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn cache_error(path: &Path, source: io::Error) -> SyntheticError {
    SyntheticError::Cache {
        path: path.to_owned(),
        source,
    }
}
