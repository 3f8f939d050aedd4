//! MIOpen in its immediate mode: the library lists solutions for a convolution, and one is run by
//! its id. Without the mode, it would measure all of them first and choose by time.

use super::{
    descriptor::{DnnDescriptors, StatusCheck},
    miopen_functions::{MiopenFunctions, MiopenSolution},
    miopen_numbers::MiopenNumbers as Numbers,
    miopen_primitive::{MiopenDialect, MiopenPrimitives},
    primitive,
};
use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::{LibraryError, check},
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers, PrimitiveLibrary},
    product::ComputeType,
};
use std::{ffi::c_void, ptr::null_mut, rc::Rc};
use testgen_device::SharedLibrary;

/// MIOpen on one device.
pub(crate) struct Miopen {
    gpu: Rc<dyn LibraryGpu>,
    functions: MiopenFunctions,
    primitives: MiopenPrimitives,
    handle: *mut c_void,
    version: String,
}

impl Miopen {
    pub(crate) fn open(
        library: &SharedLibrary,
        gpu: Rc<dyn LibraryGpu>,
    ) -> Result<Self, LibraryError> {
        let functions = MiopenFunctions::load(library, "miopen")
            .map_err(|symbol| LibraryError::missing(library, symbol))?;
        let primitives = MiopenPrimitives::load(library)?;
        gpu.make_current()?;
        let (mut handle, mut version) = (null_mut(), [0; 3]);
        // SAFETY: `handle` is writable for the whole call; the null stream exists on every device.
        let code = unsafe { (functions.create)(&mut handle, null_mut()) };
        functions.check("miopenCreateWithStream", code)?;
        let [major, minor, patch] = &mut version;
        // SAFETY: the three numbers are writable for the whole call.
        functions.check("miopenGetVersion", unsafe {
            (functions.version)(major, minor, patch)
        })?;
        Ok(Self {
            gpu,
            functions,
            primitives,
            handle,
            version: version.map(|part| part.to_string()).join("."),
        })
    }

    fn dialect(&self) -> MiopenDialect<'_> {
        MiopenDialect {
            handle: self.handle,
            functions: &self.functions,
            primitives: &self.primitives,
        }
    }

    /// The solutions of a convolution, in the order of the library: the fastest first.
    fn solutions(&self, descriptors: &DnnDescriptors) -> Result<Vec<MiopenSolution>, LibraryError> {
        let [x, weight, y, windows] = descriptors.pointers();
        let mut count = 0;
        // SAFETY: the descriptors exist; `count` is writable for the whole call.
        let code =
            unsafe { (self.functions.count)(self.handle, weight, x, windows, y, &mut count) };
        self.functions
            .check("miopenConvolutionForwardGetSolutionCount", code)?;
        let mut solutions = vec![MiopenSolution::default(); count];
        if count == 0 {
            return Ok(solutions);
        }
        // SAFETY: the descriptors exist; `solutions` has room for `count` structures, whose size
        // `tests/declarations` compares with the published one.
        let code = unsafe {
            (self.functions.solutions)(
                self.handle,
                weight,
                x,
                windows,
                y,
                solutions.len(),
                &mut count,
                solutions.as_mut_ptr(),
            )
        };
        self.functions
            .check("miopenConvolutionForwardGetSolution", code)?;
        solutions.truncate(count);
        Ok(solutions)
    }
}

fn algorithm(solution: &MiopenSolution) -> ConvolutionAlgorithm {
    let MiopenSolution {
        workspace,
        id,
        algorithm,
        ..
    } = *solution;
    let name = Numbers::ALGORITHMS
        .iter()
        .find(|(number, _)| *number == algorithm)
        .map_or_else(
            || format!("algorithm {algorithm}"),
            |(_, name)| (*name).to_owned(),
        );
    ConvolutionAlgorithm {
        id: format!("{name} {id}"),
        configuration: format!("workspace {workspace}"),
        transforms: Numbers::TRANSFORMS.contains(&algorithm),
        // MIOpen has solutions whose sums depend on the order of atomic additions, and does not
        // name them.
        deterministic: false,
        workspace,
        number: id,
        math: 0,
    }
}

impl ConvolutionLibrary for Miopen {
    fn name(&self) -> LibraryName {
        LibraryName::Miopen
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn algorithms(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<Vec<ConvolutionAlgorithm>, LibraryError> {
        if problem.compute == ComputeType::Tf32 {
            return Err(LibraryError::unsupported("MIOpen has no TF32"));
        }
        self.gpu.make_current()?;
        let found = self
            .functions
            .describe(problem)
            .and_then(|descriptors| self.solutions(&descriptors));
        let solutions = LibraryError::none_if_unsupported(found)?;
        Ok(solutions.iter().map(algorithm).collect())
    }

    fn run(
        &self,
        problem: &ConvolutionProblem,
        algorithm: &ConvolutionAlgorithm,
        buffers: ConvolutionBuffers,
    ) -> Result<(), LibraryError> {
        self.gpu.make_current()?;
        let descriptors = self.functions.describe(problem)?;
        let [x, weight, y, windows] = descriptors.pointers();
        // SAFETY: the descriptors exist.
        let code = unsafe {
            (self.functions.compile)(self.handle, weight, x, windows, y, algorithm.number)
        };
        self.functions
            .check("miopenConvolutionForwardCompileSolution", code)?;
        // SAFETY: the descriptors exist; the tensors have the elements that they state, and the
        // workspace has the bytes that the library requested.
        let code = unsafe {
            (self.functions.run)(
                self.handle,
                weight,
                buffers.weight.pointer(),
                x,
                buffers.x.pointer(),
                windows,
                y,
                buffers.y.pointer(),
                buffers.workspace.pointer(),
                algorithm.workspace,
                algorithm.number,
            )
        };
        // The library offered the solution, so that also `not implemented` is an error here.
        let name = "miopenConvolutionForwardImmediate";
        check(name, code, Numbers::STATUSES, &[])
    }
}

impl PrimitiveLibrary for Miopen {
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

impl Drop for Miopen {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}
