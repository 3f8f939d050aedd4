//! The sizes of an operator that repeat a period.

use crate::{calls::Reduction, cases::case::Case};
use testgen_types::{Operator, OperatorGroup};

/// Elements of a period that the reference computes within seconds.
const LARGEST_PERIOD: usize = 1 << 25;

/// The sizes of one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Period {
    /// The length of each size of the shape; the size itself if it is not repeated.
    pub(super) sizes: Vec<usize>,
    /// The dimension that is reduced, if the operator has cases of several.
    pub(super) dim: Option<usize>,
}

/// The periods of an operator for a shape, or no period if no case can be repeated.
pub(super) fn periods(operator: Operator, sizes: &[usize]) -> Vec<Period> {
    use Operator::*;
    if !is_repeatable(operator) || operator.sizes().len() != sizes.len() {
        return Vec::new();
    }
    // Repeated lengths of one shape differ from all others in its cases, so that a dimension shows
    // which size it repeats.
    let dims: &[Option<usize>] = match operator {
        Softmax | LogSoftmax | Sum | Mean | Max | Min => &[Some(1), Some(0)],
        _ => &[None],
    };
    dims.iter()
        .map(|dim| period(operator, sizes, *dim))
        .filter(|period| period.dim != Some(0) || is_small(period))
        .collect()
}

fn period(operator: Operator, sizes: &[usize], dim: Option<usize>) -> Period {
    let lengths = sizes.iter().enumerate().map(|(index, size)| {
        match repeats(operator, index) && dim != Some(index) {
            true => prime(operator, index, dim).min(*size),
            false => *size,
        }
    });
    Period {
        sizes: lengths.collect(),
        dim,
    }
}

/// Lines of a column are only summed where they are not too long for the host: most shapes are long
/// in their rows.
fn is_small(period: &Period) -> bool {
    period.sizes.iter().product::<usize>() <= LARGEST_PERIOD
}

/// A prime for each size.
fn prime(operator: Operator, index: usize, dim: Option<usize>) -> usize {
    // Small, because the reference computes every element of a period.
    let attends = matches!(
        operator,
        Operator::ScaledDotProductAttention | Operator::Rope
    );
    match operator.sizes()[index] {
        "batch" if attends || operator.group() == OperatorGroup::Convolution => 2,
        "heads" => 3,
        "batch" | "queries" => 5,
        "channels" => 11,
        "height" => 13,
        "width" => 17,
        "picks" => 29,
        "rows" => 31,
        // Columns: where each is a long line as few as possible. The statistics of sums need 32.
        _ if dim == Some(0) && !matches!(operator, Operator::Sum | Operator::Mean) => 5,
        _ => 37,
    }
}

/// Whether the elements along size `index` are computed alike.
fn repeats(operator: Operator, index: usize) -> bool {
    use Operator::*;
    let name = operator.sizes()[index];
    match operator {
        Matmul | MatmulBiasRelu | MatmulBiasGelu | BatchMatmul => name != "inner",
        ScaledDotProductAttention => matches!(name, "batch" | "heads" | "queries"),
        Rope => matches!(name, "batch" | "heads"),
        AllReduce | BroadcastFromRank => name == "elements",
        Embedding => matches!(name, "width" | "picks"),
        LayerNorm | RmsNorm | CrossEntropyLoss | NllLoss => name == "rows",
        WeightedSum => name == "columns",
        _ => match operator.group() {
            OperatorGroup::Convolution | OperatorGroup::Normalisation => name == "batch",
            OperatorGroup::Pooling => matches!(name, "batch" | "channels"),
            _ => true,
        },
    }
}

/// Whether an operator has cases whose result repeats with its inputs.
pub(super) fn is_repeatable(operator: Operator) -> bool {
    use Operator::*;
    match operator.group() {
        OperatorGroup::Movement => matches!(operator, Copy | Contiguous | LayoutTransform),
        OperatorGroup::Indexing => operator == Embedding,
        // The others place what they received beside each other.
        OperatorGroup::Collective => matches!(operator, AllReduce | BroadcastFromRank),
        OperatorGroup::Fused => operator != ConvBatchNormRelu,
        // A product of thousands of numbers is not normal.
        OperatorGroup::Reduction => operator != Prod,
        _ => true,
    }
}

/// Whether the result of a case repeats as `period` says.
pub(super) fn is_periodic(operator: Operator, case: &Case, period: &Period) -> bool {
    let attributes = &case.call.attributes;
    match operator {
        _ if period.dim.is_some() => attributes.dim == period.dim,
        // A query sees the keys before it, so that its result depends on its position.
        Operator::ScaledDotProductAttention => !attributes.causal,
        _ if operator.group() == OperatorGroup::Loss => attributes.reduction == Reduction::None,
        _ => true,
    }
}
