//! A product whose right factor is stored row by row, as the weights of models are.
//!
//! For few rows and for small sizes cubek first copies such a factor into columns: for one token, a
//! copy of all weights. Here neighbouring threads read neighbouring columns of the factor as it is.
//! Like the other kernels of this module, it adds in an order that depends on the sizes only.

use super::rows::address_type;
use crate::runtime::GpuTensor;
use burn_backend::{DType, TensorMetadata};
use cubecl::prelude::*;

/// The columns of a block: a wave reads 32 neighbours in one access.
const COLUMNS: u32 = 32;
/// The rows of a block, which use what it reads of the right factor. A single row has its own
/// variant.
const ROWS: u32 = 4;

/// The sizes of a product with up to two batch dimensions, and the distances in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProductLayout {
    batches: usize,
    heads: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    left: [usize; 4],
    right: [usize; 4],
    output: [usize; 4],
}

/// Whether the kernel computes such a product: floating-point numbers, at most two batch
/// dimensions, and columns of `right` that are neighbours.
pub(crate) fn is_row_major_product(left: &GpuTensor, right: &GpuTensor) -> bool {
    let (dimensions, strides) = (right.shape().num_dims(), right.meta.strides());
    let is_float = matches!(left.dtype, DType::F32 | DType::F16 | DType::BF16);
    let columns = right.shape()[dimensions - 1];
    is_float
        && left.dtype == right.dtype
        && (2..=4).contains(&dimensions)
        && (strides[dimensions - 1] == 1 || columns == 1)
}

/// `left` [..., rows, inner] times `right` [..., inner, columns], into `output`.
///
/// # Errors
///
/// When the columns of `right` are not neighbours, there are more than two batch dimensions, or the
/// numbers are not floating-point.
pub fn row_major_product(
    left: &GpuTensor,
    right: &GpuTensor,
    output: &GpuTensor,
) -> Result<(), String> {
    if !is_row_major_product(left, right) {
        return Err("the right factor is not row-major, or not of floats".to_owned());
    }
    let layout = ProductLayout::new(left, right, output);
    let rows_of_block = if layout.rows == 1 { 1 } else { ROWS };
    let slices = slices(layout.inner);
    let column_blocks = layout.columns.div_ceil(COLUMNS as usize);
    let row_blocks = layout.rows.div_ceil(rows_of_block as usize);
    let count = column_blocks * row_blocks * layout.batches * layout.heads;
    // Drivers refuse a grid without blocks.
    if count == 0 {
        return Ok(());
    }
    matmul_row_major::launch(
        &output.client,
        CubeCount::Static(count as u32, 1, 1),
        CubeDim::new_1d(COLUMNS * slices),
        address_type([left, right, output]),
        left.clone().into_array_arg(),
        right.clone().into_array_arg(),
        output.clone().into_array_arg(),
        column_blocks,
        row_blocks,
        layout.heads,
        layout.rows,
        layout.inner,
        layout.columns,
        layout.left[0],
        layout.left[1],
        layout.left[2],
        layout.left[3],
        layout.right[0],
        layout.right[1],
        layout.right[2],
        layout.output[0],
        layout.output[1],
        layout.output[2],
        layout.output[3],
        slices,
        rows_of_block,
        output.dtype.into(),
    );
    Ok(())
}

/// The parts of a sum that threads of a block add at the same time: one of three, so that few
/// variants are compiled. A part has at least 32 terms, or all.
fn slices(inner: usize) -> u32 {
    match inner {
        ..128 => 1,
        128..512 => 4,
        _ => 16,
    }
}

impl ProductLayout {
    fn new(left: &GpuTensor, right: &GpuTensor, output: &GpuTensor) -> Self {
        let [batches, heads, rows, columns] = four(output.shape().as_slice(), 1);
        let [_, _, _, inner] = four(left.shape().as_slice(), 1);
        Self {
            batches,
            heads,
            rows,
            inner,
            columns,
            left: distances(left),
            right: distances(right),
            output: distances(output),
        }
    }
}

/// The last four of `values`, with `missing` in front.
fn four(values: &[usize], missing: usize) -> [usize; 4] {
    let mut all = [missing; 4];
    all[4 - values.len()..].copy_from_slice(values);
    all
}

