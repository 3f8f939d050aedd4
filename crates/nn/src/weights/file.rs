//! The safetensors files of a checkpoint: one, or several with an index.
//!
//! Headers, and tensors that stay on the host, are read from the mapped file. Tensors that are
//! copied are read by position: a file that someone cuts off meanwhile is an error then, and no
//! signal.

use super::{error::WeightsError, header_fault::header_fault, index::CheckpointLayout};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors, tensor::Metadata};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};
use testgen_types::bounded_file;

/// Memory-mapped files and where in them each tensor is.
pub(super) struct Files {
    directory: PathBuf,
    files: Vec<TensorFile>,
    tensors: BTreeMap<String, HeaderEntry>,
}

/// An open file of tensors.
pub(super) struct TensorFile {
    path: PathBuf,
    file: File,
    pub(super) map: Arc<Mmap>,
    opened: FileVersion,
}

/// The length of a file and when it was written to: another one is another content.
#[derive(Debug, PartialEq, Eq)]
struct FileVersion {
    length: u64,
    modified: SystemTime,
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
    pub(super) file: &'a TensorFile,
    pub(super) range: Range<usize>,
}

impl<'a> FileTensor<'a> {
    pub(super) fn bytes(&self) -> &'a [u8] {
        &self.file.map[self.range.clone()]
    }

    /// Copies the tensor's bytes from `start` on to `out`.
    pub(super) fn read_at(&self, start: usize, out: &mut [u8]) -> Result<(), WeightsError> {
        let place = (self.range.start + start) as u64;
        let read = self.file.file.read_exact_at(out, place);
        read.map_err(|error| unreadable(error.to_string(), &self.file.path))
    }
}

fn version(file: &File) -> io::Result<FileVersion> {
    let metadata = file.metadata()?;
    Ok(FileVersion {
        length: metadata.len(),
        modified: metadata.modified()?,
    })
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
            files: Vec::new(),
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
        let TensorHeader {
            file,
            map,
            header,
            metadata,
        } = open(path)?;
        // The 8 bytes before the header are its length.
        let data = header + 8;
        for (name, info) in metadata.tensors() {
            let range = data + info.data_offsets.0..data + info.data_offsets.1;
            let entry = HeaderEntry {
                file: self.files.len(),
                dtype: info.dtype,
                shape: info.shape.clone(),
                range,
            };
            self.tensors.insert(name, entry);
        }
        let opened = version(&file).map_err(|error| unreadable(error.to_string(), path))?;
        self.files.push(TensorFile {
            path: path.to_owned(),
            file,
            map: Arc::new(map),
            opened,
        });
        Ok(())
    }

    /// Whether no file was written to since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), WeightsError> {
        for TensorFile {
            path, file, opened, ..
        } in &self.files
        {
            let now = version(file).map_err(|error| unreadable(error.to_string(), path))?;
            // Layers that are read again and again must be those of one model.
            if now != *opened {
                let message = "it was changed while the model was in use; load the model again";
                return Err(unreadable(message.to_owned(), path));
            }
        }
        Ok(())
    }

    /// Every tensor's name, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor `name` and the name that it has in the file.
    pub(super) fn find(&self, name: &str) -> Option<FileTensor<'_>> {
        // Checkpoints converted from TensorFlow call the weight and bias of a layer norm gamma and
        // beta.
        let old = match name.rsplit_once('.') {
            Some((path, "weight")) => Some(format!("{path}.gamma")),
            Some((path, "bias")) => Some(format!("{path}.beta")),
            _ => None,
        };
        let (name, entry) = [Some(name.to_owned()), old]
            .into_iter()
            .flatten()
            .find_map(|name| self.tensors.get(&name).map(|entry| (name, entry)))?;
        Some(FileTensor {
            name,
            dtype: entry.dtype,
            shape: &entry.shape,
            file: &self.files[entry.file],
            range: entry.range.clone(),
        })
    }
}

/// A file whose header was read.
struct TensorHeader {
    file: File,
    map: Mmap,
    /// The length of the header in bytes.
    header: usize,
    /// The tensors, whose data is known to be in the file.
    metadata: Metadata,
}

/// Maps the file at `path` and reads its header.
fn open(path: &Path) -> Result<TensorHeader, WeightsError> {
    let file = bounded_file::open(path).map_err(WeightsError::of_file)?;
    // SAFETY: the map is read only; a file that is truncated by someone else while it is mapped
    // raises SIGBUS, as it does for every reader of safetensors.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| unreadable(error.to_string(), path))?;
    match SafeTensors::read_metadata(&map) {
        Ok((header, metadata)) => Ok(TensorHeader {
            file,
            map,
            header,
            metadata,
        }),
        Err(error) => Err(unreadable(header_fault(&map, &error), path)),
    }
}

/// The entry `key` of a safetensors file's metadata; reads only the header. None when there is no
/// such file or entry.
pub fn file_metadata(path: &Path, key: &str) -> Option<String> {
    open(path)
        .ok()?
        .metadata
        .metadata()
        .as_ref()?
        .get(key)
        .cloned()
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
