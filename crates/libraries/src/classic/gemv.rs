//! A product of a matrix and a vector by the functions `gemv` of BLAS, which cuBLAS and rocBLAS
//! have with the same parameters: a product with one column or with one row.

use crate::{
    blas::Buffers,
    gpu::DeviceAddress,
    number_type::NumberType,
    product::{ComputeType, GemmCall, GemmTypes, MatrixStorage, Operand},
};
use std::ffi::{c_int, c_void};

/// `sgemv`.
pub(super) type GemvFunction = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    *const c_void,
    c_int,
    *const c_void,
    *mut c_void,
    c_int,
) -> c_int;

/// `gemv` of a batch, with a stride after each operand.
pub(super) type BatchedGemvFunction = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    i64,
    *const c_void,
    c_int,
    i64,
    *const c_void,
    *mut c_void,
    c_int,
    i64,
    c_int,
) -> c_int;

/// The functions of a library. All take alpha and beta as f32 and compute sums in f32.
#[derive(Clone, Copy)]
pub(super) struct GemvFunctions {
    /// One product of f32.
    pub(super) single: GemvFunction,
    /// A batch of f32.
    pub(super) batched: BatchedGemvFunction,
    /// A batch of f16, whose result is f16; there is no function of one product.
    pub(super) half: BatchedGemvFunction,
    /// A batch of bf16, likewise.
    pub(super) bfloat: BatchedGemvFunction,
}

/// y = alpha * op(A) * x + beta * y in the numbers of BLAS.
pub(super) struct GemvCall {
    number: NumberType,
    /// Whether op(A) is the transpose of A.
    pub(super) transposed: bool,
    /// The rows and columns of A as it is stored.
    sizes: [c_int; 2],
    alpha: f32,
    beta: f32,
    matrix: GemvOperand,
    x: GemvOperand,
    y: GemvOperand,
    batch: c_int,
}

/// A matrix or a vector.
struct GemvOperand {
    data: *mut c_void,
    /// Elements from a column to the next, or from an element of a vector to the next.
    step: c_int,
    /// Elements to the same operand of the next product.
    stride: i64,
}

impl GemvOperand {
    fn new(stored: MatrixStorage, step: usize, address: DeviceAddress) -> Self {
        Self {
            data: address.pointer(),
            step: step as c_int,
            stride: stored.stride as i64,
        }
    }
}

impl GemvCall {
    /// `None` if the product has more than one row and column, or types without such a function.
    pub(super) fn new(product: &GemmCall, buffers: Buffers) -> Option<Self> {
        let number = number(product.arithmetic)?;
        // Of a matrix without elements BLAS leaves y as it is, whatever beta is: not the product.
        if !product.is_plain() || product.inner == 0 {
            return None;
        }
        let [a, b, d] = [Operand::A, Operand::B, Operand::D].map(|operand| product.stored(operand));
        let [turned_a, turned_b] = product.transposed;
        let [a, b] = [(a, buffers.a), (b, buffers.b)];
        // A vector that is stored as a row has the leading dimension as its increment.
        let (matrix, transposed, x, is_row, step_of_y) = match (product.rows, product.columns) {
            (_, 1) => (a, turned_a, b, turned_b, 1),
            // The transpose: a row is the product of the transposed op(B) and a column.
            (1, _) => (b, !turned_b, a, !turned_a, d.leading),
            _ => return None,
        };
        let step_of_x = if is_row { x.0.leading } else { 1 };
        Some(Self {
            number,
            transposed,
            sizes: [matrix.0.rows, matrix.0.columns].map(|size| size as c_int),
            alpha: product.alpha as f32,
            beta: product.beta as f32,
            matrix: GemvOperand::new(matrix.0, matrix.0.leading, matrix.1),
            x: GemvOperand::new(x.0, step_of_x, x.1),
            y: GemvOperand::new(d, step_of_y, buffers.d),
            batch: product.batch as c_int,
        })
    }

