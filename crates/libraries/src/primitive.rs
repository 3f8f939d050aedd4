//! An operator on one dense tensor as cuDNN and MIOpen define it: softmax, activations, pools and
//! reductions.

use testgen_operators::calls::{Attributes, Call, CallError, Element, HostTensor};
use testgen_types::Operator;

/// An operator with one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimitiveProblem {
    /// The type of both tensors.
    pub element: Element,
    /// The operator with its arguments.
    pub kind: PrimitiveKind,
    /// The lengths of the input: four, or five for windows of three dimensions.
    pub x: Vec<usize>,
    /// The lengths of the result, as many.
    pub y: Vec<usize>,
    /// The shape of the result as the operator has it.
    pub shape: Vec<usize>,
}

/// The lengths of an input and of its result.
type TensorLengths = [Vec<usize>; 2];

/// The operator of a [`PrimitiveProblem`].
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The smallest element.
    Min,
    /// The largest element.
    Max,
    /// The mean.
    Mean,
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

impl PrimitiveProblem {
    /// The problem of a call.
    ///
    /// # Errors
    ///
    /// The inputs are not of the operator, or no library has the operator with these arguments.
    pub fn of_call(call: &Call) -> Result<Self, CallError> {
        let x = call.tensor(0).ok_or_else(|| inputs(call, "a tensor"))?;
        if !x.element.is_float() {
            return Err(unsupported(
                call,
                "the library computes floating-point numbers",
            ));
        }
        let problem = |kind, [from, to]: [Vec<usize>; 2], shape| Self {
            element: x.element,
            kind,
            x: from,
            y: to,
            shape,
        };
        if let Some(activation) = activation(call.operator) {
            let lengths = vec![1, 1, 1, x.len()];
            let kind = PrimitiveKind::Activation(activation);
            return Ok(problem(kind, [lengths.clone(), lengths], x.shape.clone()));
        }
        if let Some(reduction) = reduction(call.operator) {
            let (lengths, shape) = reduced(call, x)?;
            return Ok(problem(PrimitiveKind::Reduction(reduction), lengths, shape));
        }
        match call.operator {
            Operator::Softmax | Operator::LogSoftmax => {
                let lengths = around(call, x, call.attributes.dim.unwrap_or(0))?;
                let logarithm = call.operator == Operator::LogSoftmax;
                let kind = PrimitiveKind::Softmax { logarithm };
                Ok(problem(kind, [lengths.clone(), lengths], x.shape.clone()))
            }
            _ => {
                let (windows, lengths, shape) = pooled(call, x)?;
                Ok(problem(PrimitiveKind::Pool(windows), lengths, shape))
            }
        }
    }

    /// Whether a tensor has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.x.contains(&0) || self.y.contains(&0)
    }
}

fn inputs(call: &Call, problem: &str) -> CallError {
    CallError::Inputs {
        operator: call.operator,
        problem: problem.to_owned(),
    }
}

fn unsupported(call: &Call, message: &str) -> CallError {
    CallError::Unsupported {
        operator: call.operator,
        message: message.to_owned(),
    }
}

const fn activation(operator: Operator) -> Option<PrimitiveActivation> {
    match operator {
        Operator::Relu => Some(PrimitiveActivation::Relu),
        Operator::Relu6 => Some(PrimitiveActivation::Relu6),
        Operator::Sigmoid => Some(PrimitiveActivation::Sigmoid),
        Operator::Tanh => Some(PrimitiveActivation::Tanh),
        Operator::Silu => Some(PrimitiveActivation::Silu),
        _ => None,
    }
}

const fn reduction(operator: Operator) -> Option<PrimitiveReduction> {
    match operator {
        Operator::Sum => Some(PrimitiveReduction::Sum),
        Operator::Min => Some(PrimitiveReduction::Min),
        Operator::Max => Some(PrimitiveReduction::Max),
        Operator::Mean => Some(PrimitiveReduction::Mean),
        _ => None,
    }
}

/// Four lengths, the second of which is the dimension `dim`: everything before it, the dimension,
/// everything after it, and 1.
fn around(call: &Call, x: &HostTensor, dim: usize) -> Result<Vec<usize>, CallError> {
    let length = *x
        .shape
        .get(dim)
        .ok_or_else(|| inputs(call, "a dimension of the input"))?;
    let before = x.shape[..dim].iter().product();
    let after = x.shape[dim + 1..].iter().product();
    Ok(vec![before, length, after, 1])
}

/// The lengths of input and result of a reduction, and the shape of the result.
fn reduced(call: &Call, x: &HostTensor) -> Result<(TensorLengths, Vec<usize>), CallError> {
    let (from, shape) = match call.attributes.dim {
        Some(dim) => {
            let lengths = around(call, x, dim)?;
            let mut shape = x.shape.clone();
            shape.remove(dim);
            (lengths, shape)
        }
        None => (vec![1, x.len(), 1, 1], Vec::new()),
    };
    if from[1] == 0 {
        return Err(unsupported(call, "a reduction of no elements"));
    }
    let to = vec![from[0], 1, from[2], 1];
    Ok(([from, to], shape))
}

/// The windows of a pool, the lengths of input and result, and the shape of the result. A pool of
/// one dimension has a second one of length 1, as PyTorch calls the libraries.
fn pooled(
    call: &Call,
    x: &HostTensor,
) -> Result<(PoolWindows, TensorLengths, Vec<usize>), CallError> {
    let attributes = &call.attributes;
    let kind = pool_kind(call.operator, attributes)
        .ok_or_else(|| unsupported(call, "no library computes this operator"))?;
    if attributes.dilation.iter().any(|dilation| *dilation != 1) {
        return Err(unsupported(call, "pools of the library have no dilation"));
    }
    let rank = attributes.kernel.len();
    if !(1..=3).contains(&rank) || x.shape.len() != rank + 2 || attributes.kernel.contains(&0) {
        return Err(inputs(call, "a window for each spatial dimension"));
    }
    let given = |given: &[usize], default: usize| {
        let one = |dimension: usize| given.get(dimension).copied().unwrap_or(default);
        (0..rank).map(one).collect::<Vec<usize>>()
    };
    let mut windows = PoolWindows {
        kind,
        lengths: attributes.kernel.clone(),
        padding: given(&attributes.padding, 0),
        stride: given(&attributes.stride, 1),
    };
    let (mut from, mut to) = (x.shape.clone(), x.shape[..2].to_vec());
    to.extend((0..rank).map(|dimension| windows.count(dimension, from[2 + dimension])));
    let shape = to.clone();
    if rank == 1 {
        from.insert(2, 1);
        to.insert(2, 1);
        windows.lengths.insert(0, 1);
        windows.padding.insert(0, 0);
        windows.stride.insert(0, 1);
    }
    Ok((windows, [from, to], shape))
}

impl PoolWindows {
    /// The number of windows along a dimension of this length.
    fn count(&self, dimension: usize, length: usize) -> usize {
        let padded = length + 2 * self.padding[dimension];
        padded
            .checked_sub(self.lengths[dimension])
            .map_or(0, |rest| rest / self.stride[dimension].max(1) + 1)
    }
}

fn pool_kind(operator: Operator, attributes: &Attributes) -> Option<PoolKind> {
    match operator {
        Operator::MaxPool1d | Operator::MaxPool2d | Operator::MaxPool3d => Some(PoolKind::Max),
        Operator::AvgPool1d | Operator::AvgPool2d | Operator::AvgPool3d => {
            Some(if attributes.count_include_pad {
                PoolKind::MeanWithPadding
            } else {
                PoolKind::Mean
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
