//! The tensors of a checkpoint, from the headers of its safetensors files.

use crate::error::EstimateError;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};
use testgen_types::bounded_file::{limit, open, read_bytes};

/// The file names in transformers and diffusers.
const SINGLE: [&str; 2] = ["model.safetensors", "diffusion_pytorch_model.safetensors"];

/// The longest header that the safetensors library reads.
const LONGEST_HEADER: u64 = 100_000_000;

/// A tensor as the header describes it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StoredTensor {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
}

impl StoredTensor {
    pub(crate) fn elements(&self) -> u64 {
        // The shape of a damaged file must not overflow.
        self.shape
            .iter()
            .fold(1, |product, length| product.saturating_mul(*length))
    }

    /// Whether it can be a weight.
    pub(crate) fn is_float(&self) -> bool {
        // Buffers of integers are not put on a device.
        matches!(self.dtype.as_str(), "F64" | "F32" | "F16" | "BF16")
    }
}

/// Every tensor of the checkpoint in `directory`, by its name.
pub(crate) fn tensors(directory: &Path) -> Result<BTreeMap<String, StoredTensor>, EstimateError> {
    let mut tensors = BTreeMap::new();
    for file in files(directory)? {
        tensors.extend(header(&file)?.tensors);
    }
    Ok(tensors)
}

/// The entry `key` of the metadata of a file, or `None` if there is no such file or entry.
pub(crate) fn metadata(file: &Path, key: &str) -> Option<String> {
    header(file).ok()?.metadata.remove(key)
}

/// The shape of the tensor `name` of a file, or `None` if there is no such file or tensor.
pub(crate) fn shape(file: &Path, name: &str) -> Option<Vec<u64>> {
    Some(header(file).ok()?.tensors.remove(name)?.shape)
}

/// The passages beside a checkpoint that searches them.
#[derive(Debug)]
pub(crate) struct StoredPassages {
    /// [passages, width].
    pub(crate) embeddings: StoredTensor,
    /// The bytes of the texts.
    pub(crate) text: u64,
}

/// The passages in `directory`, or `None` if there are none; the loader then reads neither file.
pub(crate) fn passages(directory: &Path) -> Option<StoredPassages> {
    let text = fs::metadata(directory.join("passages.jsonl")).ok()?.len();
    let mut tensors = header(&directory.join("passages.safetensors"))
        .ok()?
        .tensors;
    let embeddings = tensors.remove("embeddings")?;
    Some(StoredPassages { embeddings, text })
}

/// Whether the name is taken, also by a link that leads nowhere.
fn is_occupied(path: &PathBuf) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, EstimateError> {
    if let Some(single) = SINGLE
        .iter()
        .map(|name| directory.join(name))
        .find(is_occupied)
    {
        return Ok(vec![single]);
    }
    let index = SINGLE
        .iter()
        .map(|name| directory.join(format!("{name}.index.json")))
        .find(is_occupied);
    let index = index.ok_or_else(|| EstimateError::NoWeights {
        directory: directory.to_owned(),
    })?;
    let value: Option<Value> =
        serde_json::from_slice(&read_bytes(&index, limit::SHARD_INDEX)?).ok();
    let map = value
        .as_ref()
        .and_then(|value| value.get("weight_map"))
        .and_then(Value::as_object);
    let names: Option<BTreeSet<&str>> =
        map.map(|map| map.values().filter_map(Value::as_str).collect());
    match names.filter(|names| {
        !names.is_empty()
            && names.iter().all(|name| {
                // Only files beside the index, as the loader demands.
                Path::new(name)
                    .file_name()
                    .is_some_and(|file| file == *name)
            })
    }) {
        Some(names) => Ok(names.into_iter().map(|name| directory.join(name)).collect()),
        None => {
            let problem = "is not an index of files beside it".to_owned();
            Err(EstimateError::Invalid {
                path: index,
                problem,
            })
        }
    }
}

#[derive(Debug)]
struct Header {
    tensors: BTreeMap<String, StoredTensor>,
    metadata: BTreeMap<String, String>,
}

fn header(path: &Path) -> Result<Header, EstimateError> {
    let mut file = open(path)?;
    // safetensors begins with the length of its header, which is all that is read.
    let mut length = [0; 8];
    file.read_exact(&mut length)
        .map_err(|_| invalid_header(path))?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(invalid_header(path));
    }
    // It grows with what is read: a damaged file may state a longer header than it has.
    let mut text = Vec::new();
    file.take(length)
        .read_to_end(&mut text)
        .map_err(|_| invalid_header(path))?;
    let mut entries: BTreeMap<String, Value> =
        serde_json::from_slice(&text).map_err(|_| invalid_header(path))?;
    // The only entry of the format that is not a tensor.
    let metadata = entries.remove("__metadata__").unwrap_or(Value::Null);
    let metadata = serde_json::from_value(metadata).unwrap_or_default();
    let tensors = entries
        .into_iter()
        .map(|(name, entry)| Some((name, serde_json::from_value::<StoredTensor>(entry).ok()?)))
        .collect::<Option<_>>()
        .ok_or_else(|| invalid_header(path))?;
    Ok(Header { tensors, metadata })
}

fn invalid_header(path: &Path) -> EstimateError {
    EstimateError::Invalid {
        path: path.to_owned(),
        problem: "is not a safetensors file: its header cannot be read".to_owned(),
    }
}
