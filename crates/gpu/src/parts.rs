//! The parts in which a tensor is copied between host and device: whole rows, a few mebibytes.
//!
//! cubecl-runtime 0.10 divides pinned memory into pages as it divides the memory of the device, so
//! that half a gigabyte to copy from is a page of five on a GPU of 80 GB. To pin such a page takes
//! longer than to copy all weights of most models (docs/measurements/performance.md).

use cubecl::{
    bytes::Bytes,
    server::CopyDescriptor,
    zspace::{shape, strides, striding::has_pitched_row_major_strides},
};

/// The bytes of a part, if a row is not larger.
// Parts of this size share a page of about a hundred mebibytes on GPUs of 24 to 192 GB.
const BYTES: usize = 4 << 20;

/// Rows of the last dimension of a tensor.
#[derive(Debug)]
pub(crate) struct Part {
    /// The first row, counted through all other dimensions.
    pub(crate) first: usize,
    pub(crate) copy: CopyDescriptor,
}

/// The parts of a tensor, in order; none for one without elements.
pub(crate) fn parts(copy: CopyDescriptor) -> Vec<Part> {
    let elements: usize = copy.shape.iter().product();
    if elements == 0 {
        return Vec::new();
    }
    let rank = copy.shape.len();
    // cubecl refuses other strides, and a tensor of one dimension is one row.
    if rank < 2 || !has_pitched_row_major_strides(&copy.shape, &copy.strides) {
        return vec![Part { first: 0, copy }];
    }
    let (width, pitch) = (copy.shape[rank - 1], copy.strides[rank - 2]);
    // At least one row, because a part never divides a row.
    let (rows, step) = (elements / width, (BYTES / (width * copy.elem_size)).max(1));
    if rows <= step {
        return vec![Part { first: 0, copy }];
    }
    (0..rows)
        .step_by(step)
        .map(|first| {
            let mut handle = copy.handle.clone();
            // By the pitch and not by the width: rows on the device may be padded.
            let skipped = (first * pitch * copy.elem_size) as u64;
            handle.offset_start = Some(handle.offset_start.unwrap_or(0) + skipped);
            let count = step.min(rows - first);
            let (shape, strides) = (shape![count, width], strides![pitch, 1]);
            let copy = CopyDescriptor::new(handle, shape, strides, copy.elem_size);
            Part { first, copy }
        })
        .collect()
}

/// The parts of all tensors, and how many each has.
pub(crate) fn parts_of_all(copies: Vec<CopyDescriptor>) -> (Vec<CopyDescriptor>, Vec<usize>) {
    let mut counts = Vec::with_capacity(copies.len());
    let mut all = Vec::new();
    for copy in copies {
        let parts = parts(copy);
        counts.push(parts.len());
        all.extend(parts.into_iter().map(|part| part.copy));
    }
    (all, counts)
}

/// The bytes of a tensor, from those of its parts.
pub(crate) fn joined(parts: impl Iterator<Item = Bytes>) -> Bytes {
    // A single part is handed on, without another copy of all its bytes.
    match <[Bytes; 1]>::try_from(parts.collect::<Vec<_>>()) {
        Ok([whole]) => whole,
        Err(parts) => {
            let mut all = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
            parts.iter().for_each(|part| all.extend_from_slice(part));
            Bytes::from_bytes_vec(all)
        }
    }
}
