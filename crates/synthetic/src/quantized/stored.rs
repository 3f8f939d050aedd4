//! The safetensors files of a checkpoint, tensor by tensor.
//!
//! The header is read here and not by the crate safetensors, which does not know every type of 8
//! bits that quantizers write.

use super::float8;
use crate::error::SyntheticError;
use half::{bf16, f16};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};
use testgen_types::bounded_file::{self, limit, read_bytes};

/// The largest header that safetensors permits, in bytes.
const MAX_HEADER: u64 = 100_000_000;
const WEIGHTS: &str = "model.safetensors";

/// The files of a checkpoint and where in them each tensor is.
pub(super) struct StoredFiles {
    directory: PathBuf,
    files: Vec<File>,
    tensors: BTreeMap<String, StoredPlace>,
    /// Of headers, sizes and times of change.
    digest: Sha256,
}

struct StoredPlace {
    file: usize,
    dtype: String,
    shape: Vec<usize>,
    start: u64,
    bytes: usize,
}

/// A tensor in a header, as safetensors defines it.
#[derive(Deserialize)]
struct StoredHeader {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// The index of a sharded checkpoint.
#[derive(Deserialize)]
struct StoredIndex {
    weight_map: BTreeMap<String, String>,
}

impl StoredFiles {
    pub(super) fn open(directory: &Path) -> Result<Self, SyntheticError> {
        let mut files = Self {
            directory: directory.to_owned(),
            files: Vec::new(),
            tensors: BTreeMap::new(),
            digest: Sha256::new(),
        };
        for name in weight_files(directory)? {
            files.add(&directory.join(name))?;
        }
        Ok(files)
    }

    fn add(&mut self, path: &Path) -> Result<(), SyntheticError> {
        let file = bounded_file::open(path)?;
        let damaged = |reason: String| SyntheticError::Quantized {
            path: path.to_owned(),
            tensor: "header".to_owned(),
            reason,
        };
        let header = header(&file).map_err(|error| damaged(error.to_string()))?;
        let metadata = file
            .metadata()
            .map_err(|error| damaged(error.to_string()))?;
        self.digest.update(Sha256::digest(&header));
        for number in [
            metadata.len(),
            metadata.mtime().cast_unsigned(),
            metadata.mtime_nsec().cast_unsigned(),
        ] {
            self.digest.update(number.to_le_bytes());
        }
        let entries: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
        let data = 8 + header.len() as u64;
        for (name, entry) in entries {
            if name == "__metadata__" {
                continue;
            }
            let StoredHeader {
                dtype,
                shape,
                data_offsets: [start, end],
            } = serde_json::from_value(entry)
                .map_err(|error| damaged(format!("`{name}`: {error}")))?;
            if end < start || data.saturating_add(end) > metadata.len() {
                return Err(damaged(format!("`{name}` is not within the file")));
            }
            let place = StoredPlace {
                file: self.files.len(),
                dtype,
                shape,
                start: data + start,
                bytes: usize::try_from(end - start).unwrap_or(usize::MAX),
            };
            self.tensors.insert(name, place);
        }
        self.files.push(file);
        Ok(())
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The digest of the files and of `options`.
    pub(super) fn identity(&self, options: &str) -> String {
        let digest = self.digest.clone().chain_update(options).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The tensor `name` with its bytes.
    pub(super) fn read(&self, name: &str) -> Result<StoredPart, String> {
        let place = self
            .tensors
            .get(name)
            .ok_or_else(|| format!("there is no tensor `{name}`"))?;
        let mut bytes = vec![0; place.bytes];
        self.files[place.file]
            .read_exact_at(&mut bytes, place.start)
            .map_err(|error| format!("`{name}`: {error}"))?;
        Ok(StoredPart {
            name: name.to_owned(),
            dtype: place.dtype.clone(),
            shape: place.shape.clone(),
            bytes,
        })
    }
}

/// The files with the weights: those of the index if there is one.
fn weight_files(directory: &Path) -> Result<BTreeSet<String>, SyntheticError> {
    let path = directory.join(format!("{WEIGHTS}.index.json"));
    if !path.is_file() {
        return Ok([WEIGHTS.to_owned()].into());
    }
    let index: StoredIndex = serde_json::from_slice(&read_bytes(&path, limit::SHARD_INDEX)?)
        .map_err(|error| SyntheticError::Quantized {
            path,
            tensor: "weight_map".to_owned(),
            reason: error.to_string(),
        })?;
    Ok(index.weight_map.into_values().collect())
}

/// The header of a file, after the 8 bytes with its length.
fn header(file: &File) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 8];
    file.read_exact_at(&mut length, 0)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(std::io::Error::other(format!(
            "its length is {length} bytes"
        )));
    }
    let mut header = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut header, 8)?;
    Ok(header)
}

