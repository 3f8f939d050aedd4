//! Norms by the statistics of the elements: their algorithms, their parameters, and the memory that
//! they write statistics to.

use super::{
    descriptor::DnnDescriptor,
    primitive_dialect::{DescribedTensor, NormTensors, PrimitiveDialect, PrimitiveTensors},
    primitive_numbers::NamedNumber,
};
use crate::{
    gpu::DeviceAddress,
    library_error::LibraryError,
    primitive::{PrimitiveNorm, PrimitiveNormKind, PrimitiveProblem},
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers},
};
use testgen_operators::calls::Element;

/// The bytes of a statistic. Some kernels of MIOpen 3.3 write f32, the others the type of the
/// result, whatever the descriptor says.
const STATISTIC: usize = 4;

/// The algorithms of a norm: with its weight, and without if that is the same.
pub(super) fn algorithms<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
    norm: &PrimitiveNorm,
) -> Result<Vec<PrimitiveAlgorithm>, LibraryError> {
    let [weighted, plain] = library.norms(norm.kind)?;
    let algorithm = |(number, name): NamedNumber| PrimitiveAlgorithm {
        id: name.to_owned(),
        overflows: false,
        workspace: 2 * STATISTIC * statistics(problem, norm.kind),
        numbers: [number, 0],
    };
    let modes = [Some(weighted), norm.is_plain.then_some(plain)];
    Ok(modes.into_iter().flatten().map(algorithm).collect())
}

/// Starts a norm. The library writes its statistics to the workspace: the means, of which a norm by
/// the mean of squares has none, then the reciprocals of the deviations.
pub(super) fn run<Library: PrimitiveDialect>(
    library: &Library,
    problem: &PrimitiveProblem,
    algorithm: &PrimitiveAlgorithm,
    tensors: &PrimitiveTensors,
    buffers: PrimitiveBuffers<'_>,
    norm: &PrimitiveNorm,
) -> Result<(), LibraryError> {
    let parameter = |length: &usize| library.describe(problem.parameter_element(), &[*length]);
    let parameters = problem.parameters.iter().map(parameter);
    let parameters = parameters.collect::<Result<Vec<DnnDescriptor>, _>>()?;
    let count = statistics(problem, norm.kind);
    let statistics = library.describe(Element::F32, &[count])?;
    // The library writes the statistics, which are not part of the result, to the workspace.
    let second = buffers.workspace.offset(STATISTIC * count);
    let described = parameters.iter().zip(buffers.parameters);
    let tensors = NormTensors {
        both: tensors,
        parameters: described
            .map(|(layout, data)| described_tensor(layout, *data))
            .collect(),
        statistics: [buffers.workspace, second].map(|data| described_tensor(&statistics, data)),
    };
    library.norm(algorithm.numbers[0], norm, &tensors)
}

/// How many groups of elements have common statistics.
fn statistics(problem: &PrimitiveProblem, kind: PrimitiveNormKind) -> usize {
    match kind {
        PrimitiveNormKind::Group { groups } => problem.x[0] * groups,
        PrimitiveNormKind::Layer | PrimitiveNormKind::RootMeanSquare => problem.x[0],
    }
}

fn described_tensor(layout: &DnnDescriptor, data: DeviceAddress) -> DescribedTensor {
    DescribedTensor {
        layout: layout.pointer(),
        data: data.pointer(),
    }
}
