//! The files of a checkpoint directory before anything reads them: safetensors and no pickles,
//! weights that are not quantized or can be dequantized, regular files of limited size, and all
//! within the directory.
//!
//! Owns: which directories `add` and `record` refuse. Does not own: the content of configuration
//! and weights.

mod error;

pub use error::CheckpointFilesError;

use crate::text::limited;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};
use testgen_types::{
    QuantizedCheckpoint,
    bounded_file::{FileError, FileProblem, limit, open, read_bytes},
};
use walkdir::WalkDir;

/// The files that transformers and diffusers keep weights in.
const WEIGHTS: [&str; 2] = ["model.safetensors", "diffusion_pytorch_model.safetensors"];

/// Extensions of files that `torch.load` reads with Python's pickle.
const PICKLES: [&str; 6] = ["bin", "ckpt", "pickle", "pkl", "pt", "pth"];

/// Pickles of a training run, which nothing reads and which do not contain the weights.
const NOT_WEIGHTS: [&str; 4] = ["training_args.", "optimizer.", "scheduler.", "rng_state"];

/// Directories below the checkpoint in which links are searched.
// Tokenizers of RAG models are one level below, and a level more is for other parts.
const DEPTH: usize = 3;

/// Whether there are weights as safetensors, or an index of them.
pub fn has_weights(directory: &Path) -> bool {
    WEIGHTS
        .iter()
        .any(|name| directory.join(name).is_file() || directory.join(index_of(name)).is_file())
}

/// Refuses a directory whose only weights are pickles, quantized weights that are not dequantized,
/// a name or a link that leads out of the directory, a FIFO, a device, a directory or a huge
/// file in place of a file that is read, and weights that transformers reads and testgen does not.
///
/// # Errors
///
/// The first such file, or the method of the quantization.
pub fn check(directory: &Path) -> Result<(), CheckpointFilesError> {
    // Before any file is opened, which a link could lead out of the directory.
    check_links(directory)?;
    check_sizes(directory)?;
    for name in WEIGHTS {
        let index = directory.join(index_of(name));
        if index.symlink_metadata().is_ok() {
            check_index(&index)?;
        }
    }
    // Beside safetensors a pickle is not read: transformers and diffusers prefer safetensors.
    if let Some(name) = pickle(directory).filter(|_| !has_weights(directory)) {
        return Err(CheckpointFilesError::Pickle {
            path: directory.join(name),
        });
    }
    // Last: the files that are read from here on are known to be regular ones by now.
    check_other_weights(directory)?;
    match QuantizedCheckpoint::in_directory(directory) {
        Some(quantized) if quantized.dequantized().is_none() => {
            Err(CheckpointFilesError::Quantized {
                path: directory.to_owned(),
                quantized,
            })
        }
        _ => Ok(()),
    }
}

/// Weights that transformers computes with in place of model.safetensors.
#[derive(Deserialize)]
struct OtherWeights {
    transformers_weights: Option<String>,
}

/// The reference and the engines compute with the file that config.json names in
/// `transformers_weights`, even a pickle, and with an adapter if the package `peft` is installed.
fn check_other_weights(directory: &Path) -> Result<(), CheckpointFilesError> {
    let path = directory.join("config.json");
    let config = read_bytes(&path, limit::CONFIG).unwrap_or_default();
    // What is not a configuration is reported by what reads it.
    let named = serde_json::from_slice(&config).ok();
    if let Some(name) = named.and_then(|named: OtherWeights| named.transformers_weights) {
        return Err(CheckpointFilesError::OtherWeights { path, name });
    }
    let path = directory.join("adapter_config.json");
    if path.symlink_metadata().is_ok() {
        return Err(CheckpointFilesError::Adapter { path });
    }
    Ok(())
}

fn index_of(name: &str) -> String {
    format!("{name}.index.json")
}

