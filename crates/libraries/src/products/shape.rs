//! The sizes of a product.

use crate::product::GemmTypes;

/// The sizes of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProductShape {
    /// The rows of the result.
    pub(crate) rows: usize,
    /// The columns of the result.
    pub(crate) columns: usize,
    /// The length of the sums.
    pub(crate) inner: usize,
    /// The number of products.
    pub(crate) batch: usize,
}

impl ProductShape {
    /// One product of `[rows, columns, inner]`.
    pub(crate) const fn new([rows, columns, inner]: [usize; 3]) -> Self {
        Self {
            rows,
            columns,
            inner,
            batch: 1,
        }
    }

    /// The products of numbers.
    pub(crate) const fn terms(&self) -> usize {
        self.rows * self.columns * self.inner * self.batch
    }

    /// Whether libraries support the shape: factors of 8 bits need sizes that fill 16 bytes.
    pub(super) fn fits(&self, arithmetic: GemmTypes) -> bool {
        !arithmetic.has_bytes()
            || [self.rows, self.columns, self.inner]
                .iter()
                .all(|size| size % 16 == 0)
    }
}