/// A tensor as a file has it.
#[derive(Debug)]
pub(super) struct StoredPart {
    pub(super) name: String,
    /// As safetensors names it.
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl StoredPart {
    pub(super) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it is a weight in integers or small floats, as quantizers write them.
    pub(super) fn has_codes(&self) -> bool {
        let is_small =
            self.dtype.starts_with("F8_") || ["I8", "U8", "I32"].contains(&self.dtype.as_str());
        is_small && self.name.ends_with(".weight")
    }

    /// The values, in f32, which has every value of the types that are read.
    pub(super) fn values(&self) -> Result<Vec<f32>, String> {
        let values: Vec<f32> = match self.dtype.as_str() {
            "F32" => self.words(f32::from_le_bytes),
            "F16" => self.words(|bytes| f16::from_le_bytes(bytes).to_f32()),
            "BF16" => self.words(|bytes| bf16::from_le_bytes(bytes).to_f32()),
            "I8" => self.words(|[byte]| f32::from(byte.cast_signed())),
            "U8" => self.words(|[byte]: [u8; 1]| f32::from(byte)),
            "F8_E4M3" => self.words(|[byte]| float8::e4m3(byte)),
            "F8_E4M3FNUZ" => self.words(|[byte]| float8::e4m3fnuz(byte)),
            "F8_E5M2" => self.words(|[byte]| float8::e5m2(byte)),
            "F8_E8M0" => self.words(|[byte]| float8::e8m0(byte)),
            other => return Err(format!("`{}` has the type {other}", self.name)),
        };
        self.complete(values)
    }

    /// The 32-bit words that values are packed in.
    pub(super) fn packed_words(&self) -> Result<Vec<u32>, String> {
        match self.dtype.as_str() {
            "I32" | "U32" => self.complete(self.words(u32::from_le_bytes)),
            other => Err(format!("`{}` has the type {other}, not I32", self.name)),
        }
    }

    /// Integers that are sizes or indices.
    pub(super) fn indices(&self) -> Result<Vec<usize>, String> {
        let numbers: Vec<i64> = match self.dtype.as_str() {
            "I32" => self.words(|bytes| i64::from(i32::from_le_bytes(bytes))),
            "I64" => self.words(i64::from_le_bytes),
            other => {
                return Err(format!(
                    "`{}` has the type {other}, not I32 or I64",
                    self.name
                ));
            }
        };
        let index =
            |number| usize::try_from(number).map_err(|_| format!("`{}` has {number}", self.name));
        self.complete(numbers)?.into_iter().map(index).collect()
    }

    /// The rows and columns of a matrix.
    pub(super) fn matrix(&self) -> Result<[usize; 2], String> {
        let shape = self.shape.as_slice().try_into();
        shape.map_err(|_| {
            format!(
                "`{}` has the shape {:?}, not that of a matrix",
                self.name, self.shape
            )
        })
    }

    fn words<const SIZE: usize, T>(&self, value: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
        self.bytes
            .as_chunks::<SIZE>()
            .0
            .iter()
            .copied()
            .map(value)
            .collect()
    }

    fn complete<T>(&self, values: Vec<T>) -> Result<Vec<T>, String> {
        match values.len() == self.count() {
            true => Ok(values),
            false => Err(format!(
                "`{}` has {} values, but the shape {:?}",
                self.name,
                values.len(),
                self.shape
            )),
        }
    }
}