/// The distances of neighbours in each of four dimensions; 0 where the only element is repeated.
fn distances(tensor: &GpuTensor) -> [usize; 4] {
    let strides = four(tensor.meta.strides(), 0);
    let shape = four(tensor.shape().as_slice(), 1);
    [0, 1, 2, 3].map(|dimension| match shape[dimension] {
        1 => 0,
        _ => strides[dimension],
    })
}

#[cube(launch, address_type = "dynamic")]
fn matmul_row_major<F: Float>(
    left: &Array<F>,
    right: &Array<F>,
    output: &mut Array<F>,
    column_blocks: usize,
    row_blocks: usize,
    heads: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    left_batch: usize,
    left_head: usize,
    left_row: usize,
    left_term: usize,
    right_batch: usize,
    right_head: usize,
    right_term: usize,
    output_batch: usize,
    output_head: usize,
    output_row: usize,
    output_column: usize,
    #[comptime] slices: u32,
    #[comptime] rows_of_block: u32,
    #[define(F)] _type: StorageType,
) {
    let lane = UNIT_POS as usize % COLUMNS as usize;
    let slice = UNIT_POS as usize / COLUMNS as usize;
    let column = CUBE_POS % column_blocks * COLUMNS as usize + lane;
    let first_row = CUBE_POS / column_blocks % row_blocks * rows_of_block as usize;
    let matrix = CUBE_POS / column_blocks / row_blocks;
    let (batch, head) = (matrix / heads, matrix % heads);

    let left_start = batch * left_batch + head * left_head;
    let right_start = batch * right_batch + head * right_head + column;
    let mut sums = Array::<f32>::new(rows_of_block as usize);
    #[unroll]
    for row in 0..rows_of_block {
        sums[row as usize] = 0.0;
    }
    // Without an early end: threads beyond the last column must reach the synchronisation below.
    if column < columns {
        let mut term = slice;
        while term < inner {
            let factor = f32::cast_from(right[right_start + term * right_term]);
            #[unroll]
            for row in 0..rows_of_block {
                // Rows after the last one compute the last one again, and are not written.
                let own_row = first_row + row as usize;
                let row_index = select(own_row < rows, own_row, rows - 1);
                let value = left[left_start + row_index * left_row + term * left_term];
                sums[row as usize] += f32::cast_from(value) * factor;
            }
            term += slices as usize;
        }
    }
    if comptime!(slices > 1) {
        let mut shared = SharedMemory::<f32>::new((rows_of_block * slices * COLUMNS) as usize);
        let row_size = (slices * COLUMNS) as usize;
        let position = UNIT_POS as usize;
        #[unroll]
        for row in 0..rows_of_block {
            shared[row as usize * row_size + position] = sums[row as usize];
        }
        sync_cube();
        let mut active = (slices / 2).runtime() as usize;
        while active > 0 {
            if slice < active {
                #[unroll]
                for row in 0..rows_of_block {
                    let own = row as usize * row_size + position;
                    let other = shared[own + active * COLUMNS as usize];
                    shared[own] += other;
                }
            }
            sync_cube();
            active /= 2;
        }
        #[unroll]
        for row in 0..rows_of_block {
            sums[row as usize] = shared[row as usize * row_size + lane];
        }
    }
    if slice == 0 && column < columns {
        let start = batch * output_batch + head * output_head + column * output_column;
        #[unroll]
        for row in 0..rows_of_block {
            let row_index = first_row + row as usize;
            if row_index < rows {
                output[start + row_index * output_row] = F::cast_from(sums[row as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{four, slices};

    #[test]
    fn a_matrix_is_one_of_one_batch() {
        assert_eq!(four(&[5, 7], 1), [1, 1, 5, 7]);
        assert_eq!(four(&[2, 3, 5, 7], 1), [2, 3, 5, 7]);
        assert_eq!(four(&[7, 1], 0), [0, 0, 7, 1]);
    }

    #[test]
    fn a_part_of_a_sum_has_32_terms() {
        for inner in [1, 127, 128, 511, 512, 8192] {
            assert!(slices(inner) == 1 || inner / slices(inner) as usize >= 32);
            assert!(slices(inner).is_power_of_two());
        }
    }
}
