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
/// The most sizes of a shape.
// Tensors of models have up to five.
const MAX_RANK: usize = 8;

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
    /// The file with the name `weights`, or the files of its index.
    pub(super) fn open(directory: &Path, weights: &str) -> Result<Self, SyntheticError> {
        let mut files = Self {
            directory: directory.to_owned(),
            files: Vec::new(),
            tensors: BTreeMap::new(),
            digest: Sha256::new(),
        };
        for name in weight_files(directory, weights)? {
            files.add(&directory.join(name))?;
        }
        Ok(files)
    }

    fn add(&mut self, path: &Path) -> Result<(), SyntheticError> {
        let file = bounded_file::open(path)?;
        self.add_tensors(&file)
            .map_err(|reason| SyntheticError::quantized(path, "header", &reason))?;
        self.files.push(file);
        Ok(())
    }

    /// Adds the tensors that the header of `file` lists, which becomes the last file.
    fn add_tensors(&mut self, file: &File) -> Result<(), String> {
        let header = header(file).map_err(|error| error.to_string())?;
        let metadata = file.metadata().map_err(|error| error.to_string())?;
        self.digest.update(Sha256::digest(&header));
        // In place of the weights, which can be gigabytes: a file that is written again has another
        // time of change.
        for number in [
            metadata.len(),
            metadata.mtime().cast_unsigned(),
            metadata.mtime_nsec().cast_unsigned(),
        ] {
            self.digest.update(number.to_le_bytes());
        }
        let entries: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        // Offsets are counted from the end of the header, before which 8 bytes have its length.
        let data = 8 + header.len() as u64;
        for (name, entry) in entries {
            // The texts of the program that wrote the file, and no tensor.
            if name == "__metadata__" {
                continue;
            }
            let entry =
                serde_json::from_value(entry).map_err(|error| format!("`{name}`: {error}"))?;
            let place = self.place(&name, entry, [data, metadata.len()])?;
            self.tensors.insert(name, place);
        }
        Ok(())
    }

    /// The place of a tensor in the last file, whose tensors are in this range of bytes.
    fn place(
        &self,
        name: &str,
        entry: StoredHeader,
        [data, file_end]: [u64; 2],
    ) -> Result<StoredPlace, String> {
        let [start, end] = entry.data_offsets;
        // A damaged header has any offsets, and the sum of two could overflow.
        if end < start || data.saturating_add(end) > file_end {
            return Err(format!("`{name}` is not within the file"));
        }
        let rank = entry.shape.len();
        if rank > MAX_RANK {
            return Err(format!("`{name}` has {rank} dimensions"));
        }
        Ok(StoredPlace {
            file: self.files.len(),
            dtype: entry.dtype,
            shape: entry.shape,
            start: data + start,
            bytes: usize::try_from(end - start).unwrap_or(usize::MAX),
        })
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
        let part = StoredPart {
            name: name.to_owned(),
            dtype: place.dtype.clone(),
            shape: place.shape.clone(),
            bytes,
        };
        part.complete()
    }
}

/// The files with the weights: the files of the index if there is one.
fn weight_files(directory: &Path, weights: &str) -> Result<BTreeSet<String>, SyntheticError> {
    let path = directory.join(format!("{weights}.index.json"));
    if !path.is_file() {
        return Ok([weights.to_owned()].into());
    }
    let index: StoredIndex = serde_json::from_slice(&read_bytes(&path, limit::SHARD_INDEX)?)
        .map_err(|error| SyntheticError::quantized(&path, "weight_map", &error.to_string()))?;
    Ok(index.weight_map.into_values().collect())
}

