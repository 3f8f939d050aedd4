//! The place of a matrix's elements in memory.

use crate::number_type::NumberType;

/// The place of a matrix's elements in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixStorage {
    /// The type of its elements.
    pub number: NumberType,
    /// The rows as they are stored, before a transposition.
    pub rows: usize,
    /// The columns as they are stored, before a transposition.
    pub columns: usize,
    /// Elements from a column to the next.
    pub leading: usize,
    /// Elements from a matrix of the batch to the next.
    pub stride: usize,
    /// The matrices of the batch.
    pub batch: usize,
}

impl MatrixStorage {
    /// One column without padding.
    pub(crate) const fn vector(number: NumberType, length: usize) -> Self {
        Self {
            number,
            rows: length,
            columns: 1,
            leading: length,
            stride: length,
            batch: 1,
        }
    }

    /// The elements from the first to the last one, with the gaps between them.
    pub fn elements(&self) -> usize {
        if self.rows == 0 || self.columns == 0 {
            return 0;
        }
        // The last column has no padding: an allocation may end with its last element.
        (self.batch - 1) * self.stride + (self.columns - 1) * self.leading + self.rows
    }

    /// The bytes of [`MatrixStorage::elements`].
    pub fn bytes(&self) -> usize {
        self.elements() * self.number.bytes()
    }

    /// The index of an element.
    pub fn index(&self, matrix: usize, row: usize, column: usize) -> usize {
        matrix * self.stride + column * self.leading + row
    }

    /// Whether the columns of a matrix continue in the next one.
    pub(super) fn is_contiguous(&self) -> bool {
        self.stride == self.leading * self.columns
    }
}
