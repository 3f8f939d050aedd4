//! The directories that are made from recipes and from quantized checkpoints, in
//! `$TESTGEN_CACHE/synthetic`.
//!
//! A directory is named by the digest of the files that it is made from, and gets its name when it
//! is complete. Checkpoints with the same weights share them through hard links, so that a new
//! golden does not write them again.

use crate::{
    computed_weights::{ComputedWeights, hex},
    error::SyntheticError,
    quantized::{config_of, weights_name},
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;
use testgen_types::{
    QuantizedCheckpoint,
    bounded_file::{limit, read_bytes},
    cache_folder,
};

const CONFIG: &str = "config.json";

/// The checkpoint of `directory` with the weights that a model reads. For a recipe and for a
/// quantized checkpoint it is in the cache; any other directory is complete itself.
///
/// # Errors
///
/// When a file of it cannot be read, the recipe is damaged or too large, or the cache cannot be
/// written.
pub fn checkpoint(directory: &Path) -> Result<PathBuf, SyntheticError> {
    // Found or made once: checks of one model ask many times, at once.
    static MADE: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    // A path is inserted when its directory is complete, so that a panic in between leaves a valid
    // map.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = made.get(directory) {
        return Ok(found.clone());
    }
    let found = match ComputedWeights::find(directory)? {
        None => directory.to_owned(),
        Some(weights) => complete_in(&folder()?, directory, &weights)?,
    };
    made.insert(directory.to_owned(), found.clone());
    Ok(found)
}

/// Adds the weights that a model reads to a directory with a recipe that [`temporary`] has created.
///
/// # Errors
///
/// As [`checkpoint`].
pub fn complete(directory: &Path) -> Result<(), SyntheticError> {
    let (folder, weights) = (folder()?, ComputedWeights::of_recipe(directory)?);
    if weights.scheme().is_none() {
        return add_weights(&folder, directory, &weights);
    }
    // From the quantized files: values straight from the seed would lack the rounding that a
    // reader of the quantized checkpoint gets.
    let quantized = quantized(directory)?;
    add_weights(
        &folder,
        directory,
        &ComputedWeights::read(quantized.path())?,
    )
}

/// The checkpoint of a recipe with its weights as its scheme stores them, in a directory that is
/// deleted when it is dropped. Without a scheme they are dense.
///
/// # Errors
///
/// As [`checkpoint`].
pub fn quantized(directory: &Path) -> Result<TempDir, SyntheticError> {
    let (folder, weights) = (folder()?, ComputedWeights::of_recipe(directory)?);
    let made = temporary_in(&folder)?;
    write_files(&recorded_files(directory, &weights)?, made.path())?;
    add_weights(&folder, made.path(), &weights)?;
    Ok(made)
}

/// Whether the weights in `directory` are quantized, by a method that is dequantized here.
pub fn is_dequantized(directory: &Path) -> bool {
    let found = QuantizedCheckpoint::in_directory(directory);
    found.is_some_and(|found| found.dequantized().is_some())
}

/// The files of the quantized checkpoint in `directory` with dequantized weights, in a directory
/// that is deleted when it is dropped.
///
/// # Errors
///
/// As [`checkpoint`].
pub fn dequantized(directory: &Path) -> Result<TempDir, SyntheticError> {
    let folder = folder()?;
    let made = temporary_in(&folder)?;
    if let Some(weights) = ComputedWeights::find(directory)? {
        write_files(&recorded_files(directory, &weights)?, made.path())?;
        add_weights(&folder, made.path(), &weights)?;
    }
    Ok(made)
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
        // A directory gets the name of its digest when it is complete: until then it is hidden.
        .and_then(|()| tempfile::Builder::new().prefix(".").tempdir_in(folder));
    made.map_err(|source| cache_error(folder, source))
}

/// The checkpoint that a model reads. What the scheme of a recipe quantizes is dequantized as a
/// user's checkpoint is.
pub(crate) fn complete_in(
    folder: &Path,
    directory: &Path,
    weights: &ComputedWeights,
) -> Result<PathBuf, SyntheticError> {
    let made = made_in(folder, directory, weights)?;
    match weights.scheme() {
        None => Ok(made),
        Some(_) => made_in(folder, &made, &ComputedWeights::read(&made)?),
    }
}

pub(crate) fn made_in(
    folder: &Path,
    directory: &Path,
    weights: &ComputedWeights,
) -> Result<PathBuf, SyntheticError> {
    let files = recorded_files(directory, weights)?;
    let target = folder.join(digest(&files, &weights.identity()));
    // Complete, because only a rename creates the name.
    if target.is_dir() {
        return Ok(target);
    }
    let made = temporary_in(folder)?;
    write_files(&files, made.path())?;
    add_weights(folder, made.path(), weights)?;
    named(made.path(), &target)?;
    Ok(target)
}

fn write_files(files: &BTreeMap<String, Vec<u8>>, directory: &Path) -> Result<(), SyntheticError> {
    for (name, content) in files {
        let path = directory.join(name);
        fs::write(&path, content).map_err(|source| cache_error(&path, source))?;
    }
    Ok(())
}

fn add_weights(
    folder: &Path,
    directory: &Path,
    weights: &ComputedWeights,
) -> Result<(), SyntheticError> {
    // One file for all checkpoints with these weights: a link takes no space and no time.
    let file = stored_weights(folder, weights)?;
    let link = directory.join(weights_name(&config_of(directory)));
    // Every caller's directory is in the cache, and links do not cross file systems.
    fs::hard_link(&file, &link).map_err(|source| cache_error(&link, source))
}

/// The file in the cache with the weights.
fn stored_weights(folder: &Path, weights: &ComputedWeights) -> Result<PathBuf, SyntheticError> {
    let target = folder.join(format!("{}.safetensors", weights.identity()));
    if target.is_file() {
        return Ok(target);
    }
    let made = temporary_in(folder)?;
    let path = made.path().join("weights.safetensors");
    weights.write(&path)?;
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

/// The files that a checkpoint made from `directory` has beside its weights, by name.
fn recorded_files(
    directory: &Path,
    weights: &ComputedWeights,
) -> Result<BTreeMap<String, Vec<u8>>, SyntheticError> {
    let failed = |source| cache_error(directory, source);
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Nothing reads a file whose name has another encoding.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // Temporary files of a recorder, and folders.
        if name.starts_with('.') || !entry.path().is_file() {
            continue;
        }
        if !weights.keeps(&name) {
            continue;
        }
        let content = read_bytes(&entry.path(), limit::GOLDEN)?;
        let content = if name == CONFIG {
            weights.config(content)
        } else {
            content
        };
        files.insert(name, content);
    }
    Ok(files)
}

fn digest(files: &BTreeMap<String, Vec<u8>>, weights: &str) -> String {
    let mut digest = Sha256::new_with_prefix(weights);
    for (name, content) in files {
        digest.update(name);
        // Without an end, a shorter name and the bytes after it could be a longer one.
        digest.update([0]);
        // A digest has a fixed length, so that no content continues in the next name.
        digest.update(Sha256::digest(content));
    }
    hex(&digest.finalize())
}

fn cache_error(path: &Path, source: io::Error) -> SyntheticError {
    SyntheticError::Cache {
        path: path.to_owned(),
        source,
    }
}
