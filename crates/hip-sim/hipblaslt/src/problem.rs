//! The product that an operation and the layouts of its matrices describe.

use crate::descriptor::{Layout, Operation};
use crate::numbers::Status;
use hip_sim::{Matrix, Product, SumOrder};
use std::ffi::c_void;

/// The addresses of A, B, C and D.
pub(crate) type Addresses = [*mut c_void; 4];

/// The solution indices: one for each order of sums, with the bytes of workspace that it needs.
pub(crate) const SOLUTIONS: [(i32, u64); 3] = [(51, 0), (52, 0), (877, 4096)];

/// The order of sums of a solution.
pub(crate) fn order(solution: i32) -> Result<SumOrder, Status> {
    let known = SOLUTIONS.iter().zip(SumOrder::ALL).find(|((index, _), _)| *index == solution);
    known.map(|(_, order)| order).ok_or(Status::InvalidValue)
}

/// The product, after the comparison of all sizes.
///
/// # Safety
///
/// `operation` and `layouts` are null or came from this library.
pub(crate) unsafe fn product(
    operation: *mut c_void,
    layouts: [*mut c_void; 4],
    addresses: Addresses,
    order: SumOrder,
) -> Result<Product, Status> {
    // SAFETY: as the caller promises.
    let operation = unsafe { operation.cast::<Operation>().as_ref() }.ok_or(Status::InvalidValue)?;
    // SAFETY: as the caller promises.
    let [a, b, c, d] = layouts.map(|layout| unsafe { layout.cast::<Layout>().as_ref() });
    let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) else { return Err(Status::InvalidValue) };
    let turned = |layout: &Layout, transposed| {
        if transposed { [layout.columns, layout.rows] } else { [layout.rows, layout.columns] }
    };
    let [rows, inner] = turned(a, operation.transposed[0]);
    let [length, columns] = turned(b, operation.transposed[1]);
    let fits = length == inner && [c, d].iter().all(|layout| [layout.rows, layout.columns] == [rows, columns]);
    if !fits || [a, b, c].iter().any(|layout| layout.batch != d.batch) || d.batch < 1 {
        return Err(Status::InvalidValue);
    }
    if a.number != b.number || c.number != d.number {
        return Err(Status::NotSupported);
    }
    let matrix = |layout: &Layout, data| {
        let stride = usize::try_from(layout.stride).map_err(|_| Status::InvalidValue)?;
        Ok(Matrix { data, number: layout.number, leading: layout.leading, stride })
    };
    Ok(Product {
        sizes: [rows, columns, inner],
        batch: usize::try_from(d.batch).map_err(|_| Status::InvalidValue)?,
        transposed: operation.transposed,
        alpha: 1.0,
        beta: 0.0,
        a: matrix(a, addresses[0])?,
        b: matrix(b, addresses[1])?,
        c: matrix(c, addresses[2])?,
        d: matrix(d, addresses[3])?,
        xf32: operation.xf32,
        order,
    })
}
