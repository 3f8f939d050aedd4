//! The safetensors files of a checkpoint: one, or several with an index.

use super::error::WeightsError;
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Memory-mapped files and where in them each tensor is.
pub(super) struct Files {
    directory: PathBuf,
    maps: Vec<Arc<Mmap>>,
    tensors: BTreeMap<String, Entry>,
}

struct Entry {
    file: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    range: Range<usize>,
}

/// A tensor as a file has it.
pub(super) struct Stored<'a> {
    /// Its name in the file.
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: &'a [usize],
    /// The file, and where in it the tensor is.
    pub(super) map: &'a Arc<Mmap>,
    pub(super) range: Range<usize>,
}

impl<'a> Stored<'a> {
    pub(super) fn bytes(&self) -> &'a [u8] {
        &self.map[self.range.clone()]
    }
}

impl Files {
    pub(super) fn open(directory: &Path) -> Result<Self, WeightsError> {
        Self::of(directory, &paths(directory)?)
    }

    /// One file of the checkpoint, by its name.
    pub(super) fn open_one(directory: &Path, file: &str) -> Result<Self, WeightsError> {
        Self::of(directory, &[directory.join(file)])
    }

    fn of(directory: &Path, paths: &[PathBuf]) -> Result<Self, WeightsError> {
        let mut files = Self { directory: directory.to_owned(), maps: Vec::new(), tensors: BTreeMap::new() };
        for path in paths {
            files.add(path)?;
        }
        Ok(files)
    }

    /// Where they are.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn add(&mut self, path: &Path) -> Result<(), WeightsError> {
        let unreadable = |message: String| WeightsError::Unreadable { path: path.to_owned(), message };
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        // SAFETY: the map is read only; a file that is truncated by someone else while it is mapped raises SIGBUS, as
        // it does for every reader of safetensors.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| unreadable(error.to_string()))?;
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(|error| unreadable(error.to_string()))?;
        // The 8 bytes before the header are its length.
        let data = header + 8;
        for (name, info) in metadata.tensors() {
            let range = data + info.data_offsets.0..data + info.data_offsets.1;
            // `read_metadata` checks the header only.
            if range.end > map.len() {
                return Err(unreadable(format!("`{name}` ends after the end of the file; the file is truncated")));
            }
            let entry = Entry { file: self.maps.len(), dtype: info.dtype, shape: info.shape.clone(), range };
            self.tensors.insert(name, entry);
        }
        self.maps.push(Arc::new(map));
        Ok(())
    }

    /// Every tensor's name, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor `name` and the name that it has in the file: checkpoints converted from TensorFlow call the weight
    /// and bias of a layer norm gamma and beta.
    pub(super) fn find(&self, name: &str) -> Option<Stored<'_>> {
        let old = match name.rsplit_once('.') {
            Some((path, "weight")) => Some(format!("{path}.gamma")),
            Some((path, "bias")) => Some(format!("{path}.beta")),
            _ => None,
        };
        let (name, entry) = [Some(name.to_owned()), old]
            .into_iter()
            .flatten()
            .find_map(|name| self.tensors.get(&name).map(|entry| (name, entry)))?;
        let map = &self.maps[entry.file];
        Some(Stored { name, dtype: entry.dtype, shape: &entry.shape, map, range: entry.range.clone() })
    }
}

/// The file names in transformers and diffusers.
const SINGLE: [&str; 2] = ["model.safetensors", "diffusion_pytorch_model.safetensors"];

/// The single file, or the files that the index names.
fn paths(directory: &Path) -> Result<Vec<PathBuf>, WeightsError> {
    let single = SINGLE.iter().map(|name| directory.join(name)).find(|path| path.is_file());
    if let Some(single) = single {
        return Ok(vec![single]);
    }
    let index = SINGLE.iter().map(|name| directory.join(format!("{name}.index.json"))).find(|path| path.is_file());
    let index = index.ok_or_else(|| WeightsError::NoFile { directory: directory.to_owned() })?;
    let unreadable = |message: String| WeightsError::Unreadable { path: index.clone(), message };
    let text = std::fs::read(&index).map_err(|error| unreadable(error.to_string()))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let map = value.get("weight_map").and_then(Value::as_object);
    let map = map.ok_or_else(|| unreadable("it has no `weight_map`".to_owned()))?;
    let names: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    // An index that was downloaded must not open files outside the checkpoint.
    if let Some(name) = names.iter().find(|name| Path::new(name).file_name().is_none_or(|file| file != **name)) {
        return Err(unreadable(format!("`{name}` is not the name of a file beside the index")));
    }
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

/// The entry `key` of a safetensors file's metadata; reads only the header. None when there is no such file or entry.
pub fn file_metadata(path: &Path, key: &str) -> Option<String> {
    let file = File::open(path).ok()?;
    // SAFETY: as in `Files::add`.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    let (_, metadata) = SafeTensors::read_metadata(&map).ok()?;
    metadata.metadata().as_ref()?.get(key).cloned()
}

/// Whether every byte of the tensor is zero, as in a bias that was never trained; false where the checkpoint in `directory` has
/// no such tensor.
pub fn is_zero(directory: &Path, name: &str) -> Result<bool, WeightsError> {
    Ok(Files::open(directory)?.find(name).is_some_and(|tensor| tensor.bytes().iter().all(|byte| *byte == 0)))
}