    /// Starts the product and returns the status of the library.
    ///
    /// # Safety
    ///
    /// `functions` and `handle` are of the same library; the operands have the bytes that the sizes
    /// state; alpha and beta are read from the host before the call returns.
    pub(super) unsafe fn start(
        &self,
        functions: GemvFunctions,
        handle: *mut c_void,
        operation: c_int,
    ) -> c_int {
        let [m, n] = self.sizes;
        let (alpha, beta) = (
            (&raw const self.alpha).cast(),
            (&raw const self.beta).cast(),
        );
        let Self { matrix, x, y, .. } = self;
        let batched = match (self.number, self.batch) {
            (NumberType::F32, 1) => {
                // SAFETY: as the caller promises.
                return unsafe {
                    (functions.single)(
                        handle,
                        operation,
                        m,
                        n,
                        alpha,
                        matrix.data,
                        matrix.step,
                        x.data,
                        x.step,
                        beta,
                        y.data,
                        y.step,
                    )
                };
            }
            (NumberType::F16, _) => functions.half,
            (NumberType::Bf16, _) => functions.bfloat,
            _ => functions.batched,
        };
        // SAFETY: as the caller promises.
        unsafe {
            batched(
                handle,
                operation,
                m,
                n,
                alpha,
                matrix.data,
                matrix.step,
                matrix.stride,
                x.data,
                x.step,
                x.stride,
                beta,
                y.data,
                y.step,
                y.stride,
                self.batch,
            )
        }
    }
}

/// The type of all elements, if there is a function for it.
fn number(arithmetic: GemmTypes) -> Option<NumberType> {
    let GemmTypes {
        factors: [a, b],
        result,
        compute,
    } = arithmetic;
    let has_function = matches!(result, NumberType::F32 | NumberType::F16 | NumberType::Bf16);
    // No parameter of these functions asks for TF32 or XF32.
    (has_function && a == result && b == result && compute == ComputeType::F32).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::GemvCall;
    use crate::{
        blas::Buffers,
        product::{Gemm, GemmCall, GemmTypes},
    };
    use testgen_types::Precision;

    /// Transposition, sizes, and the steps of the matrix, of x and of y.
    fn call(sizes: [usize; 3], transposed: [bool; 2]) -> Option<(bool, [i32; 2], [i32; 3])> {
        let product = Gemm {
            transposed,
            padding: 1,
            ..Gemm::new(sizes, GemmTypes::for_precision(Precision::F32))
        };
        let call = GemvCall::new(&GemmCall::from(&product), Buffers::unread())?;
        let steps = [call.matrix.step, call.x.step, call.y.step];
        Some((call.transposed, call.sizes, steps))
    }

    #[test]
    fn a_column_is_the_matrix_a_times_a_vector() {
        let column = |transposed| call([5, 1, 7], transposed);
        assert_eq!(column([false, false]), Some((false, [5, 7], [6, 1, 1])));
        assert_eq!(column([true, false]), Some((true, [7, 5], [8, 1, 1])));
        assert_eq!(column([false, true]), Some((false, [5, 7], [6, 2, 1])));
    }

    #[test]
    fn a_row_is_the_transposed_matrix_b_times_a_vector() {
        let row = |transposed| call([1, 5, 7], transposed);
        assert_eq!(row([false, false]), Some((true, [7, 5], [8, 2, 2])));
        assert_eq!(row([false, true]), Some((false, [5, 7], [6, 2, 2])));
        assert_eq!(row([true, false]), Some((true, [7, 5], [8, 1, 2])));
    }

    #[test]
    fn other_products_are_none() {
        assert_eq!(call([5, 2, 7], [false; 2]), None);
        assert_eq!(call([5, 1, 0], [false; 2]), None);
        let tf32 = Gemm::new([5, 1, 7], GemmTypes::for_precision(Precision::Tf32));
        assert!(GemvCall::new(&GemmCall::from(&tf32), Buffers::unread()).is_none());
    }
}