/// The largest size of a file that transformers reads as a whole, or `None` for files that are
/// mapped, and for unknown files.
fn limit_of(name: &str) -> Option<u64> {
    match name {
        "golden.safetensors" => Some(limit::GOLDEN),
        "answers.json" => Some(limit::ANSWERS),
        "tokenizer.json" | "vocab.json" | "vocab.txt" | "merges.txt" => Some(limit::TOKENIZER),
        _ if name.ends_with(".index.json") => Some(limit::SHARD_INDEX),
        _ if name.ends_with("config.json") => Some(limit::CONFIG),
        "special_tokens_map.json" | "added_tokens.json" => Some(limit::CONFIG),
        _ if [".model", ".spm"]
            .iter()
            .any(|extension| name.ends_with(extension)) =>
        {
            Some(limit::TOKENIZER)
        }
        // Any size is fine because it is mapped, but it must be a regular file.
        _ if name.ends_with(".safetensors") => Some(u64::MAX),
        _ => None,
    }
}

/// Every file that is read is a regular one, and not larger than any of its kind.
fn check_sizes(directory: &Path) -> Result<(), CheckpointFilesError> {
    for entry in WalkDir::new(directory)
        .max_depth(DEPTH)
        // The files of a snapshot in the Hugging Face cache are links to its blobs.
        .follow_links(true)
        .sort_by_file_name()
    {
        let Ok(entry) = entry else { continue };
        let Some(largest) = entry
            .file_name()
            .to_str()
            .and_then(limit_of)
            .filter(|_| entry.depth() > 0)
        else {
            continue;
        };
        let size = open(entry.path())?
            .metadata()
            .map_or(0, |metadata| metadata.len());
        if size > largest {
            let problem = FileProblem::TooLarge {
                size: Some(size),
                limit: largest,
            };
            return Err(FileError {
                path: entry.into_path(),
                problem,
            }
            .into());
        }
    }
    Ok(())
}

/// The first pickle in the order of names.
fn pickle(directory: &Path) -> Option<String> {
    let names = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_pickle(name)).min()
}

fn is_pickle(name: &str) -> bool {
    let extension = Path::new(name)
        .extension()
        .and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| PICKLES.contains(&extension))
        && !NOT_WEIGHTS.iter().any(|other| name.starts_with(other))
}

/// The index of a sharded checkpoint: the shard of each tensor.
#[derive(Deserialize)]
struct ShardIndex {
    weight_map: BTreeMap<String, String>,
}

/// Every shard is safetensors in the directory of the index.
fn check_index(path: &Path) -> Result<(), CheckpointFilesError> {
    // transformers would read another file with pickle.
    let bytes = read_bytes(path, limit::SHARD_INDEX)?;
    let index: ShardIndex =
        serde_json::from_slice(&bytes).map_err(|error| CheckpointFilesError::Index {
            path: path.to_owned(),
            reason: limited(&error.to_string()),
        })?;
    for shard in index.weight_map.into_values() {
        if Path::new(&shard)
            .components()
            .any(|part| !matches!(part, Component::Normal(_)))
        {
            return Err(CheckpointFilesError::ShardOutside {
                path: path.to_owned(),
                shard,
            });
        }
        if !shard.ends_with(".safetensors") {
            return Err(CheckpointFilesError::Shard {
                path: path.to_owned(),
                shard,
            });
        }
    }
    Ok(())
}

/// Links stay in the directory, or in the store of the Hugging Face cache: `snapshots/<revision>`
/// contains links to `blobs`.
fn check_links(directory: &Path) -> Result<(), CheckpointFilesError> {
    let Ok(root) = directory.canonicalize() else {
        return Ok(());
    };
    let snapshots = root.parent().filter(|parent| parent.ends_with("snapshots"));
    let blobs = snapshots
        .and_then(Path::parent)
        .map(|repository| repository.join("blobs"));
    for entry in WalkDir::new(&root)
        .max_depth(DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
    {
        if !entry.path_is_symlink() {
            continue;
        }
        let path = directory.join(entry.path().strip_prefix(&root).unwrap_or(entry.path()));
        match entry.path().canonicalize() {
            Ok(target)
                if target.starts_with(&root)
                    || blobs
                        .as_ref()
                        .is_some_and(|blobs| target.starts_with(blobs)) => {}
            Ok(target) => return Err(CheckpointFilesError::LinkOutside { path, target }),
            Err(_) => return Err(CheckpointFilesError::DanglingLink { path }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
