//! An operator on one dense tensor as cuDNN and MIOpen define it: softmax, activations, pools,
//! reductions and norms.

use testgen_operators::calls::Element;

/// An operator with one input, which may have parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PrimitiveProblem {
    /// The type of the input and the result.
    pub element: Element,
    /// The operator with its arguments.
    pub kind: PrimitiveKind,
    /// The lengths of the input: four, or five for windows of three dimensions.
    pub x: Vec<usize>,
    /// The lengths of the result, as many.
    pub y: Vec<usize>,
    /// The lengths of the inputs after the first one, which have one dimension each: of a norm
    /// the weight, the bias, the mean and the variance, as far as it has them.
    pub parameters: Vec<usize>,
    /// The shape of the result as the operator has it.
    pub shape: Vec<usize>,
}

/// The operator of a [`PrimitiveProblem`].
#[derive(Debug, Clone, PartialEq)]
pub enum PrimitiveKind {
    /// A softmax over the second dimension.
    Softmax {
        /// Whether the result is the logarithm.
        logarithm: bool,
    },
    /// A function of each element.
    Activation(PrimitiveActivation),
    /// A number for each window of the dimensions after the second.
    Pool(PoolWindows),
    /// A number for each group of elements that differ in the second dimension only.
    Reduction(PrimitiveReduction),
    /// A normalisation of the second dimension by recorded means and variances.
    BatchNorm {
        /// Added to each variance.
        epsilon: f64,
    },
    /// A normalisation by the statistics of the elements themselves.
    Norm(PrimitiveNorm),
}

/// A function of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimitiveActivation {
    /// max(x, 0).
    Relu,
    /// max(x, 0), at most 6.
    Relu6,
    /// 1 / (1 + exp(-x)).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// x / (1 + exp(-x)).
    Silu,
}

impl PrimitiveActivation {
    /// The largest result of `relu6`.
    pub(crate) const CEILING: f64 = 6.0;
}

/// A reduction of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimitiveReduction {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smallest element.
    Min,
    /// The largest element.
    Max,
    /// The largest absolute value.
    LargestMagnitude,
    /// The mean.
    Mean,
    /// The sum of absolute values.
    Norm1,
    /// The square root of the sum of squares.
    Norm2,
}

impl PrimitiveReduction {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "prod",
            Self::Min => "min",
            Self::Max => "max",
            Self::LargestMagnitude => "amax",
            Self::Mean => "mean",
            Self::Norm1 => "norm1",
            Self::Norm2 => "norm2",
        }
    }
}

/// A normalisation by the statistics of elements that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct PrimitiveNorm {
    /// The elements with common statistics, and which statistics they are.
    pub kind: PrimitiveNormKind,
    /// Added to each variance or mean of squares.
    pub epsilon: f64,
    /// Whether every weight is 1 and every bias 0, so that they can be left out.
    pub is_plain: bool,
}

/// The statistics of a [`PrimitiveNorm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimitiveNormKind {
    /// The mean and the variance of each row.
    Layer,
    /// The mean and the variance of each group of channels.
    Group {
        /// The groups of all channels.
        groups: usize,
    },
    /// The mean of squares of each row.
    RootMeanSquare,
}

/// The result of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// The largest element.
    Max,
    /// The mean of the elements.
    Mean,
    /// The sum of the elements over the size of the window, padding included.
    MeanWithPadding,
}

/// The windows of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolWindows {
    /// The result of a window.
    pub kind: PoolKind,
    /// The lengths of a window.
    pub lengths: Vec<usize>,
    /// Positions before the first element and after the last one.
    pub padding: Vec<usize>,
    /// Positions between two windows.
    pub stride: Vec<usize>,
}

impl PoolWindows {
    /// The number of windows along a dimension of this length.
    pub(crate) fn count(&self, dimension: usize, length: usize) -> usize {
        let padded = length + 2 * self.padding[dimension];
        padded
            .checked_sub(self.lengths[dimension])
            .map_or(0, |rest| rest / self.stride[dimension].max(1) + 1)
    }
}

impl PrimitiveProblem {
    /// The type of the parameters.
    pub fn parameter_element(&self) -> Element {
        match self.kind {
            // cuDNN takes no other type for x of 16 bits, and MIOpen would compute in f16.
            PrimitiveKind::BatchNorm { .. } => Element::F32,
            _ => self.element,
        }
    }

    /// Whether a tensor has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.x.contains(&0) || self.y.contains(&0)
    }
}
