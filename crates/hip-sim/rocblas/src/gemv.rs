//! Products of a matrix and a vector: `rocblas_sgemv`, and batches of f32, f16 and bf16.

use crate::handle::handle_at;
use crate::numbers::{RocblasStatus, guarded, is_transposed};
use hip_sim::{
    BlasFault, Fault, MatrixBatch, MatrixType, SimulatedEpilogue, SimulatedProduct, SumOrder,
    faults,
};
use std::ffi::{c_int, c_void};

/// A matrix, or a vector as one row: data, elements from a column or an element to the next, and stride.
type GemvMatrix = (*const c_void, c_int, i64);

/// The arguments that all functions have.
struct GemvArguments {
    handle: *mut c_void,
    operation: c_int,
    sizes: [c_int; 2],
    scalars: [*const f32; 2],
    number: MatrixType,
    a: GemvMatrix,
    x: GemvMatrix,
    y: GemvMatrix,
    batch: c_int,
}

impl GemvArguments {
    /// The product as one of matrices, or `None` if there is nothing to compute. Vectors with
    /// negative increments, which testgen does not pass, are refused.
    ///
    /// # Safety
    ///
    /// The handle came from this library; alpha and beta can be read.
    unsafe fn product(&self) -> Result<Option<SimulatedProduct>, RocblasStatus> {
        // SAFETY: as the caller promises.
        unsafe { handle_at(self.handle)? };
        let transposed = is_transposed(self.operation)?;
        let [m, n] = [size(self.sizes[0], 0)?, size(self.sizes[1], 0)?];
        let batch = size(self.batch, 0)?;
        let [a, x, y] = [
            self.operand(self.a, m.max(1))?,
            self.operand(self.x, 1)?,
            self.operand(self.y, 1)?,
        ];
        // y stays as it is, whatever beta is.
        if m == 0 || n == 0 || batch == 0 {
            return Ok(None);
        }
        if self.scalars.iter().any(|scalar| scalar.is_null()) {
            return Err(RocblasStatus::InvalidPointer);
        }
        // SAFETY: as the caller promises.
        let [alpha, beta] = self.scalars.map(|scalar| unsafe { scalar.read() });
        if y.data.is_null() || alpha != 0.0 && (a.data.is_null() || x.data.is_null()) {
            return Err(RocblasStatus::InvalidPointer);
        }
        let [length, inner] = if transposed { [n, m] } else { [m, n] };
        // The row y is the row x times the transpose of op(A): vectors with an increment are rows.
        Ok(Some(SimulatedProduct {
            sizes: [1, length, inner],
            batch,
            transposed: [false, !transposed],
            alpha,
            beta,
            a: x,
            b: a,
            c: y,
            d: y,
            xf32: false,
            order: SumOrder::Forward,
            scales: [1.0; 2],
            epilogue: SimulatedEpilogue::default(),
        }))
    }

    fn operand(
        &self,
        (data, step, stride): GemvMatrix,
        least: usize,
    ) -> Result<MatrixBatch, RocblasStatus> {
        Ok(MatrixBatch {
            data: data.cast_mut(),
            number: self.number,
            leading: size(step, least)?,
            stride: usize::try_from(stride).map_err(|_| RocblasStatus::InvalidSize)?,
        })
    }

    /// Computes the product.
    ///
    /// # Safety
    ///
    /// As for [`rocblas_sgemv`].
    unsafe fn compute(&self) -> c_int {
        guarded(|| {
            // SAFETY: as the caller promises.
            let Some(product) = (unsafe { self.product()? }) else {
                return Ok(());
            };
            let is_wrong = faults().any(|fault| *fault == Fault::Blas(BlasFault::Gemv));
            let product = if is_wrong {
                with_other_transposition(product)
            } else {
                product
            };
            // SAFETY: as the caller promises; a wrong transposition reads the same memory.
            unsafe { product.compute(faults()) }.map_err(|_| RocblasStatus::InternalError)
        })
    }
}

