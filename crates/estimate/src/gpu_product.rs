//! The copies of its factors that a GPU's kernel of a matrix product makes: cubek 0.2 orders a
//! factor first whose dimensions are in an order that the kernel does not read.

use crate::tensor::{AllocatedTensor, ElementType, workspace};

/// As `testgen-gpu` decides between its kernels, on a GPU whose matrix units compute 16 bits.
const SMALL: u64 = 1 << 25;
/// The side of a matrix unit's tile.
const TILE: u64 = 16;

/// `left` [.., rows, inner] and `right` [.., inner, columns] as the kernel reads them.
pub(crate) fn ordered(left: AllocatedTensor, right: AllocatedTensor) -> [AllocatedTensor; 2] {
    let kernel = kernel(&left, &right);
    let orders = [&left, &right].map(|factor| order(factor.strides()));
    match kernel {
        GpuKernel::AnyOrder => [left, right],
        GpuKernel::Tiles => {
            let [mixed_left, mixed_right] = orders.map(|order| order == BatchOrder::Mixed);
            [copied_if(mixed_left, left), copied_if(mixed_right, right)]
        }
        GpuKernel::Naive => {
            // One thread for each element, which reads a row and a column.
            let left = copied_if(orders[0] != BatchOrder::Rows, left);
            let last = right.dims().len() - 1;
            let columns = right.swap(last - 1, last);
            let columns = copied_if(orders[1] != BatchOrder::Columns, columns);
            [left, columns.swap(last - 1, last)]
        }
    }
}

/// A copy with aligned rows, in place of the factor.
fn copied_if(copied: bool, factor: AllocatedTensor) -> AllocatedTensor {
    if copied {
        workspace(factor.machine(), factor.dims(), factor.element)
    } else {
        factor
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GpuKernel {
    /// Reads the right factor row by row, by any distances.
    AnyOrder,
    Tiles,
    Naive,
}

fn kernel(left: &AllocatedTensor, right: &AllocatedTensor) -> GpuKernel {
    let last = left.dims().len() - 1;
    let [rows, inner] = [last - 1, last].map(|dimension| left.dims()[dimension]);
    let columns = right.dims()[last];
    let multiplications = rows.saturating_mul(inner).saturating_mul(columns);
    let in_rows = right.strides()[last] == 1 || columns == 1;
    match left.element {
        // In the order of `choose` in `testgen-gpu`: matrix units, rows, large tiles, single
        // elements.
        ElementType::F16 | ElementType::Bf16 if rows.min(inner).min(columns) >= TILE => {
            GpuKernel::Tiles
        }
        _ if in_rows && (rows < TILE || multiplications < SMALL) => GpuKernel::AnyOrder,
        _ if multiplications >= SMALL => GpuKernel::Tiles,
        _ => GpuKernel::Naive,
    }
}

/// The order of a batch of matrices in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchOrder {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
    /// With the dimensions of the batch exchanged among themselves.
    Exchanged,
    /// With dimensions of the batch between rows and columns, as the heads of attention are.
    Mixed,
}

fn order(strides: &[u64]) -> BatchOrder {
    let (batch, matrix) = strides.split_at(strides.len() - 2);
    let [row, column] = [matrix[0], matrix[1]];
    // Heads that were split from the width: the step to the next head is shorter than to the next
    // row.
    if batch.iter().any(|stride| *stride < row.max(column)) {
        return BatchOrder::Mixed;
    }
    let mut previous = row;
    let exchanged = batch
        .iter()
        .rev()
        .any(|stride| std::mem::replace(&mut previous, *stride) > *stride);
    match (exchanged, row < column) {
        (true, _) => BatchOrder::Exchanged,
        (false, true) => BatchOrder::Columns,
        (false, false) => BatchOrder::Rows,
    }
}
