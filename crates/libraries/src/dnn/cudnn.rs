//! cuDNN through its functions for single operations, which name their algorithms. A transposed
//! convolution is the gradient of a convolution with respect to its input.

use super::{
    cudnn_functions::{CudnnFunctions, CudnnPerformance},
    cudnn_numbers::CudnnNumbers as Numbers,
    cudnn_primitive::{CudnnDialect, CudnnPrimitives},
    descriptor::{DnnDescriptors, StatusCheck},
    primitive,
};
use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::LibraryError,
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers, PrimitiveLibrary},
};
use std::{
    ffi::{c_int, c_void},
    ptr::null_mut,
    rc::Rc,
};
use testgen_device::SharedLibrary;

/// The most algorithms that are requested: each may be listed with each of the four math types.
const MOST_ALGORITHMS: usize = 4 * Numbers::FORWARD.len();

/// cuDNN on one device.
pub(crate) struct Cudnn {
    gpu: Rc<dyn LibraryGpu>,
    functions: CudnnFunctions,
    primitives: CudnnPrimitives,
    handle: *mut c_void,
    version: String,
}

impl Cudnn {
    pub(crate) fn open(
        library: &SharedLibrary,
        gpu: Rc<dyn LibraryGpu>,
    ) -> Result<Self, LibraryError> {
        let functions = CudnnFunctions::load(library, "cudnn")
            .map_err(|symbol| LibraryError::missing(library, symbol))?;
        let primitives = CudnnPrimitives::load(library)?;
        gpu.make_current()?;
        let mut handle = null_mut();
        // SAFETY: `handle` is writable for the whole call. Its stream is the default one.
        functions.check("cudnnCreate", unsafe { (functions.create)(&mut handle) })?;
        // SAFETY: the function has no arguments.
        let version = version(unsafe { (functions.version)() });
        Ok(Self {
            gpu,
            functions,
            primitives,
            handle,
            version,
        })
    }

    fn dialect(&self) -> CudnnDialect<'_> {
        CudnnDialect {
            handle: self.handle,
            functions: &self.functions,
            primitives: &self.primitives,
        }
    }

    /// The results of the heuristic, the fastest first.
    fn heuristic(
        &self,
        problem: &ConvolutionProblem,
        descriptors: &DnnDescriptors,
    ) -> Result<Vec<CudnnPerformance>, LibraryError> {
        let [x, weight, y, windows] = descriptors.pointers();
        let mut results = vec![CudnnPerformance::default(); MOST_ALGORITHMS];
        let (most, mut count) = (MOST_ALGORITHMS as c_int, 0);
        let place = results.as_mut_ptr();
        // SAFETY: the descriptors exist; `results` has room for as many structures as are
        // requested, and `tests/declarations` compares their size with the published one.
        let (name, code) = unsafe {
            if problem.is_transposed() {
                let list = self.functions.backward_algorithms;
                (
                    "cudnnGetConvolutionBackwardDataAlgorithm_v7",
                    list(self.handle, weight, x, windows, y, most, &mut count, place),
                )
            } else {
                let list = self.functions.forward_algorithms;
                (
                    "cudnnGetConvolutionForwardAlgorithm_v7",
                    list(self.handle, x, weight, windows, y, most, &mut count, place),
                )
            }
        };
        self.functions.check(name, code)?;
        results.truncate(usize::try_from(count).unwrap_or(0));
        Ok(results)
    }
}

/// Major * 10000 + minor * 100 + patch since cuDNN 9, before that major * 1000.
fn version(version: usize) -> String {
    let major = if version >= 90_000 { 10_000 } else { 1000 };
    format!(
        "{}.{}.{}",
        version / major,
        version % major / 100,
        version % 100
    )
}

