//! `model.safetensors`, written by all processors in pieces of a few megabytes.

use crate::{
    error::SyntheticError,
    recipe::{Recipe, SyntheticTensor},
    tensor_values::{TensorValues, WORDS},
};
use serde_json::Value;
use std::{
    fmt::Write,
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The values that a thread computes before it writes them, a multiple of a block.
const PIECE: u64 = WORDS << 18;

/// Writes the weights of `recipe` to `path`.
pub(crate) fn write(recipe: &Recipe, path: &Path) -> Result<(), SyntheticError> {
    let tensors = recipe.tensors()?;
    let header = header(&tensors);
    let pieces = pieces(&tensors, header.len() as u64);
    let bytes = header.len() as u64 + tensors.iter().map(SyntheticTensor::bytes).sum::<u64>();
    let written = File::create(path).and_then(|file| {
        file.write_all_at(&header, 0)?;
        file.set_len(bytes)?;
        write_pieces(&file, recipe.seed, &tensors, &pieces)
    });
    written.map_err(|source| SyntheticError::Write {
        path: path.to_owned(),
        bytes,
        source,
    })
}

/// Consecutive values of a tensor.
struct WeightsPiece {
    tensor: usize,
    /// The index of the first value.
    start: u64,
    /// The place of the first value in the file.
    position: u64,
}

/// The length of the header in 8 bytes, then the header, which spaces fill up to a multiple of 8.
fn header(tensors: &[SyntheticTensor]) -> Vec<u8> {
    let mut text = r#"{"__metadata__":{"format":"pt"}"#.to_owned();
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.bytes();
        let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
        let _ = write!(
            text,
            r#",{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{start},{end}]}}"#,
            Value::from(tensor.name.as_str()),
            tensor.dtype.as_str(),
            shape.join(",")
        );
        start = end;
    }
    text.push('}');
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

/// Every thread takes the next piece until there is none, or a write fails.
fn write_pieces(
    file: &File,
    seed: u64,
    tensors: &[SyntheticTensor],
    pieces: &[WeightsPiece],
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tensor = &tensors[piece.tensor];
            let end = tensor.count().min(piece.start + PIECE);
            TensorValues::new(seed, tensor).write(tensor.dtype, piece.start..end, &mut bytes);
            if let Err(error) = file.write_all_at(&bytes, piece.position) {
                next.store(pieces.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(|thread| {
            let panicked = |_| Err(io::Error::other("a thread of the writer panicked"));
            thread.join().unwrap_or_else(panicked)
        });
        // All are joined before the first error is returned.
        results.collect::<Vec<_>>().into_iter().collect()
    })
}
