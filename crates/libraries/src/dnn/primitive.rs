//! Softmax, activations, pools and reductions of cuDNN and MIOpen: the algorithms of each, and the
//! descriptors and calls that both libraries have.

use super::{
    descriptor::{DnnDescriptor, StatusCheck, TensorFunctions},
    lengths::lengths,
    primitive_functions::PrimitiveFunctions,
    primitive_numbers::{NamedNumber, PrimitiveNumbers as Numbers},
};
use crate::{
    library_error::LibraryError,
    primitive::{PoolKind, PoolWindows, PrimitiveActivation, PrimitiveKind, PrimitiveProblem},
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers},
    symbols::Opaque,
};
use std::ffi::{c_int, c_void};
use testgen_operators::calls::{Element, row_major_strides};

/// The numbers and functions in which cuDNN and MIOpen differ.
pub(super) trait PrimitiveDialect: StatusCheck {
    /// The first part of the names of functions.
    const PREFIX: &'static str;
    /// The name of the softmax.
    const SOFTMAX: &'static str;
    /// Whether a reduction may have the lengths of its input, so that it is a copy.
    const REDUCES_SINGLE_ELEMENTS: bool;
    /// The handle of the library.
    fn handle(&self) -> Opaque;
    /// The functions for tensors.
    fn tensors(&self) -> TensorFunctions;
    /// The functions that both libraries have.
    fn functions(&self) -> &PrimitiveFunctions;
    /// The number of a type.
    fn number(&self, element: Element) -> Option<c_int>;
    /// The mode of an activation, or `None` if the library does not have it.
    fn activation(&self, activation: PrimitiveActivation) -> Option<NamedNumber>;
    /// The modes of a pool.
    fn pools(&self, kind: PoolKind) -> &'static [NamedNumber];
    /// Sets the mode of an activation with its arguments.
    fn set_activation(&self, descriptor: Opaque, mode: c_int) -> Result<(), LibraryError>;
    /// Sets the mode and the windows of a pool.
    fn set_pool(
        &self,
        descriptor: Opaque,
        mode: c_int,
        windows: &WindowNumbers,
    ) -> Result<(), LibraryError>;
    /// Computes a softmax with an algorithm in a mode, and returns a status.
    fn softmax(&self, numbers: [c_int; 2], tensors: &PrimitiveTensors) -> c_int;
    /// Computes a pool, and returns a status.
    fn pool(&self, descriptor: Opaque, tensors: &PrimitiveTensors) -> c_int;
}

/// The windows of a pool in the integers that both libraries take.
pub(super) struct WindowNumbers {
    pub(super) lengths: Vec<c_int>,
    pub(super) padding: Vec<c_int>,
    pub(super) stride: Vec<c_int>,
}

/// Both tensors, and their factors: 1 for the new result, 0 for the old one.
pub(super) struct PrimitiveTensors {
    pub(super) alpha: *const c_void,
    pub(super) x_layout: Opaque,
    pub(super) x: *const c_void,
    pub(super) beta: *const c_void,
    pub(super) y_layout: Opaque,
    pub(super) y: Opaque,
}

/// The algorithms of a library for a problem.
pub(super) fn algorithms<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
) -> Result<Vec<PrimitiveAlgorithm>, LibraryError> {
    let simple = |(number, name): NamedNumber| PrimitiveAlgorithm {
        id: name.to_owned(),
        overflows: false,
        workspace: 0,
        numbers: [number, 0],
    };
    Ok(match &problem.kind {
        PrimitiveKind::Softmax { logarithm } => softmax_algorithms(*logarithm, &problem.x),
        PrimitiveKind::Activation(activation) => {
            let mode = library.activation(*activation);
            mode.into_iter().map(simple).collect()
        }
        PrimitiveKind::Pool(windows) => {
            let modes = library.pools(windows.kind).iter();
            modes.copied().map(simple).collect()
        }
        PrimitiveKind::Reduction(_)
            if problem.x == problem.y && !Library::REDUCES_SINGLE_ELEMENTS =>
        {
            let reason = "the library does not reduce a dimension of length 1";
            return Err(LibraryError::unsupported(reason));
        }
        PrimitiveKind::Reduction(reduction) => {
            let algorithm = simple(Numbers::reduction(*reduction));
            let workspace = workspace(library, problem, &algorithm)?;
            vec![PrimitiveAlgorithm {
                workspace,
                ..algorithm
            }]
        }
    })
}

