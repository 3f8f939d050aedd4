//! Tensors on the host. Their numbers are f64, which has every number of every element type.

use crate::calls::element::Element;
use serde::{Deserialize, Serialize};

/// A dense row-major tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostTensor {
    /// The length of every dimension, outermost first.
    pub shape: Vec<usize>,
    /// The type of its elements on a device.
    pub element: Element,
    /// Numbers of that type, row-major.
    #[serde(with = "crate::calls::tensor::numbers")]
    pub values: Vec<f64>,
}

impl HostTensor {
    /// A tensor of `values`, rounded to `element`. Panics when they do not fill `shape`, a fault of
    /// the caller.
    pub fn new(shape: impl Into<Vec<usize>>, element: Element, mut values: Vec<f64>) -> Self {
        let shape = shape.into();
        assert_eq!(
            shape.iter().product::<usize>(),
            values.len(),
            "values do not fill the shape {shape:?}"
        );
        values
            .iter_mut()
            .for_each(|value| *value = element.round(*value));
        Self {
            shape,
            element,
            values,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same numbers in another shape. Panics when it has another number of elements, a fault of
    /// the caller.
    #[must_use]
    pub fn reshaped(&self, shape: impl Into<Vec<usize>>) -> Self {
        Self::new(shape, self.element, self.values.clone())
    }

    /// The dimensions in the order of `axes`.
    #[must_use]
    pub fn permuted(&self, axes: &[usize]) -> Self {
        let shape: Vec<usize> = axes.iter().map(|axis| self.shape[*axis]).collect();
        let strides = row_major_strides(&self.shape);
        let strides: Vec<usize> = axes.iter().map(|axis| strides[*axis]).collect();
        let values = offsets(&shape, &strides)
            .map(|offset| self.values[offset])
            .collect();
        Self {
            shape,
            element: self.element,
            values,
        }
    }

    /// The tensor with dimensions of size 1 repeated, and dimensions added in front, up to `shape`.
    #[must_use]
    pub fn expanded(&self, shape: &[usize]) -> Self {
        // As in PyTorch, shapes are aligned at their last dimension.
        let added = shape.len() - self.shape.len();
        let strides = row_major_strides(&self.shape);
        let strides: Vec<usize> = (0..shape.len())
            .map(|dimension| match dimension.checked_sub(added) {
                Some(own) if self.shape[own] == shape[dimension] => strides[own],
                // A stride of 0 reads the same element again.
                _ => 0,
            })
            .collect();
        let values = offsets(shape, &strides)
            .map(|offset| self.values[offset])
            .collect();
        Self {
            shape: shape.to_vec(),
            element: self.element,
            values,
        }
    }

    /// The rows `indices` of the first dimension, in that order.
    #[must_use]
    pub fn rows(&self, indices: &[usize]) -> Self {
        let inner: usize = self.shape[1..].iter().product();
        let values = indices
            .iter()
            .flat_map(|row| self.values[row * inner..(row + 1) * inner].iter().copied());
        let mut shape = self.shape.clone();
        shape[0] = indices.len();
        Self {
            values: values.collect(),
            shape,
            element: self.element,
        }
    }

    /// The flat indices of elements whose bits differ from the bits of a tensor of the same shape;
    /// NaN equals NaN, whose bits no file has.
    pub fn differing<'t>(&'t self, other: &'t Self) -> impl Iterator<Item = usize> + 't {
        self.values
            .iter()
            .zip(&other.values)
            .enumerate()
            .filter(|(_, (one, other))| {
                one.to_bits() != other.to_bits() && !(one.is_nan() && other.is_nan())
            })
            .map(|(flat, _)| flat)
    }

    /// The position of element `flat`, one index for each dimension.
    pub fn position(&self, flat: usize) -> Vec<usize> {
        let strides = row_major_strides(&self.shape);
        strides
            .iter()
            .zip(&self.shape)
            .map(|(stride, length)| flat / stride % length)
            .collect()
    }
}

/// The distance of neighbours along each dimension of a row-major tensor; at least 1, even if a
/// dimension is empty.
pub fn row_major_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        // Positions are found by dividing by strides.
        strides[dimension - 1] = strides[dimension] * shape[dimension].max(1);
    }
    strides
}

/// The offsets of all elements of `shape` in row-major order, for a tensor with these strides.
fn offsets(shape: &[usize], strides: &[usize]) -> impl Iterator<Item = usize> {
    let own = row_major_strides(shape);
    let count: usize = shape.iter().product();
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    (0..count).map(move |flat| {
        own.iter()
            .zip(&shape)
            .zip(&strides)
            .map(|((own, length), stride)| flat / own % length * stride)
            .sum()
    })
}

/// The shape of the result of an operator on tensors that are broadcast, or `None` if they do not
/// fit.
pub fn broadcast_shape(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    (0..rank)
        .map(|dimension| {
            let lengths: Vec<usize> = shapes
                .iter()
                .filter_map(|shape| {
                    (dimension + shape.len())
                        .checked_sub(rank)
                        .map(|own| shape[own])
                })
                .collect();
            let wide = lengths
                .iter()
                .copied()
                // A length of 0 also replaces 1: the result is empty.
                .find(|length| *length != 1)
                .unwrap_or(1);
            lengths
                .iter()
                .all(|length| *length == wide || *length == 1)
                .then_some(wide)
        })
        .collect()
}

/// Numbers as JSON, which has neither NaN nor infinity: those are texts.
pub(crate) mod numbers {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum JsonNumber {
        Finite(f64),
        Other(String),
    }

    pub(crate) fn serialize<S: Serializer>(
        values: &[f64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| match value {
            value if value.is_finite() => JsonNumber::Finite(*value),
            value => JsonNumber::Other(value.to_string()),
        }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<JsonNumber>::deserialize(deserializer)?;
        numbers
            .into_iter()
            .map(|number| match number {
                JsonNumber::Finite(value) => Ok(value),
                // `NaN`, `inf` and `-inf`, as Rust writes them.
                JsonNumber::Other(text) => text.parse().map_err(serde::de::Error::custom),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(shape: &[usize]) -> HostTensor {
        HostTensor::new(
            shape,
            Element::F32,
            (0..shape.iter().product::<usize>())
                .map(|index| index as f64)
                .collect(),
        )
    }

    #[test]
    fn dimensions_are_exchanged_and_repeated() {
        let matrix = counted(&[2, 3]);
        assert_eq!(
            matrix.permuted(&[1, 0]).values,
            [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
        );
        assert_eq!(
            counted(&[2, 1]).expanded(&[2, 2, 2]).values,
            [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
        );
        assert_eq!(
            matrix.rows(&[1, 1, 0]).values,
            [3.0, 4.0, 5.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0]
        );
        assert_eq!(matrix.position(4), [1, 1]);
        assert_eq!(counted(&[0, 3]).permuted(&[1, 0]).shape, [3, 0]);
    }

    #[test]
    fn shapes_are_broadcast_from_the_end() {
        assert_eq!(broadcast_shape(&[&[2, 1, 3], &[4, 1]]), Some(vec![2, 4, 3]));
        assert_eq!(broadcast_shape(&[&[2, 3], &[2]]), None);
        assert_eq!(broadcast_shape(&[&[0, 3], &[1, 3]]), Some(vec![0, 3]));
        assert_eq!(broadcast_shape(&[&[], &[2]]), Some(vec![2]));
    }
}
