//! Tensors on the host, without a backend: the content of goldens, requests and outputs.

use std::collections::BTreeMap;

/// Named tensors, by the names of the transformers forward call or of its result.
pub type Arrays = BTreeMap<String, Array>;

/// A dense row-major tensor on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    values: Values,
}

/// The elements of an [`Array`].
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Activations, pixels, scores.
    F32(Vec<f32>),
    /// Token ids, masks, positions, labels.
    I64(Vec<i64>),
    /// Raw image bytes.
    U8(Vec<u8>),
}

impl Array {
    /// A tensor of floats. Panics when `values` does not fill `shape`, a fault of the caller.
    pub fn floats(shape: impl Into<Vec<usize>>, values: Vec<f32>) -> Self {
        Self::new(shape.into(), Values::F32(values))
    }

    /// A tensor of integers. Panics when `values` does not fill `shape`, a fault of the caller.
    pub fn integers(shape: impl Into<Vec<usize>>, values: Vec<i64>) -> Self {
        Self::new(shape.into(), Values::I64(values))
    }

    /// A tensor of bytes. Panics when `values` does not fill `shape`, a fault of the caller.
    pub fn bytes(shape: impl Into<Vec<usize>>, values: Vec<u8>) -> Self {
        Self::new(shape.into(), Values::U8(values))
    }

    fn new(shape: Vec<usize>, values: Values) -> Self {
        let elements: usize = shape.iter().product();
        assert_eq!(
            elements,
            values.len(),
            "shape {shape:?} has {elements} elements"
        );
        Self { shape, values }
    }

    /// The length of every dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, row-major.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The elements as floats, or none when they are not floats.
    pub fn as_floats(&self) -> Option<&[f32]> {
        match &self.values {
            Values::F32(values) => Some(values),
            Values::I64(_) | Values::U8(_) => None,
        }
    }

    /// The elements as integers, or none when they are not integers.
    pub fn as_integers(&self) -> Option<&[i64]> {
        match &self.values {
            Values::I64(values) => Some(values),
            Values::F32(_) | Values::U8(_) => None,
        }
    }

    /// The part `start..start + length` of dimension `dim`. Panics when it is out of range, a fault
    /// of the caller.
    pub fn narrow(&self, dim: usize, start: usize, length: usize) -> Self {
        let outer: usize = self.shape[..dim].iter().product();
        let inner: usize = self.shape[dim + 1..].iter().product();
        assert!(
            start + length <= self.shape[dim],
            "narrow {start}+{length} of dimension {dim} of {:?}",
            self.shape
        );
        let rows: Vec<usize> = (0..outer)
            .flat_map(|block| {
                let first = (block * self.shape[dim] + start) * inner;
                first..first + length * inner
            })
            .collect();
        let mut shape = self.shape.clone();
        shape[dim] = length;
        Self {
            shape,
            values: self.values.gather(&rows),
        }
    }

    /// The same elements in another shape. Panics when it has another number of elements, a fault
    /// of the caller.
    pub fn reshaped(&self, shape: &[usize]) -> Self {
        assert_eq!(
            shape.iter().product::<usize>(),
            self.values.len(),
            "{:?} as {shape:?}",
            self.shape
        );
        Self {
            shape: shape.to_vec(),
            values: self.values.clone(),
        }
    }

    /// The elements at their positions in a larger or smaller `shape` of as many dimensions:
    /// cropped, or padded with zeros.
    pub fn resized(&self, shape: &[usize]) -> Self {
        let sources: Vec<Option<usize>> = (0..shape.iter().product())
            .map(|flat| {
                // From the innermost dimension outwards, with the strides of the old shape.
                let (mut rest, mut stride, mut found) = (flat, 1, 0);
                for (length, own) in shape.iter().zip(&self.shape).rev() {
                    let place = rest % length;
                    if place >= *own {
                        return None;
                    }
                    (rest, found, stride) = (rest / length, found + place * stride, stride * own);
                }
                Some(found)
            })
            .collect();
        Self {
            shape: shape.to_vec(),
            values: self.values.gather_or_zero(&sources),
        }
    }

    /// The rows `indices` of the first dimension, in that order.
    pub fn select_rows(&self, indices: &[usize]) -> Self {
        let inner: usize = self.shape[1..].iter().product();
        let elements: Vec<usize> = indices
            .iter()
            .flat_map(|row| row * inner..(row + 1) * inner)
            .collect();
        let mut shape = self.shape.clone();
        shape[0] = indices.len();
        Self {
            shape,
            values: self.values.gather(&elements),
        }
    }
}

impl Values {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn gather(&self, indices: &[usize]) -> Self {
        match self {
            Self::F32(values) => Self::F32(indices.iter().map(|index| values[*index]).collect()),
            Self::I64(values) => Self::I64(indices.iter().map(|index| values[*index]).collect()),
            Self::U8(values) => Self::U8(indices.iter().map(|index| values[*index]).collect()),
        }
    }

    fn gather_or_zero(&self, indices: &[Option<usize>]) -> Self {
        fn at<T: Copy + Default>(values: &[T], indices: &[Option<usize>]) -> Vec<T> {
            indices
                .iter()
                .map(|index| index.map_or_else(T::default, |index| values[index]))
                .collect()
        }
        match self {
            Self::F32(values) => Self::F32(at(values, indices)),
            Self::I64(values) => Self::I64(at(values, indices)),
            Self::U8(values) => Self::U8(at(values, indices)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resizing_cuts_off_and_fills_up_every_dimension() {
        let array = Array::integers([2, 3], vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(
            array.resized(&[3, 2]),
            Array::integers([3, 2], vec![1, 2, 4, 5, 0, 0])
        );
        assert_eq!(
            array.resized(&[1, 4]),
            Array::integers([1, 4], vec![1, 2, 3, 0])
        );
    }
}
