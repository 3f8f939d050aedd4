//! Softmax, activations, pools, reductions and norms of cuDNN and MIOpen: the algorithms of each,
//! and the descriptors and calls that both libraries have.

use super::{
    batch_norm::BatchNormParameters,
    descriptor::DnnDescriptor,
    lengths::lengths,
    norm,
    primitive_dialect::{PrimitiveDialect, PrimitiveTensors, WindowNumbers},
    primitive_numbers::{NamedNumber, PrimitiveNumbers as Numbers},
};
use crate::{
    library_error::LibraryError,
    primitive::{PoolWindows, PrimitiveKind, PrimitiveProblem},
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers},
};
use std::ffi::c_int;
use testgen_operators::calls::Element;

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
        PrimitiveKind::BatchNorm { .. } => {
            let [spatial, per_activation] = Library::BATCH_NORMS.map(simple);
            // Both are the same if nothing follows the second dimension.
            if is_flat(&problem.x) {
                vec![spatial, per_activation]
            } else {
                vec![spatial]
            }
        }
        PrimitiveKind::Norm(norm) => norm::algorithms(library, problem, norm)?,
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

/// Whether nothing follows the second dimension.
fn is_flat(lengths: &[usize]) -> bool {
    lengths[2..].iter().all(|length| *length == 1)
}

/// Each algorithm in each mode.
fn softmax_algorithms(logarithm: bool, lengths: &[usize]) -> Vec<PrimitiveAlgorithm> {
    let algorithms: &[NamedNumber] = if logarithm {
        &[Numbers::SOFTMAX_LOG]
    } else {
        &[Numbers::SOFTMAX_ACCURATE, Numbers::SOFTMAX_FAST]
    };
    // Over everything but the first dimension and over the second one are the same if nothing
    // follows the second one.
    let modes: &[NamedNumber] = if is_flat(lengths) {
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
    buffers: PrimitiveBuffers<'_>,
) -> Result<(), LibraryError> {
    let [x, y] = describe(library, problem)?;
    // With beta 0 the result is not read: the NaN in it must not matter.
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
            // MIOpen's name ends in `_V2`, so it is more than a prefix that differs.
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
        PrimitiveKind::BatchNorm { epsilon } => {
            let parameters = BatchNormParameters::new(library, problem, buffers)?;
            let code = parameters.run(library, algorithm, &tensors, *epsilon);
            ("BatchNormalizationForwardInference", code)
        }
        PrimitiveKind::Norm(norm) => {
            return norm::run(library, problem, algorithm, &tensors, buffers, norm);
        }
    };
    library.check(&format!("{}{function}", Library::PREFIX), code)
}

/// The descriptors of input and result.
fn describe<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
) -> Result<[DnnDescriptor; 2], LibraryError> {
    let tensor = |lengths: &[usize]| library.describe(problem.element, lengths);
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
    buffers: PrimitiveBuffers<'_>,
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