/// The header of a file, after the 8 bytes with its length.
fn header(file: &File) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 8];
    file.read_exact_at(&mut length, 0)?;
    let length = u64::from_le_bytes(length);
    // Before the header is allocated: a damaged length asks for more memory than there is.
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
    /// Its elements.
    pub(super) fn count(&self) -> usize {
        let sizes = self.shape.iter().copied();
        // An overflow is more than memory has, so that no bytes are enough for such a tensor.
        sizes.fold(1, usize::saturating_mul)
    }

    /// Whether it is a weight in integers or small floats, as quantizers write them.
    pub(super) fn has_codes(&self) -> bool {
        let is_small =
            self.dtype.starts_with("F8_") || ["I8", "U8", "I32"].contains(&self.dtype.as_str());
        is_small && self.name.ends_with(".weight")
    }

    /// The values, in f32.
    pub(super) fn values(&self) -> Result<Vec<f32>, String> {
        // f32 has every value of the types that are read.
        Ok(match self.dtype.as_str() {
            "F32" => self.words(f32::from_le_bytes),
            "F16" => self.words(|bytes| f16::from_le_bytes(bytes).to_f32()),
            "BF16" => self.words(|bytes| bf16::from_le_bytes(bytes).to_f32()),
            "I8" => self.words(|[byte]| f32::from(byte.cast_signed())),
            "U8" => self.words(|[byte]: [u8; 1]| f32::from(byte)),
            "F8_E4M3" => self.words(|[byte]| float8::e4m3(byte)),
            "F8_E4M3FNUZ" => self.words(|[byte]| float8::e4m3fnuz(byte)),
            "F8_E5M2" => self.words(|[byte]| float8::e5m2(byte)),
            // Scales of FP8, if transformers' `scale_fmt` is `ue8m0`.
            "F8_E8M0" => self.words(|[byte]| float8::e8m0(byte)),
            other => return Err(format!("`{}` has the type {other}", self.name)),
        })
    }

    /// The 32-bit words that values are packed in.
    pub(super) fn packed_words(&self) -> Result<Vec<u32>, String> {
        match self.dtype.as_str() {
            "I32" | "U32" => Ok(self.words(u32::from_le_bytes)),
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
        numbers.into_iter().map(index).collect()
    }

    /// The sizes of a tensor with `RANK` dimensions. None of them is larger than the file: they
    /// were compared with its bytes, of a type with a known size, and none is empty, beside which
    /// others could be of any size.
    pub(super) fn sizes<const RANK: usize>(&self) -> Result<[usize; RANK], String> {
        if size(&self.dtype).is_none() {
            return Err(format!("`{}` has the type {}", self.name, self.dtype));
        }
        let shape = <[usize; RANK]>::try_from(self.shape.as_slice());
        shape
            .ok()
            .filter(|sizes| !sizes.contains(&0))
            .ok_or_else(|| {
                format!(
                    "`{}` has the shape {:?}, not {RANK} sizes",
                    self.name, self.shape
                )
            })
    }

    /// The rows and columns of a matrix.
    pub(super) fn matrix(&self) -> Result<[usize; 2], String> {
        self.sizes()
    }

    /// The bytes of a tensor of type U8.
    pub(super) fn raw(&self) -> Result<&[u8], String> {
        match self.dtype.as_str() {
            "U8" => Ok(&self.bytes),
            other => Err(format!("`{}` has the type {other}, not U8", self.name)),
        }
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

    /// Refuses a tensor with another number of bytes than its shape has.
    fn complete(self) -> Result<Self, String> {
        // Types that are not read here have none that is known.
        let expected = size(&self.dtype).map(|size| self.count().saturating_mul(size));
        match expected.is_none_or(|expected| expected == self.bytes.len()) {
            true => Ok(self),
            false => Err(format!(
                "`{}` has {} bytes, but the shape {:?} of {}",
                self.name,
                self.bytes.len(),
                self.shape,
                self.dtype
            )),
        }
    }
}

/// The bytes of an element.
pub(super) fn size(dtype: &str) -> Option<usize> {
    match dtype {
        "I8" | "U8" | "BOOL" | "F8_E4M3" | "F8_E4M3FNUZ" | "F8_E5M2" | "F8_E8M0" => Some(1),
        "F16" | "BF16" | "I16" | "U16" => Some(2),
        "F32" | "I32" | "U32" => Some(4),
        "F64" | "I64" | "U64" => Some(8),
        _ => None,
    }
}
