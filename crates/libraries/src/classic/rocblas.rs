//! rocBLAS: `rocblas_gemm_ex` and `rocblas_gemm_strided_batched_ex`, with the solutions that the
//! library lists for a product, and `gemv`.

use super::{
    gemv::{GemvCall, GemvFunctions},
    rocblas_call::RocblasCall,
    rocblas_functions::{Data, RocblasFunctions, RocblasGemvFunctions, SolutionFunctions},
    rocblas_numbers::RocblasNumbers as Numbers,
};
use crate::{
    blas::{Algorithm, AlgorithmHandle, Blas, Buffers},
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::{LibraryError, check},
    product::{ComputeType, GemmCall},
};
use std::{
    ffi::{CStr, c_int, c_void},
    ptr::null_mut,
    rc::Rc,
};
use testgen_device::SharedLibrary;

/// Calls the function of one product, or of a batch, with the arguments of a [`RocblasCall`] and
/// those after it. The factors are f32 of the host, which are read before the call returns.
macro_rules! call_product {
    ($functions:expr, $handle:expr, $call:expr, $($last:expr),+) => {{
        let RocblasCall { operations: [op_a, op_b], sizes: [m, n, k], alpha, beta, a, b, c, d, batch } = &$call;
        let (alpha, beta): (Data, Data) = ((&raw const *alpha).cast(), (&raw const *beta).cast());
        if *batch == 1 {
            ($functions.gemm)(
                $handle, *op_a, *op_b, *m, *n, *k, alpha, a.data, a.number, a.leading,
                b.data, b.number, b.leading, beta, c.data, c.number, c.leading,
                d.data, d.number, d.leading, $($last),+
            )
        } else {
            ($functions.batched)(
                $handle, *op_a, *op_b, *m, *n, *k, alpha, a.data, a.number, a.leading, a.stride,
                b.data, b.number, b.leading, b.stride, beta, c.data, c.number, c.leading, c.stride,
                d.data, d.number, d.leading, d.stride, *batch, $($last),+
            )
        }
    }};
}

/// rocBLAS on one device.
pub(crate) struct Rocblas {
    gpu: Rc<dyn LibraryGpu>,
    functions: RocblasFunctions,
    solutions: Option<SolutionFunctions>,
    gemv: Option<GemvFunctions>,
    handle: *mut c_void,
    version: String,
}

impl Rocblas {
    pub(crate) fn open(
        library: &SharedLibrary,
        gpu: Rc<dyn LibraryGpu>,
    ) -> Result<Self, LibraryError> {
        let functions = RocblasFunctions::load(library, "rocblas_")
            .map_err(|symbol| LibraryError::missing(library, symbol))?;
        gpu.make_current()?;
        let mut handle = null_mut();
        // SAFETY: `handle` is writable for the whole call.
        status("rocblas_create_handle", unsafe {
            (functions.create)(&mut handle)
        })?;
        // SAFETY: the handle came from the library.
        status("rocblas_set_atomics_mode", unsafe {
            (functions.set_atomics)(handle, Numbers::NO_ATOMICS)
        })?;
        // A beta interface: without it, rocBLAS chooses.
        let solutions = SolutionFunctions::load(library, "rocblas_").ok();
        let gemv = RocblasGemvFunctions::load(library, "rocblas_").ok();
        let version = version(&functions);
        Ok(Self {
            gpu,
            functions,
            solutions,
            gemv: gemv.map(GemvFunctions::from),
            handle,
            version,
        })
    }

    /// Selects between f32 and XF32 for products of f32.
    fn set_math(&self, compute: ComputeType) -> Result<(), LibraryError> {
        let mode = match compute {
            ComputeType::F32 | ComputeType::I32 => Numbers::DEFAULT_MATH,
            ComputeType::Tf32 => Numbers::XF32_MATH,
        };
        // SAFETY: the handle came from the library.
        status("rocblas_set_math_mode", unsafe {
            (self.functions.set_math)(self.handle, mode)
        })
    }

    /// Computes the product of a matrix and a vector.
    fn multiply_vector(&self, product: &GemmCall, buffers: Buffers) -> Result<(), LibraryError> {
        let (Some(functions), Some(call)) = (self.gemv, GemvCall::new(product, buffers)) else {
            let reason = format!("rocblas has no gemv of {product}");
            return Err(LibraryError::Unsupported { reason });
        };
        let operation = Numbers::OPERATIONS[usize::from(call.transposed)];
        // SAFETY: the handle and the functions came from one library; the operands have the bytes
        // that the sizes state, and the pointer mode is set to the host.
        status("rocblas gemv", unsafe {
            call.start(functions, self.handle, operation)
        })
    }

