//! The matrix products of a call, by their sizes.

use std::{cell::RefCell, collections::BTreeMap};

/// A product of matrices, [batch, rows, inner] times [batch, inner, columns].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixProduct {
    /// The number of products that are computed together: 1 for a projection.
    pub batch: u64,
    /// Rows of the left factor.
    pub rows: u64,
    /// Columns of the left factor, and rows of the right one.
    pub inner: u64,
    /// Columns of the right factor.
    pub columns: u64,
}

impl MatrixProduct {
    /// Multiplications, with as many additions.
    pub fn multiplications(self) -> u64 {
        [self.rows, self.inner, self.columns]
            .into_iter()
            .fold(self.batch, u64::saturating_mul)
    }
}

/// The products of a call so far, with their numbers.
#[derive(Debug, Default)]
pub(crate) struct ProductCounts(RefCell<BTreeMap<MatrixProduct, u64>>);

impl ProductCounts {
    /// Counts a product.
    pub(crate) fn add(&self, product: MatrixProduct) {
        // Nothing is computed for one without elements.
        if product.multiplications() > 0 {
            *self.0.borrow_mut().entry(product).or_default() += 1;
        }
    }

    /// All products, which are then forgotten.
    pub(crate) fn take(&self) -> BTreeMap<MatrixProduct, u64> {
        self.0.take()
    }
}
