//! The arguments of operators that are not tensors.

use serde::{Deserialize, Serialize};

/// The arguments of an operator that are not tensors, by PyTorch's names; an operator reads the
/// ones that it has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Attributes {
    /// The dimension of a reduction, a softmax, a gather or a join, or `None` for all elements.
    pub dim: Option<usize>,
    /// The order of dimensions of a permutation; for `transpose` the two that are exchanged.
    pub axes: Vec<usize>,
    /// The shape of the result of `reshape`, `view` and `broadcast`; the sizes of the result of
    /// adaptive pooling.
    pub shape: Vec<usize>,
    /// The window of a pool; convolutions have it in their weight.
    pub kernel: Vec<usize>,
    /// Positions between two windows.
    pub stride: Vec<usize>,
    /// Zeros (for `max_pool`: minus infinity) on both sides.
    pub padding: Vec<usize>,
    /// Positions between two elements of a window.
    pub dilation: Vec<usize>,
    /// Groups of channels.
    pub groups: usize,
    /// Positions added to one side of the result of a transposed convolution.
    pub output_padding: Vec<usize>,
    /// Whether the mean of a window counts padding.
    pub count_include_pad: bool,
    /// The tanh form of `gelu`.
    pub tanh: bool,
    /// Whether a query sees earlier keys only.
    pub causal: bool,
    /// Start, end and step of a slice of `dim`.
    pub range: [usize; 3],
    /// The limits of `clamp`.
    pub limits: [f64; 2],
    /// Alpha and beta of `gemm`: the factors of the product and of what is added.
    pub scales: [f64; 2],
    /// The rank whose tensor is sent to all, modulo the number of ranks.
    pub root: usize,
    /// Whether a collective writes its result where its input is.
    pub in_place: bool,
    /// Added to a variance or a mean of squares.
    pub eps: f64,
    /// How a loss is reduced.
    pub reduction: Reduction,
}

/// How a loss is reduced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// The mean of all elements.
    #[default]
    Mean,
    /// The sum of all elements.
    Sum,
    /// One loss for each element.
    None,
}

impl Attributes {
    /// The attributes of an operator that reads a new shape.
    pub fn of_shape(shape: Vec<usize>) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    /// The attributes of an operator over one dimension.
    pub fn of_dim(dim: usize) -> Self {
        Self {
            dim: Some(dim),
            ..Self::default()
        }
    }
}