/// Each algorithm in each mode. Over everything but the first dimension and over the second one
/// are the same if nothing follows the second one.
fn softmax_algorithms(logarithm: bool, lengths: &[usize]) -> Vec<PrimitiveAlgorithm> {
    let algorithms: &[NamedNumber] = if logarithm {
        &[Numbers::SOFTMAX_LOG]
    } else {
        &[Numbers::SOFTMAX_ACCURATE, Numbers::SOFTMAX_FAST]
    };
    let modes: &[NamedNumber] = if lengths[2..].iter().all(|length| *length == 1) {
        &[Numbers::INSTANCE, Numbers::CHANNEL]
    } else {
        &[Numbers::CHANNEL]
    };
    let algorithm = |algorithm: NamedNumber, mode: NamedNumber| PrimitiveAlgorithm {
        id: format!("{} {}", algorithm.1, mode.1),
        overflows: algorithm == Numbers::SOFTMAX_FAST,
        workspace: 0,
        numbers: [algorithm.0, mode.0],
    };
    algorithms
        .iter()
        .flat_map(|one| modes.iter().map(move |mode| algorithm(*one, *mode)))
        .collect()
}

/// Starts an operator.
pub(super) fn run<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
    algorithm: &PrimitiveAlgorithm,
    buffers: PrimitiveBuffers,
) -> Result<(), LibraryError> {
    let [x, y] = describe(library, problem)?;
    let (alpha, beta) = (1.0_f32, 0.0_f32);
    let tensors = PrimitiveTensors {
        alpha: (&raw const alpha).cast(),
        x_layout: x.pointer(),
        x: buffers.x.pointer(),
        beta: (&raw const beta).cast(),
        y_layout: y.pointer(),
        y: buffers.y.pointer(),
    };
    let (function, code) = match &problem.kind {
        PrimitiveKind::Softmax { .. } => {
            let code = library.softmax(algorithm.numbers, &tensors);
            return library.check(Library::SOFTMAX, code);
        }
        PrimitiveKind::Activation(_) => {
            let code = activate(library, algorithm, &tensors)?;
            ("ActivationForward", code)
        }
        PrimitiveKind::Pool(windows) => {
            let pool = pool(library, algorithm, windows)?;
            ("PoolingForward", library.pool(pool.pointer(), &tensors))
        }
        PrimitiveKind::Reduction(_) => {
            let code = reduce(library, algorithm, &tensors, buffers)?;
            ("ReduceTensor", code)
        }
    };
    library.check(&format!("{}{function}", Library::PREFIX), code)
}

/// The descriptors of input and result.
fn describe<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
) -> Result<[DnnDescriptor; 2], LibraryError> {
    let number = library.number(problem.element).ok_or_else(|| {
        LibraryError::unsupported("the library does not have operators of this type")
    })?;
    let tensors = library.tensors();
    let tensor =
        |lengths: &[usize]| tensors.describe(library, number, lengths, &row_major_strides(lengths));
    Ok([tensor(&problem.x)?, tensor(&problem.y)?])
}

