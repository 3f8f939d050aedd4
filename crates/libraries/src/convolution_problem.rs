//! A convolution as the libraries define it: dense tensors of two or three spatial dimensions.

use crate::product::ComputeType;
use std::fmt;
use testgen_operators::calls::{Attributes, Call, Element, row_major_strides};
use testgen_types::{Operator, Precision};

/// A convolution without bias, or a transposed one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConvolutionProblem {
    /// The operator.
    pub operator: Operator,
    /// The type of all tensors.
    pub element: Element,
    /// The type in which factors are multiplied; sums are f32.
    pub compute: ComputeType,
    /// [batch, in, ...].
    pub x: Vec<usize>,
    /// [out, in / groups, ...]; of a transposed convolution [in, out / groups, ...].
    pub weight: Vec<usize>,
    /// [batch, out, ...].
    pub y: Vec<usize>,
    /// Zeros on both sides of x; of a transposed convolution removed from both sides of y.
    pub padding: Vec<usize>,
    /// Positions between two windows.
    pub stride: Vec<usize>,
    /// Positions between two taps of a window.
    pub dilation: Vec<usize>,
    /// Positions that a transposed convolution adds to one side of y.
    pub output_padding: Vec<usize>,
    /// Groups of channels.
    pub groups: usize,
    /// Whether the channels of a position are neighbours in all tensors, in place of row-major
    /// tensors.
    pub channels_last: bool,
}

impl ConvolutionProblem {
    /// The problem of a call, with products of f32 in `precision`.
    ///
    /// # Errors
    ///
    /// The inputs do not form a convolution; the error names the difference.
    pub fn of_call(call: &Call, precision: Precision) -> Result<Self, &'static str> {
        let (Some(x), Some(weight)) = (call.tensor(0), call.tensor(1)) else {
            return Err("a convolution has an input and a weight");
        };
        if x.element != weight.element {
            return Err("input and weight have different types");
        }
        let compute = match (x.element, precision) {
            (Element::F32, Precision::Tf32) => ComputeType::Tf32,
            // The precision is a choice for calls on f32; 16-bit types always have sums in f32.
            _ => ComputeType::F32,
        };
        Self::new(
            call.operator,
            (x.element, compute),
            [&x.shape, &weight.shape],
            &call.attributes,
        )
    }

    /// The problem of tensors with the shapes of input and weight, and with the types of elements
    /// and products. A convolution over one dimension has a second one of length 1, as PyTorch calls
    /// the libraries.
    ///
    /// # Errors
    ///
    /// The shapes do not form a convolution; the error names the difference.
    pub fn new(
        operator: Operator,
        (element, compute): (Element, ComputeType),
        [x, weight]: [&[usize]; 2],
        attributes: &Attributes,
    ) -> Result<Self, &'static str> {
        let rank = x.len().saturating_sub(2);
        if !(1..=3).contains(&rank) || weight.len() != rank + 2 {
            return Err("input and weight have one to three spatial dimensions");
        }
        // The extent of a window subtracts one from its taps.
        if weight[2..].contains(&0) {
            return Err("the kernel has no elements");
        }
        let mut problem = Self {
            operator,
            element,
            compute,
            x: x.to_vec(),
            weight: weight.to_vec(),
            y: Vec::new(),
            padding: or(&attributes.padding, 0, rank)?,
            stride: or(&attributes.stride, 1, rank)?,
            dilation: or(&attributes.dilation, 1, rank)?,
            output_padding: or(&attributes.output_padding, 0, rank)?,
            groups: groups(attributes, weight)?,
            channels_last: false,
        };
        problem.y = problem.result()?;
        if rank == 1 {
            problem.add_dimension();
        }
        Ok(problem)
    }

    /// Whether it is a transposed convolution.
    pub fn is_transposed(&self) -> bool {
        self.operator == Operator::ConvTranspose2d
    }

    /// The strides of a tensor, which is dense.
    pub fn strides(&self, shape: &[usize]) -> Vec<usize> {
        let mut strides = row_major_strides(shape);
        if let ([_, channels, _, ..], true) = (shape, self.channels_last) {
            // The row-major strides count the positions of one channel; with channels last each
            // position has all channels. The stride of the batch is the same in both orders.
            strides[1] = 1;
            strides[2..]
                .iter_mut()
                .for_each(|stride| *stride *= channels);
        }
        strides
    }

    /// The place in memory of element `flat` of a tensor, counted row-major.
    pub(crate) fn place(&self, shape: &[usize], flat: usize) -> usize {
        let positions: usize = shape[2..].iter().product();
        if !self.channels_last {
            return flat;
        }
        let (row, channel) = (flat / positions / shape[1], flat / positions % shape[1]);
        (row * positions + flat % positions) * shape[1] + channel
    }

    /// Channels of x and of y.
    fn channels(&self) -> [usize; 2] {
        let [rows, columns] = [self.weight[0], self.weight[1] * self.groups];
        if self.is_transposed() {
            [rows, columns]
        } else {
            [columns, rows]
        }
    }

    /// The shape of the result.
    fn result(&self) -> Result<Vec<usize>, &'static str> {
        let [inner, outer] = self.channels();
        if inner != self.x[1] {
            return Err("the channels of the weight are not those of the input");
        }
        let spatial = (0..self.padding.len()).map(|dimension| self.length(dimension));
        let mut shape = vec![self.x[0], outer];
        for length in spatial {
            shape.push(length.ok_or("the window is longer than the padded input")?);
        }
        Ok(shape)
    }

    /// The length of a spatial dimension of the result; `None` if no window fits.
    fn length(&self, dimension: usize) -> Option<usize> {
        let [from, taps] = [&self.x, &self.weight].map(|shape| shape[2 + dimension]);
        let (stride, around) = (self.stride[dimension], 2 * self.padding[dimension]);
        let extent = self.dilation[dimension] * (taps - 1) + 1;
        if self.is_transposed() {
            let whole = from.checked_sub(1)? * stride + extent + self.output_padding[dimension];
            whole.checked_sub(around).filter(|length| *length > 0)
        } else {
            (from + around)
                .checked_sub(extent)
                .map(|rest| rest / stride + 1)
        }
    }

    fn add_dimension(&mut self) {
        for shape in [&mut self.x, &mut self.weight, &mut self.y] {
            shape.insert(2, 1);
        }
        for (of_windows, neutral) in [
            (&mut self.padding, 0),
            (&mut self.stride, 1),
            (&mut self.dilation, 1),
            (&mut self.output_padding, 0),
        ] {
            of_windows.insert(0, neutral);
        }
    }

    /// The precision of its arithmetic.
    pub(crate) fn precision(&self) -> Precision {
        match (self.compute, self.element) {
            (ComputeType::Tf32, _) => Precision::Tf32,
            (_, Element::F16) => Precision::F16,
            (_, Element::Bf16) => Precision::Bf16,
            (_, Element::F32 | Element::I32 | Element::Bool) => Precision::F32,
        }
    }

    /// Multiplications of one element of the result, or of one of the input if it is transposed.
    pub(crate) fn taps(&self) -> usize {
        self.weight[1..].iter().product()
    }

    /// The types, for instance `f16`.
    pub fn arithmetic(&self) -> String {
        match self.compute {
            ComputeType::Tf32 => "tf32".to_owned(),
            ComputeType::F32 | ComputeType::I32 => self.element.to_string(),
        }
    }
}