    /// Every solution that the library lists for a product, or `None` if it does not have the
    /// product.
    fn listed(&self, call: &RocblasCall) -> Result<Option<Vec<i32>>, LibraryError> {
        let Some(functions) = &self.solutions else {
            return Ok(Some(Vec::new()));
        };
        let listed = self.list(call, functions, &mut []).and_then(|count| {
            let mut list = vec![0; count];
            // An empty list is passed as null, and would only be counted again.
            let filled = if count == 0 {
                0
            } else {
                self.list(call, functions, &mut list)?
            };
            list.truncate(filled);
            Ok(list)
        });
        match listed {
            Ok(list) => Ok(Some(list)),
            Err(LibraryError::Unsupported { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes at most `list.len()` solutions of a product, or only counts them when the list is
    /// empty. Returns their number.
    fn list(
        &self,
        call: &RocblasCall,
        functions: &SolutionFunctions,
        list: &mut [i32],
    ) -> Result<usize, LibraryError> {
        let mut count = i32::try_from(list.len()).unwrap_or(i32::MAX);
        let place = if list.is_empty() {
            null_mut()
        } else {
            list.as_mut_ptr()
        };
        // SAFETY: as for the product itself; `place` has room for `count` numbers, or is null, on
        // which the library only counts.
        let code = unsafe {
            call_product!(
                functions,
                self.handle,
                call,
                F32,
                Numbers::SOLUTION_INDEX,
                0,
                place,
                &mut count
            )
        };
        status("rocblas_gemm_ex_get_solutions", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

/// The compute type: sums in f32 for every type.
const F32: c_int = 151;

fn status(function: &str, code: c_int) -> Result<(), LibraryError> {
    check(function, code, Numbers::STATUSES, Numbers::UNSUPPORTED)
}

fn version(functions: &RocblasFunctions) -> String {
    let mut text = [0_u8; 256];
    // SAFETY: `text` is writable for its length, which is passed with it.
    let code = unsafe { (functions.version)(text.as_mut_ptr().cast(), text.len()) };
    let text = CStr::from_bytes_until_nul(&text).map(|text| text.to_string_lossy().into_owned());
    text.ok()
        .filter(|text| code == 0 && !text.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}

impl Blas for Rocblas {
    fn name(&self) -> LibraryName {
        LibraryName::Rocblas
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn in_place(&self, algorithm: &Algorithm) -> bool {
        // `gemv` adds to y; products of matrices have a C beside D.
        algorithm.handle == AlgorithmHandle::Gemv
    }

    /// The default algorithm, every listed solution, and `gemv` if it computes the product.
    fn algorithms(&self, product: &GemmCall) -> Result<Vec<Algorithm>, LibraryError> {
        self.gpu.make_current()?;
        self.set_math(product.arithmetic.compute)?;
        let Some(call) = RocblasCall::new(product, Buffers::unread()) else {
            return Ok(Vec::new());
        };
        let Some(list) = self.listed(&call)? else {
            return Ok(Vec::new());
        };
        let solutions = list.into_iter().map(|index| Algorithm {
            id: index.to_string(),
            configuration: String::new(),
            handle: AlgorithmHandle::Index(index),
        });
        let has_gemv = self.gemv.is_some() && GemvCall::new(product, Buffers::unread()).is_some();
        Ok([Algorithm::chosen_by_library()]
            .into_iter()
            .chain(solutions)
            .chain(has_gemv.then(Algorithm::gemv))
            .collect())
    }

    fn run(
        &self,
        product: &GemmCall,
        algorithm: &Algorithm,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        self.gpu.make_current()?;
        self.set_math(product.arithmetic.compute)?;
        if algorithm.handle == AlgorithmHandle::Gemv {
            return self.multiply_vector(product, buffers);
        }
        let call = RocblasCall::new(product, buffers).ok_or_else(|| LibraryError::Unsupported {
            reason: format!("rocblas has no product {product}"),
        })?;
        let (algo, index) = match algorithm.handle {
            AlgorithmHandle::Index(index) => (Numbers::SOLUTION_INDEX, index),
            AlgorithmHandle::Default | AlgorithmHandle::Gemv | AlgorithmHandle::Opaque { .. } => {
                (Numbers::STANDARD, 0)
            }
        };
        // SAFETY: the matrices have the bytes that the sizes state; alpha and beta are f32, as the
        // compute type requires, and are read before the call returns, because the pointer mode is
        // set to the host.
        let code = unsafe { call_product!(self.functions, self.handle, call, F32, algo, index, 0) };
        // A listed solution was offered for this product, so that refusing it is a failure.
        let allowed = if algorithm.handle == AlgorithmHandle::Default {
            Numbers::UNSUPPORTED
        } else {
            &[]
        };
        check("rocblas_gemm_ex", code, Numbers::STATUSES, allowed)
    }
}

impl Drop for Rocblas {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}