fn algorithm(transposed: bool, found: &CudnnPerformance) -> Option<ConvolutionAlgorithm> {
    let number = usize::try_from(found.algorithm).ok()?;
    let names: &[&str] = if transposed {
        &Numbers::BACKWARD_DATA
    } else {
        &Numbers::FORWARD
    };
    let name = names
        .get(number)
        .map_or_else(|| number.to_string(), |name| (*name).to_owned());
    let math = match found.math {
        Numbers::FMA_MATH => "FMA".to_owned(),
        Numbers::TENSOR_OP_MATH => "TENSOR_OP".to_owned(),
        other => format!("math {other}"),
    };
    // The heuristic also returns algorithms that the library does not have for this convolution.
    (found.status == 0).then(|| ConvolutionAlgorithm {
        transforms: name.starts_with("FFT") || name.starts_with("WINOGRAD"),
        id: format!("{name} {math}"),
        configuration: format!("workspace {}", found.memory),
        deterministic: found.determinism == Numbers::DETERMINISTIC,
        workspace: found.memory,
        number: number as u64,
        math: found.math,
    })
}

impl ConvolutionLibrary for Cudnn {
    fn name(&self) -> LibraryName {
        LibraryName::Cudnn
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn algorithms(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<Vec<ConvolutionAlgorithm>, LibraryError> {
        self.gpu.make_current()?;
        let found = self
            .functions
            .describe(problem)
            .and_then(|descriptors| self.heuristic(problem, &descriptors));
        Ok(LibraryError::none_if_unsupported(found)?
            .iter()
            .filter_map(|result| algorithm(problem.is_transposed(), result))
            .collect())
    }

    fn run(
        &self,
        problem: &ConvolutionProblem,
        algorithm: &ConvolutionAlgorithm,
        buffers: ConvolutionBuffers,
    ) -> Result<(), LibraryError> {
        self.gpu.make_current()?;
        let descriptors = self.functions.describe(problem)?;
        self.functions
            .select_math(&descriptors.windows, algorithm.math)?;
        let (number, bytes) = (algorithm.number as c_int, algorithm.workspace);
        let (alpha, beta) = (1.0_f32, 0.0_f32);
        let (alpha, beta) = ((&raw const alpha).cast(), (&raw const beta).cast());
        let [x, weight, y, workspace] = [buffers.x, buffers.weight, buffers.y, buffers.workspace]
            .map(|address| address.pointer());
        let [x_layout, weight_layout, y_layout, windows] = descriptors.pointers();
        let (x, weight) = ((x_layout, x), (weight_layout, weight));
        let (name, compute, (first_layout, first), (second_layout, second)) =
            if problem.is_transposed() {
                let compute = self.functions.backward;
                // The weight comes first here, then the gradient of a result, which is x.
                ("cudnnConvolutionBackwardData", compute, weight, x)
            } else {
                let compute = self.functions.forward;
                ("cudnnConvolutionForward", compute, x, weight)
            };
        // SAFETY: the descriptors exist; the tensors have the elements that they state, and the
        // workspace has the bytes that the library requested. Alpha and beta are f32, as sums are,
        // and are read before the call returns.
        let code = unsafe {
            compute(
                self.handle,
                alpha,
                first_layout,
                first,
                second_layout,
                second,
                windows,
                number,
                workspace,
                bytes,
                beta,
                y_layout,
                y,
            )
        };
        self.functions.check(name, code)
    }
}

impl PrimitiveLibrary for Cudnn {
    fn primitive_algorithms(
        &self,
        problem: &PrimitiveProblem,
    ) -> Result<Vec<PrimitiveAlgorithm>, LibraryError> {
        self.gpu.make_current()?;
        primitive::algorithms(&self.dialect(), problem)
    }

    fn run_primitive(
        &self,
        problem: &PrimitiveProblem,
        algorithm: &PrimitiveAlgorithm,
        buffers: PrimitiveBuffers<'_>,
    ) -> Result<(), LibraryError> {
        self.gpu.make_current()?;
        primitive::run(&self.dialect(), problem, algorithm, buffers)
    }
}

impl Drop for Cudnn {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod fake_primitives;
#[cfg(test)]
mod tests;
