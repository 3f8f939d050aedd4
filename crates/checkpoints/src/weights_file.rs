//! `model.safetensors`, written by all processors in pieces of a few megabytes.

use crate::{
    error::SyntheticError,
    parallel,
    quantized::{DenseTensor, QuantizedWeights},
    random_words::WORDS,
    recipe::{Recipe, SyntheticTensor},
    tensor_values::TensorValues,
};
use serde_json::Value;
use std::{cmp::Reverse, fmt::Write, fs::File, io, os::unix::fs::FileExt, path::Path, thread};

/// The values that a thread computes before it writes them, a multiple of a block.
const PIECE: u64 = WORDS << 18;

/// Writes the weights of `recipe` to `path`.
pub(crate) fn write(recipe: &Recipe, path: &Path) -> Result<(), SyntheticError> {
    let tensors = recipe.tensors()?;
    let header = header(tensors.iter().map(HeaderLine::from));
    let pieces = pieces(&tensors, header.len() as u64);
    let bytes = header.len() as u64 + tensors.iter().map(SyntheticTensor::bytes).sum::<u64>();
    let written = File::create(path).and_then(|file| {
        file.write_all_at(&header, 0)?;
        file.set_len(bytes)?;
        write_pieces(&file, recipe.seed, &tensors, &pieces)
    });
    written.map_err(|source| failed(path, bytes, source))
}

/// Writes quantized weights to `path` as a model reads them.
///
/// A tensor's size is known when it is computed, after the place of the header: that has room for
/// the longest one.
pub(crate) fn write_dequantized(
    weights: &QuantizedWeights,
    path: &Path,
) -> Result<(), SyntheticError> {
    let names: Vec<&str> = weights.names().collect();
    let mut file = DenseFile::create(path, header_room(&names))?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut odd = Vec::new();
    // One tensor for each thread is in memory at a time, and not the whole model.
    for batch in names.chunks(threads) {
        for (name, tensor) in batch.iter().zip(dequantized(weights, batch)) {
            let tensor = tensor?;
            // After a few bytes, a tensor of wider values would not start at a multiple of their
            // width, which kernels may rely on, and safetensors permits no gap.
            if tensor.bytes.len().is_multiple_of(WIDEST) {
                file.append(name, tensor)?;
            } else {
                odd.push((*name, tensor));
            }
        }
    }
    odd.sort_by_key(|(_, tensor)| Reverse(tensor.width()));
    for (name, tensor) in odd {
        file.append(name, tensor)?;
    }
    file.finish()
}

/// The bytes of the widest values.
const WIDEST: usize = 8;

/// A file of dense weights that gets its header last, when the sizes are known.
struct DenseFile<'a> {
    path: &'a Path,
    file: File,
    /// The bytes before the tensors.
    room: u64,
    /// The bytes of the tensors so far.
    bytes: u64,
    /// Name, type, shape and bytes of each tensor.
    tensors: Vec<(&'a str, String, Vec<u64>, u64)>,
}

impl<'a> DenseFile<'a> {
    fn create(path: &'a Path, room: u64) -> Result<Self, SyntheticError> {
        let file = File::create(path).map_err(|source| failed(path, 0, source))?;
        Ok(Self {
            path,
            file,
            room,
            bytes: 0,
            tensors: Vec::new(),
        })
    }

    fn append(&mut self, name: &'a str, tensor: DenseTensor) -> Result<(), SyntheticError> {
        let (start, bytes) = (self.room + self.bytes, tensor.bytes.len() as u64);
        self.bytes += bytes;
        let written = self.file.write_all_at(&tensor.bytes, start);
        written.map_err(|source| failed(self.path, self.bytes, source))?;
        let shape = tensor.shape.iter().map(|size| *size as u64).collect();
        self.tensors.push((name, tensor.dtype, shape, bytes));
        Ok(())
    }

