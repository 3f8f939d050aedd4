//! The product that an operation and the layouts of its matrices describe.

use crate::descriptor::{MatmulOperation, MatrixLayout};
use crate::numbers::HipblasStatus;
use hip_sim::{MatrixBatch, MatrixType, SimulatedEpilogue, SimulatedProduct, SumOrder};
use std::ffi::c_void;

/// The addresses of A, B, C and D.
pub(crate) type Addresses = [*mut c_void; 4];

/// The solution indices: one for each order of sums, with the bytes of workspace that it needs.
pub(crate) const SOLUTIONS: [(i32, u64); 3] = [(51, 0), (52, 0), (877, 4096)];

/// The order of sums of a solution.
pub(crate) fn order(solution: i32) -> Result<SumOrder, HipblasStatus> {
    let known = SOLUTIONS
        .iter()
        .zip(SumOrder::ALL)
        .find(|((index, _), _)| *index == solution);
    known
        .map(|(_, order)| order)
        .ok_or(HipblasStatus::InvalidValue)
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
) -> Result<SimulatedProduct, HipblasStatus> {
    // SAFETY: as the caller promises.
    let operation = unsafe { operation.cast::<MatmulOperation>().as_ref() }
        .ok_or(HipblasStatus::InvalidValue)?;
    // SAFETY: as the caller promises.
    let [a, b, c, d] = layouts.map(|layout| unsafe { layout.cast::<MatrixLayout>().as_ref() });
    let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) else {
        return Err(HipblasStatus::InvalidValue);
    };
    let [rows, inner] = turned(a, operation.transposed[0]);
    let [length, columns] = turned(b, operation.transposed[1]);
    let fits = length == inner
        && [c, d]
            .iter()
            .all(|layout| [layout.rows, layout.columns] == [rows, columns]);
    if !fits || [a, b, c].iter().any(|layout| layout.batch != d.batch) || d.batch < 1 {
        return Err(HipblasStatus::InvalidValue);
    }
    if !has_types(operation, [a, b, c, d].map(|layout| layout.number)) {
        return Err(HipblasStatus::NotSupported);
    }
    Ok(SimulatedProduct {
        sizes: [rows, columns, inner],
        batch: usize::try_from(d.batch).map_err(|_| HipblasStatus::InvalidValue)?,
        transposed: operation.transposed,
        alpha: 1.0,
        beta: 0.0,
        a: matrix(a, addresses[0])?,
        b: matrix(b, addresses[1])?,
        c: matrix(c, addresses[2])?,
        d: matrix(d, addresses[3])?,
        xf32: operation.xf32,
        order,
        scales: [1.0; 2],
        epilogue: epilogue(operation, d.number)?,
    })
}

/// Whether the library has products of these types.
fn has_types(operation: &MatmulOperation, [a, b, c, d]: [MatrixType; 4]) -> bool {
    use MatrixType::{E4m3Fnuz, E5m2Fnuz, I8, I32};
    // Types of 8 bits are factors only, and scales are for those with a floating point.
    let factors = match (operation.whole, a) {
        (true, _) => (a, b, d) == (I8, I8, I32),
        (false, E4m3Fnuz | E5m2Fnuz) => is_float8(b) && !matches!(d, I32),
        (false, _) => a == b && a != I8 && d != I32 && operation.scales == [0; 2],
    };
    factors && c == d && !is_float8(d) && d != I8
}

fn is_float8(number: MatrixType) -> bool {
    matches!(number, MatrixType::E4m3Fnuz | MatrixType::E5m2Fnuz)
}

fn epilogue(
    operation: &MatmulOperation,
    result: MatrixType,
) -> Result<SimulatedEpilogue, HipblasStatus> {
    if operation.has_bias && operation.bias == 0 {
        return Err(HipblasStatus::InvalidValue);
    }
    let bias = operation.has_bias.then_some(MatrixBatch {
        data: operation.bias as *mut c_void,
        number: operation.bias_type.unwrap_or(result),
        leading: 0,
        stride: 0,
    });
    Ok(SimulatedEpilogue {
        bias,
        activation: operation.activation,
    })
}

fn turned(layout: &MatrixLayout, transposed: bool) -> [usize; 2] {
    if transposed {
        [layout.columns, layout.rows]
    } else {
        [layout.rows, layout.columns]
    }
}

fn matrix(layout: &MatrixLayout, data: *mut c_void) -> Result<MatrixBatch, HipblasStatus> {
    let stride = usize::try_from(layout.stride).map_err(|_| HipblasStatus::InvalidValue)?;
    Ok(MatrixBatch {
        data,
        number: layout.number,
        leading: layout.leading,
        stride,
    })
}
