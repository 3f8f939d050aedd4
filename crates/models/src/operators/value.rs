//! A tensor on a device, of floats, integers or booleans, and the operators that move its elements.

use burn_tensor::{
    Shape, Slice, TensorMetadata,
    ops::{BoolTensor, FloatTensor, IntTensor},
};
use testgen_nn::backend::Ops;

/// A tensor on a device.
pub(crate) enum DeviceTensor<B: Ops> {
    Float(FloatTensor<B>),
    Int(IntTensor<B>),
    Bool(BoolTensor<B>),
}

impl<B: Ops> Clone for DeviceTensor<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Float(x) => Self::Float(x.clone()),
            Self::Int(x) => Self::Int(x.clone()),
            Self::Bool(x) => Self::Bool(x.clone()),
        }
    }
}

/// Calls the operator of the kind of `$value`.
macro_rules! of_kind {
    ($value:expr, $x:ident => $float:expr, $int:expr, $bool:expr) => {
        match $value {
            DeviceTensor::Float($x) => DeviceTensor::Float($float),
            DeviceTensor::Int($x) => DeviceTensor::Int($int),
            DeviceTensor::Bool($x) => DeviceTensor::Bool($bool),
        }
    };
}

impl<B: Ops> DeviceTensor<B> {
    pub(crate) fn shape(&self) -> Vec<usize> {
        let shape = match self {
            Self::Float(x) => x.shape(),
            Self::Int(x) => x.shape(),
            Self::Bool(x) => x.shape(),
        };
        shape.to_vec()
    }

    pub(crate) fn device(&self) -> B::Device {
        match self {
            Self::Float(x) => B::float_device(x),
            Self::Int(x) => B::int_device(x),
            Self::Bool(x) => B::bool_device(x),
        }
    }

    pub(crate) fn reshape(self, shape: impl Into<Vec<usize>>) -> Self {
        let shape = Shape::from(shape.into());
        of_kind!(self, x => B::float_reshape(x, shape), B::int_reshape(x, shape), B::bool_reshape(x, shape))
    }

    pub(crate) fn permute(self, axes: &[usize]) -> Self {
        of_kind!(self, x => B::float_permute(x, axes), B::int_permute(x, axes), B::bool_permute(x, axes))
    }

    pub(crate) fn swap(self, a: usize, b: usize) -> Self {
        of_kind!(self, x => B::float_swap_dims(x, a, b), B::int_swap_dims(x, a, b), B::bool_swap_dims(x, a, b))
    }

    pub(crate) fn expand(self, shape: &[usize]) -> Self {
        let shape = Shape::from(shape.to_vec());
        of_kind!(self, x => B::float_expand(x, shape), B::int_expand(x, shape), B::bool_expand(x, shape))
    }

    /// Start, end and step of every dimension.
    pub(crate) fn slice(self, ranges: &[[usize; 3]]) -> Self {
        let slices = slices(ranges);
        of_kind!(self, x => B::float_slice(x, &slices), B::int_slice(x, &slices), B::bool_slice(x, &slices))
    }

    /// Joins tensors of one kind along `dim`, or `None` without parts, and for parts of several
    /// kinds.
    pub(crate) fn concat(parts: Vec<Self>, dim: usize) -> Option<Self> {
        let (mut floats, mut ints, mut bools) = (Vec::new(), Vec::new(), Vec::new());
        let count = parts.len();
        for part in parts {
            match part {
                Self::Float(x) => floats.push(x),
                Self::Int(x) => ints.push(x),
                Self::Bool(x) => bools.push(x),
            }
        }
        match [floats.len(), ints.len(), bools.len()].map(|length| length == count && count > 0) {
            [true, _, _] => Some(Self::Float(B::float_cat(floats, dim))),
            [_, true, _] => Some(Self::Int(B::int_cat(ints, dim))),
            [_, _, true] => Some(Self::Bool(B::bool_cat(bools, dim))),
            _ => None,
        }
    }

    /// The rows `indices` of dimension 0.
    pub(crate) fn select(self, indices: IntTensor<B>) -> Self {
        of_kind!(self, x => B::float_select(x, 0, indices), B::int_select(x, 0, indices), B::bool_select(x, 0, indices))
    }

    /// The elements `indices` of dimension `dim`.
    pub(crate) fn select_along(self, dim: usize, indices: IntTensor<B>) -> Self {
        of_kind!(
            self,
            x => B::float_select(x, dim, indices),
            B::int_select(x, dim, indices),
            B::bool_select(x, dim, indices)
        )
    }

    pub(crate) fn gather(self, dim: usize, indices: IntTensor<B>) -> Self {
        of_kind!(
            self,
            x => B::float_gather(dim, x, indices),
            B::int_gather(dim, x, indices),
            B::bool_gather(dim, x, indices)
        )
    }

    /// `self` where `condition` holds, else `other`.
    pub(crate) fn where_else(self, condition: BoolTensor<B>, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => {
                // burn takes the last argument for each element that the mask marks.
                Some(Self::Float(B::float_mask_where(b, condition, a)))
            }
            (Self::Int(a), Self::Int(b)) => Some(Self::Int(B::int_mask_where(b, condition, a))),
            (Self::Bool(a), Self::Bool(b)) => Some(Self::Bool(B::bool_mask_where(b, condition, a))),
            _ => None,
        }
    }
}

/// Start, end and step of every dimension in burn's words.
pub(crate) fn slices(ranges: &[[usize; 3]]) -> Vec<Slice> {
    ranges
        .iter()
        .map(|[start, end, step]| Slice::new(*start as isize, Some(*end as isize), *step as isize))
        .collect()
}
