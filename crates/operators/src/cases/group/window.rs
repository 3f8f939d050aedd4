//! Windows over the spatial dimensions of [batch, channels, ...].

use crate::calls::{Attributes, row_major_strides};

/// Windows over spatial dimensions.
#[derive(Debug, Clone)]
pub(crate) struct Windows {
    input: Vec<usize>,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
}

impl Windows {
    /// Windows of `kernel` over `input`, moved as the attributes say.
    pub(crate) fn new(input: &[usize], kernel: &[usize], attributes: &Attributes) -> Self {
        Self {
            input: input.to_vec(),
            kernel: kernel.to_vec(),
            stride: given_or(&attributes.stride, 1, input),
            padding: given_or(&attributes.padding, 0, input),
            dilation: given_or(&attributes.dilation, 1, input),
        }
    }

    /// The number of windows along each dimension.
    pub(crate) fn output(&self) -> Vec<usize> {
        (0..self.input.len())
            .map(|dimension| {
                let length = self.input[dimension] + 2 * self.padding[dimension];
                let extent = self.dilation[dimension] * (self.kernel[dimension] - 1) + 1;
                length
                    .checked_sub(extent)
                    // A window that is larger than its padded input has no position.
                    .map_or(0, |rest| rest / self.stride[dimension] + 1)
            })
            .collect()
    }

    /// The elements of a window in the order of its kernel: the flat index in the input, none for
    /// padding.
    pub(crate) fn elements(&self, window: &[usize]) -> Vec<Option<usize>> {
        let count: usize = self.kernel.iter().product();
        let (strides, own) = (
            row_major_strides(&self.input),
            row_major_strides(&self.kernel),
        );
        (0..count)
            .map(|flat| {
                let mut index = 0;
                for dimension in 0..self.input.len() {
                    let offset =
                        flat / own[dimension] % self.kernel[dimension] * self.dilation[dimension];
                    let place = window[dimension] * self.stride[dimension] + offset;
                    let place = place.checked_sub(self.padding[dimension])?;
                    if place >= self.input[dimension] {
                        return None;
                    }
                    index += place * strides[dimension];
                }
                Some(index)
            })
            .collect()
    }
}

/// Every position of `shape` in row-major order.
pub(crate) fn positions(shape: &[usize]) -> Vec<Vec<usize>> {
    let strides = row_major_strides(shape);
    (0..shape.iter().product())
        .map(|flat| {
            strides
                .iter()
                .zip(shape)
                .map(|(stride, length)| flat / stride % length)
                .collect()
        })
        .collect()
}

fn given_or(given: &[usize], default: usize, input: &[usize]) -> Vec<usize> {
    if given.is_empty() {
        vec![default; input.len()]
    } else {
        given.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_leave_out_padding_and_skip_what_dilation_skips() {
        let attributes = Attributes {
            stride: vec![2],
            padding: vec![1],
            dilation: vec![2],
            ..Attributes::default()
        };
        let windows = Windows::new(&[6], &[3], &attributes);
        assert_eq!(windows.output(), [2]);
        assert_eq!(windows.elements(&[0]), [None, Some(1), Some(3)]);
        assert_eq!(windows.elements(&[1]), [Some(1), Some(3), Some(5)]);
        assert_eq!(positions(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
    }
}
