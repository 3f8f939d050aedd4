//! The safetensors files of a checkpoint: one, or several with an index.

use super::{error::WeightsError, header_fault::header_fault, index::CheckpointLayout};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors, tensor::Metadata};
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};
use testgen_types::bounded_file;

/// Memory-mapped files and where in them each tensor is.
pub(super) struct Files {
    directory: PathBuf,
    maps: Vec<Arc<Mmap>>,
    tensors: BTreeMap<String, HeaderEntry>,
}

struct HeaderEntry {
    file: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    range: Range<usize>,
}

/// A tensor as a file has it.
pub(super) struct FileTensor<'a> {
    /// Its name in the file.
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: &'a [usize],
    /// The file, and where in it the tensor is.
    pub(super) map: &'a Arc<Mmap>,
    pub(super) range: Range<usize>,
}

impl<'a> FileTensor<'a> {
    pub(super) fn bytes(&self) -> &'a [u8] {
        &self.map[self.range.clone()]
    }
}

impl Files {
    pub(super) fn open(directory: &Path) -> Result<Self, WeightsError> {
        match CheckpointLayout::read(directory)? {
            CheckpointLayout::Single(path) => Self::map(directory, &[path]),
            CheckpointLayout::Sharded(index) => {
                let files = Self::map(directory, &index.files())?;
                index.check(|name| files.tensors.contains_key(name))?;
                Ok(files)
            }
        }
    }

    /// One file of the checkpoint, by its name.
    pub(super) fn open_one(directory: &Path, file: &str) -> Result<Self, WeightsError> {
        Self::map(directory, &[directory.join(file)])
    }

    fn map(directory: &Path, paths: &[PathBuf]) -> Result<Self, WeightsError> {
        let mut files = Self {
            directory: directory.to_owned(),
            maps: Vec::new(),
            tensors: BTreeMap::new(),
        };
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
        let (map, header, metadata) = open(path)?;
        // The 8 bytes before the header are its length.
        let data = header + 8;
        for (name, info) in metadata.tensors() {
            let range = data + info.data_offsets.0..data + info.data_offsets.1;
            let entry = HeaderEntry {
                file: self.maps.len(),
                dtype: info.dtype,
                shape: info.shape.clone(),
                range,
            };
            self.tensors.insert(name, entry);
        }
        self.maps.push(Arc::new(map));
        Ok(())
    }

    /// Every tensor's name, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor `name` and the name that it has in the file: checkpoints converted from
    /// TensorFlow call the weight and bias of a layer norm gamma and beta.
    pub(super) fn find(&self, name: &str) -> Option<FileTensor<'_>> {
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
        Some(FileTensor {
            name,
            dtype: entry.dtype,
            shape: &entry.shape,
            map,
            range: entry.range.clone(),
        })
    }
}

/// Maps the file at `path` and reads its header: its length, and the tensors, whose data is known
/// to be in the file.
fn open(path: &Path) -> Result<(Mmap, usize, Metadata), WeightsError> {
    let file = bounded_file::open(path).map_err(WeightsError::of_file)?;
    // SAFETY: the map is read only; a file that is truncated by someone else while it is mapped
    // raises SIGBUS, as it does for every reader of safetensors.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| unreadable(error.to_string(), path))?;
    match SafeTensors::read_metadata(&map) {
        Ok((header, metadata)) => Ok((map, header, metadata)),
        Err(error) => Err(unreadable(header_fault(&map, &error), path)),
    }
}

/// The entry `key` of a safetensors file's metadata; reads only the header. None when there is no
/// such file or entry.
pub fn file_metadata(path: &Path, key: &str) -> Option<String> {
    let (_, _, metadata) = open(path).ok()?;
    metadata.metadata().as_ref()?.get(key).cloned()
}

/// Whether every byte of the tensor is zero, as in a bias that was never trained; false if the
/// checkpoint in `directory` has no such tensor.
pub fn is_zero(directory: &Path, name: &str) -> Result<bool, WeightsError> {
    Ok(Files::open(directory)?
        .find(name)
        .is_some_and(|tensor| tensor.bytes().iter().all(|byte| *byte == 0)))
}

/// How large the tensors of a checkpoint are, which bounds the sizes that its configuration can
/// have.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The number of tensors.
    pub tensors: usize,
    /// The number of elements of the largest one.
    pub largest: usize,
}

/// The extent of the checkpoint in `directory`; reads only headers.
pub fn extent(directory: &Path) -> Result<Extent, WeightsError> {
    let files = Files::open(directory)?;
    let elements = files
        .tensors
        .values()
        .map(|entry| entry.shape.iter().product());
    Ok(Extent {
        tensors: files.tensors.len(),
        largest: elements.max().unwrap_or_default(),
    })
}

/// The number of elements of all tensors of the checkpoint in `directory`; reads only headers.
pub fn element_count(directory: &Path) -> Result<u64, WeightsError> {
    let files = Files::open(directory)?;
    Ok(files
        .tensors
        .values()
        .map(|entry| entry.shape.iter().product::<usize>() as u64)
        .sum())
}

/// The number of elements of the tensors `names` of the checkpoint in `directory`; 0 if it cannot
/// be read.
pub fn stored_elements(directory: &Path, names: &[String]) -> u64 {
    let Ok(files) = Files::open(directory) else {
        return 0;
    };
    names
        .iter()
        .filter_map(|name| Some(files.find(name)?.shape.iter().product::<usize>() as u64))
        .sum()
}

fn unreadable(message: String, path: &Path) -> WeightsError {
    WeightsError::Unreadable {
        path: path.to_owned(),
        message,
    }
}