fn activate<Library: PrimitiveDialect>(
    library: &Library,
    algorithm: &PrimitiveAlgorithm,
    tensors: &PrimitiveTensors,
) -> Result<c_int, LibraryError> {
    let functions = library.functions();
    let name = format!("{}CreateActivationDescriptor", Library::PREFIX);
    let create = (name.as_str(), functions.activation_create);
    let activation = DnnDescriptor::new(library, create, functions.activation_destroy)?;
    library.set_activation(activation.pointer(), algorithm.numbers[0])?;
    // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and beta
    // are read before the call returns.
    Ok(unsafe {
        (functions.activation)(
            library.handle(),
            activation.pointer(),
            tensors.alpha,
            tensors.x_layout,
            tensors.x,
            tensors.beta,
            tensors.y_layout,
            tensors.y,
        )
    })
}

/// The descriptor of a pool.
fn pool<Library: PrimitiveDialect>(
    library: &Library,
    algorithm: &PrimitiveAlgorithm,
    windows: &PoolWindows,
) -> Result<DnnDescriptor, LibraryError> {
    let windows = WindowNumbers {
        lengths: lengths(&windows.lengths)?,
        padding: lengths(&windows.padding)?,
        stride: lengths(&windows.stride)?,
    };
    let functions = library.functions();
    let name = format!("{}CreatePoolingDescriptor", Library::PREFIX);
    let create = (name.as_str(), functions.pool_create);
    let pool = DnnDescriptor::new(library, create, functions.pool_destroy)?;
    library.set_pool(pool.pointer(), algorithm.numbers[0], &windows)?;
    Ok(pool)
}

/// The descriptor of a reduction, with sums in f32.
fn reduction<Library: PrimitiveDialect>(
    library: &Library,
    algorithm: &PrimitiveAlgorithm,
) -> Result<DnnDescriptor, LibraryError> {
    let functions = library.functions();
    let number = library
        .number(Element::F32)
        .ok_or_else(|| LibraryError::unsupported("the library does not have f32"))?;
    let name = format!("{}CreateReduceTensorDescriptor", Library::PREFIX);
    let create = (name.as_str(), functions.reduction_create);
    let reduction = DnnDescriptor::new(library, create, functions.reduction_destroy)?;
    // SAFETY: the descriptor exists.
    let code = unsafe {
        (functions.reduction_set)(
            reduction.pointer(),
            algorithm.numbers[0],
            number,
            Numbers::PROPAGATE_NAN,
            Numbers::NO_INDICES,
            Numbers::INDICES_32BIT,
        )
    };
    let name = format!("{}SetReduceTensorDescriptor", Library::PREFIX);
    library.check(&name, code)?;
    Ok(reduction)
}

/// The bytes of workspace that a reduction needs.
fn workspace<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
    algorithm: &PrimitiveAlgorithm,
) -> Result<usize, LibraryError> {
    let [x, y] = describe(library, problem)?;
    let reduction = reduction(library, algorithm)?;
    let mut bytes = 0;
    // SAFETY: the descriptors exist; `bytes` is writable for the whole call.
    let code = unsafe {
        (library.functions().reduction_workspace)(
            library.handle(),
            reduction.pointer(),
            x.pointer(),
            y.pointer(),
            &mut bytes,
        )
    };
    let name = format!("{}GetReductionWorkspaceSize", Library::PREFIX);
    library.check(&name, code)?;
    Ok(bytes)
}

fn reduce<Library: PrimitiveDialect>(
    library: &Library,
    algorithm: &PrimitiveAlgorithm,
    tensors: &PrimitiveTensors,
    buffers: PrimitiveBuffers,
) -> Result<c_int, LibraryError> {
    let reduction = reduction(library, algorithm)?;
    // SAFETY: the descriptors exist; the tensors have the elements that they state, and the
    // workspace has the bytes that the library requested; there are no indices.
    Ok(unsafe {
        (library.functions().reduction)(
            library.handle(),
            reduction.pointer(),
            std::ptr::null_mut(),
            0,
            buffers.workspace.pointer(),
            algorithm.workspace,
            tensors.alpha,
            tensors.x_layout,
            tensors.x,
            tensors.beta,
            tensors.y_layout,
            tensors.y,
        )
    })
}
