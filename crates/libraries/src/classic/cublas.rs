//! cuBLAS: `cublasGemmEx` and `cublasGemmStridedBatchedEx`, where C and D are one matrix, and
//! `gemv`.

use super::{
    cublas_functions::{CublasFunctions, CublasGemvFunctions},
    gemv::{GemvCall, GemvFunctions},
};
use crate::{
    blas::{Algorithm, AlgorithmHandle, Blas, Buffers, PartialSums},
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::{LibraryError, check},
    lt::{CUBLAS_STATUSES, cuda_version, data_type},
    product::{ComputeType, GemmCall, MatrixStorage, Operand},
};
use std::{
    ffi::{c_int, c_longlong, c_void},
    ptr::null_mut,
    rc::Rc,
};
use testgen_device::SharedLibrary;

/// The algorithm that cuBLAS chooses. Since compute capability 8.0 the other numbers have no
/// effect.
const DEFAULT: c_int = -1;

/// `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`: parts of a sum are not added in the type of
/// the result.
pub const CUBLAS_SUMS_IN_SINGLE: c_int = 16;

/// cuBLAS on one device.
pub(crate) struct Cublas {
    gpu: Rc<dyn LibraryGpu>,
    functions: CublasFunctions,
    gemv: Option<GemvFunctions>,
    handle: *mut c_void,
    version: String,
}

impl Cublas {
    pub(crate) fn open(
        library: &SharedLibrary,
        gpu: Rc<dyn LibraryGpu>,
        sums: PartialSums,
    ) -> Result<Self, LibraryError> {
        let functions = CublasFunctions::load(library, "cublas")
            .map_err(|symbol| LibraryError::missing(library, symbol))?;
        let gemv = CublasGemvFunctions::load(library, "cublas").ok();
        gpu.make_current()?;
        let (mut handle, mut version) = (null_mut(), 0);
        // SAFETY: `handle` is writable for the whole call.
        status("cublasCreate", unsafe { (functions.create)(&mut handle) })?;
        // SAFETY: the handle came from the library, and `version` is writable for the whole call.
        status("cublasGetVersion", unsafe {
            (functions.version)(handle, &mut version)
        })?;
        if sums == PartialSums::Single {
            // SAFETY: the handle came from the library.
            status("cublasSetMathMode", unsafe {
                (functions.set_math_mode)(handle, CUBLAS_SUMS_IN_SINGLE)
            })?;
        }
        Ok(Self {
            gpu,
            functions,
            gemv: gemv.map(GemvFunctions::from),
            handle,
            version: cuda_version(usize::try_from(version).unwrap_or(0)),
        })
    }

    /// Computes the product of a matrix and a vector.
    fn multiply_vector(&self, product: &GemmCall, buffers: Buffers) -> Result<(), LibraryError> {
        let (Some(functions), Some(call)) = (self.gemv, GemvCall::new(product, buffers)) else {
            let reason = format!("cublas has no gemv of {product}");
            return Err(LibraryError::Unsupported { reason });
        };
        let operation = c_int::from(call.transposed);
        // SAFETY: the handle and the functions came from one library; the operands have the bytes
        // that the sizes state, and the pointer mode is set to the host.
        status("cublas gemv", unsafe {
            call.start(functions, self.handle, operation)
        })
    }
}

fn status(function: &str, code: c_int) -> Result<(), LibraryError> {
    // `CUBLAS_STATUS_ARCH_MISMATCH` and `CUBLAS_STATUS_NOT_SUPPORTED`.
    check(function, code, CUBLAS_STATUSES, &[8, 15])
}

impl Blas for Cublas {
    fn name(&self) -> LibraryName {
        LibraryName::Cublas
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn in_place(&self, _algorithm: &Algorithm) -> bool {
        true
    }

    fn algorithms(&self, product: &GemmCall) -> Result<Vec<Algorithm>, LibraryError> {
        if !is_supported(product) {
            return Ok(Vec::new());
        }
        let has_gemv = self.gemv.is_some() && GemvCall::new(product, Buffers::unread()).is_some();
        let gemv = has_gemv.then(Algorithm::gemv);
        Ok([Algorithm::chosen_by_library()]
            .into_iter()
            .chain(gemv)
            .collect())
    }

    fn run(
        &self,
        product: &GemmCall,
        algorithm: &Algorithm,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        if !is_supported(product) {
            let reason = format!("cublas has no product {product}");
            return Err(LibraryError::Unsupported { reason });
        }
        self.gpu.make_current()?;
        if algorithm.handle == AlgorithmHandle::Gemv {
            return self.multiply_vector(product, buffers);
        }
        let [a, b, d] = [Operand::A, Operand::B, Operand::D]
            .map(|operand| CublasMatrix::new(product.stored(operand)));
        let [m, n, k] = [product.rows, product.columns, product.inner].map(|size| size as c_int);
        // `CUBLAS_OP_N` is 0, and `CUBLAS_OP_T` is 1.
        let [op_a, op_b] = product.transposed.map(c_int::from);
        // `CUBLAS_COMPUTE_32F` and `CUBLAS_COMPUTE_32F_FAST_TF32`.
        let compute = match product.arithmetic.compute {
            // `CUBLAS_COMPUTE_32F`, and below `CUBLAS_COMPUTE_32F_FAST_TF32`.
            ComputeType::F32 | ComputeType::I32 => 68,
            ComputeType::Tf32 => 77,
        };
        let (alpha, beta) = (product.alpha as f32, product.beta as f32);
        let (alpha, beta) = ((&raw const alpha).cast(), (&raw const beta).cast());
        let (pa, pb, pd) = (
            buffers.a.pointer(),
            buffers.b.pointer(),
            buffers.d.pointer(),
        );
        if product.batch == 1 {
            // SAFETY: the matrices have the bytes that the sizes state; alpha and beta are f32, as
            // the compute type requires, and are read before the call returns, because the pointer
            // mode is set to the host.
            let code = unsafe {
                (self.functions.gemm)(
                    self.handle,
                    op_a,
                    op_b,
                    m,
                    n,
                    k,
                    alpha,
                    pa,
                    a.number,
                    a.leading,
                    pb,
                    b.number,
                    b.leading,
                    beta,
                    pd,
                    d.number,
                    d.leading,
                    compute,
                    DEFAULT,
                )
            };
            return status("cublasGemmEx", code);
        }
        let batch = product.batch as c_int;
        // SAFETY: as above.
        let code = unsafe {
            (self.functions.batched)(
                self.handle,
                op_a,
                op_b,
                m,
                n,
                k,
                alpha,
                pa,
                a.number,
                a.leading,
                a.stride,
                pb,
                b.number,
                b.leading,
                b.stride,
                beta,
                pd,
                d.number,
                d.leading,
                d.stride,
                batch,
                compute,
                DEFAULT,
            )
        };
        status("cublasGemmStridedBatchedEx", code)
    }
}

/// The table of `cublasGemmEx` has no floating-point factors of 8 bits; whole numbers are computed
/// by cuBLASLt.
fn is_supported(product: &GemmCall) -> bool {
    product.is_plain() && !product.arithmetic.has_bytes()
}

/// A matrix in the numbers of the library.
struct CublasMatrix {
    number: c_int,
    leading: c_int,
    stride: c_longlong,
}

impl CublasMatrix {
    fn new(stored: MatrixStorage) -> Self {
        Self {
            number: data_type(stored.number),
            leading: stored.leading as c_int,
            stride: stored.stride as c_longlong,
        }
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}