/// An attribute with a number for each spatial dimension.
fn or(given: &[usize], default: usize, rank: usize) -> Result<Vec<usize>, &'static str> {
    match given.len() {
        0 => Ok(vec![default; rank]),
        // Padding may be 0; with a stride or a dilation of 0, windows would not move.
        length if length == rank && (default == 0 || !given.contains(&0)) => Ok(given.to_vec()),
        _ => Err("an attribute has one positive number for each spatial dimension"),
    }
}

fn groups(attributes: &Attributes, weight: &[usize]) -> Result<usize, &'static str> {
    let groups = attributes.groups;
    if groups > 0 && weight[0].is_multiple_of(groups) {
        Ok(groups)
    } else {
        Err("the groups do not divide the channels")
    }
}

impl fmt::Display for ConvolutionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operator,
            x,
            weight,
            padding,
            stride,
            dilation,
            output_padding,
            groups,
            channels_last,
            ..
        } = self;
        let order = if *channels_last { " channels last" } else { "" };
        write!(
            f,
            "{} {operator}{order} {x:?} {weight:?}",
            self.arithmetic()
        )?;
        write!(
            f,
            " padding {padding:?} stride {stride:?} dilation {dilation:?}"
        )?;
        if output_padding.iter().any(|padding| *padding > 0) {
            write!(f, " output padding {output_padding:?}")?;
        }
        write!(f, " groups {groups}")
    }
}

#[cfg(test)]
mod tests;