/// The product with the matrix read in the order of memory, as if it were stored by rows.
fn with_other_transposition(mut product: SimulatedProduct) -> SimulatedProduct {
    let [_, length, inner] = product.sizes;
    product.transposed[1] = !product.transposed[1];
    // Without padding, so that no element is after the last one of the matrix.
    product.b.leading = if product.transposed[1] { length } else { inner };
    product
}

/// A size, which is at least `least`.
fn size(size: c_int, least: usize) -> Result<usize, RocblasStatus> {
    let size = usize::try_from(size).ok();
    size.filter(|size| *size >= least)
        .ok_or(RocblasStatus::InvalidSize)
}

/// `rocblas_sgemv`.
///
/// # Safety
///
/// `handle` came from this library; alpha and beta can be read, the elements of A, x and y read,
/// and the elements of y written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_sgemv(
    handle: *mut c_void,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const f32,
    a: *const c_void,
    lda: c_int,
    x: *const c_void,
    incx: c_int,
    beta: *const f32,
    y: *mut c_void,
    incy: c_int,
) -> c_int {
    let arguments = GemvArguments {
        handle,
        operation: trans,
        sizes: [m, n],
        scalars: [alpha, beta],
        number: MatrixType::F32,
        a: (a, lda, 0),
        x: (x, incx, 0),
        y: (y.cast_const(), incy, 0),
        batch: 1,
    };
    // SAFETY: as the caller promises.
    unsafe { arguments.compute() }
}

// The functions of batches are written out, because a test reads their signatures from this file
// and compares them with the published header.

/// `rocblas_sgemv_strided_batched`.
///
/// # Safety
///
/// As for [`rocblas_sgemv`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_sgemv_strided_batched(
    handle: *mut c_void,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const f32,
    a: *const c_void,
    lda: c_int,
    stride_a: i64,
    x: *const c_void,
    incx: c_int,
    stride_x: i64,
    beta: *const f32,
    y: *mut c_void,
    incy: c_int,
    stride_y: i64,
    batch_count: c_int,
) -> c_int {
    let arguments = GemvArguments {
        handle,
        operation: trans,
        sizes: [m, n],
        scalars: [alpha, beta],
        number: MatrixType::F32,
        a: (a, lda, stride_a),
        x: (x, incx, stride_x),
        y: (y.cast_const(), incy, stride_y),
        batch: batch_count,
    };
    // SAFETY: as the caller promises.
    unsafe { arguments.compute() }
}

/// `rocblas_hshgemv_strided_batched`.
///
/// # Safety
///
/// As for [`rocblas_sgemv`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_hshgemv_strided_batched(
    handle: *mut c_void,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const f32,
    a: *const c_void,
    lda: c_int,
    stride_a: i64,
    x: *const c_void,
    incx: c_int,
    stride_x: i64,
    beta: *const f32,
    y: *mut c_void,
    incy: c_int,
    stride_y: i64,
    batch_count: c_int,
) -> c_int {
    let arguments = GemvArguments {
        handle,
        operation: trans,
        sizes: [m, n],
        scalars: [alpha, beta],
        number: MatrixType::F16,
        a: (a, lda, stride_a),
        x: (x, incx, stride_x),
        y: (y.cast_const(), incy, stride_y),
        batch: batch_count,
    };
    // SAFETY: as the caller promises.
    unsafe { arguments.compute() }
}

/// `rocblas_tstgemv_strided_batched`.
///
/// # Safety
///
/// As for [`rocblas_sgemv`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_tstgemv_strided_batched(
    handle: *mut c_void,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const f32,
    a: *const c_void,
    lda: c_int,
    stride_a: i64,
    x: *const c_void,
    incx: c_int,
    stride_x: i64,
    beta: *const f32,
    y: *mut c_void,
    incy: c_int,
    stride_y: i64,
    batch_count: c_int,
) -> c_int {
    let arguments = GemvArguments {
        handle,
        operation: trans,
        sizes: [m, n],
        scalars: [alpha, beta],
        number: MatrixType::Bf16,
        a: (a, lda, stride_a),
        x: (x, incx, stride_x),
        y: (y.cast_const(), incy, stride_y),
        batch: batch_count,
    };
    // SAFETY: as the caller promises.
    unsafe { arguments.compute() }
}