    fn finish(self) -> Result<(), SyntheticError> {
        let lines = self.tensors.iter();
        let header = header(lines.map(|(name, dtype, shape, bytes)| HeaderLine {
            name,
            dtype,
            shape: shape.clone(),
            bytes: *bytes,
        }));
        let written = self.file.write_all_at(&padded(header, self.room), 0);
        written.map_err(|source| failed(self.path, self.bytes, source))
    }
}

fn failed(path: &Path, bytes: u64, source: io::Error) -> SyntheticError {
    SyntheticError::Write {
        path: path.to_owned(),
        bytes,
        source,
    }
}

/// The tensors, each computed by a thread.
fn dequantized(
    weights: &QuantizedWeights,
    names: &[&str],
) -> Vec<Result<DenseTensor, SyntheticError>> {
    thread::scope(|scope| {
        let threads: Vec<_> = names
            .iter()
            // One thread for each name: the caller hands over as many names as there are
            // processors.
            .map(|name| scope.spawn(|| weights.tensor(name)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Bytes for any header with these names.
fn header_room(names: &[&str]) -> u64 {
    let names = names
        .iter()
        .map(|name| Value::from(*name).to_string().len() as u64);
    // A line has no more than eight sizes of 20 digits.
    // 64 has the length, the metadata, the last brace and the spaces up to a multiple of 8.
    (64 + names.map(|name| name + 320).sum::<u64>()).next_multiple_of(8)
}

/// The same header with spaces up to `room` bytes.
fn padded(mut header: Vec<u8>, room: u64) -> Vec<u8> {
    header[..8].copy_from_slice(&(room - 8).to_le_bytes());
    // safetensors permits spaces after the JSON.
    header.resize(room as usize, b' ');
    header
}

/// Consecutive values of a tensor.
struct WeightsPiece {
    tensor: usize,
    /// The index of the first value.
    start: u64,
    /// The place of the first value in the file.
    position: u64,
}

/// A tensor in the header of a file.
pub(crate) struct HeaderLine<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: &'a str,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: u64,
}

impl<'a> From<&'a SyntheticTensor> for HeaderLine<'a> {
    fn from(tensor: &'a SyntheticTensor) -> Self {
        Self {
            name: &tensor.name,
            dtype: tensor.dtype.as_str(),
            shape: tensor.shape.clone(),
            bytes: tensor.bytes(),
        }
    }
}

/// The length of the header in 8 bytes, then the header, which spaces fill up to a multiple of 8.
pub(crate) fn header<'a>(tensors: impl Iterator<Item = HeaderLine<'a>>) -> Vec<u8> {
    // transformers refuses a file whose metadata does not name its framework.
    let mut text = r#"{"__metadata__":{"format":"pt"}"#.to_owned();
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.bytes;
        let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
        let _ = write!(
            text,
            r#",{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{start},{end}]}}"#,
            Value::from(tensor.name),
            tensor.dtype,
            shape.join(",")
        );
        start = end;
    }
    text.push('}');
    // Tensors begin at a multiple of 8, so that a mapped file can be read in place.
    text.extend(std::iter::repeat_n(
        ' ',
        text.len().next_multiple_of(8) - text.len(),
    ));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn pieces(tensors: &[SyntheticTensor], header: u64) -> Vec<WeightsPiece> {
    let (mut pieces, mut position) = (Vec::new(), header);
    for (index, tensor) in tensors.iter().enumerate() {
        let starts = (0..tensor.count()).step_by(PIECE as usize);
        pieces.extend(starts.map(|start| WeightsPiece {
            tensor: index,
            start,
            position: position + start * tensor.dtype.size(),
        }));
        position += tensor.bytes();
    }
    pieces
}

fn write_pieces(
    file: &File,
    seed: u64,
    tensors: &[SyntheticTensor],
    pieces: &[WeightsPiece],
) -> io::Result<()> {
    parallel::for_each(pieces.len(), |index, bytes| {
        let piece = &pieces[index];
        let tensor = &tensors[piece.tensor];
        let end = tensor.count().min(piece.start + PIECE);
        TensorValues::new(seed, tensor).write(tensor.dtype, piece.start..end, bytes);
        file.write_all_at(bytes, piece.position)
    })
}
