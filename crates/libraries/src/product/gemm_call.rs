//! A product as a library is called with it.

use super::{Gemm, GemmTypes, MatrixStorage, Operand, write_epilogue};
use crate::epilogue::Epilogue;
use std::fmt;

/// A product as a library is called with it: each matrix has its own place.
#[derive(Debug, Clone, PartialEq)]
pub struct GemmCall {
    /// The rows of D.
    pub rows: usize,
    /// The columns of D.
    pub columns: usize,
    /// The length of the sums.
    pub inner: usize,
    /// The number of products; one is a call without a batch.
    pub batch: usize,
    /// The types of the elements, and of sums.
    pub arithmetic: GemmTypes,
    /// Whether A and B are stored transposed.
    pub transposed: [bool; 2],
    /// The factor of the product.
    pub alpha: f64,
    /// The factor of C; with 0, C must not be read.
    pub beta: f64,
    /// The places of A, of B, and of C and D, which have the same.
    pub storage: [MatrixStorage; 3],
    /// The steps after the product.
    pub epilogue: Epilogue,
    /// Whether A and B have scales in the memory of the device.
    pub scaled: bool,
}

impl GemmCall {
    /// The place of a matrix's elements.
    pub fn stored(&self, operand: Operand) -> MatrixStorage {
        let [a, b, d] = self.storage;
        match operand {
            Operand::A => a,
            Operand::B => b,
            Operand::C | Operand::D => d,
        }
    }

    /// Whether it has neither scales nor an epilogue, which cuBLAS and rocBLAS do not have.
    pub fn is_plain(&self) -> bool {
        !self.scaled && self.epilogue == Epilogue::NONE
    }

    /// The same products as one with more columns, where all have the same A and the columns of B
    /// and D continue from one matrix to the next.
    #[must_use]
    pub fn with_joined_batch(mut self) -> Self {
        let [a, b, d] = &mut self.storage;
        if self.batch > 1
            // A stride of 0: all products have one A.
            && a.stride == 0
            // The columns of a transposed B are rows in memory, which do not continue in the next
            // matrix.
            && !self.transposed[1]
            && b.is_contiguous()
            && d.is_contiguous()
        {
            self.columns *= self.batch;
            for matrix in [b, d] {
                matrix.columns *= self.batch;
            }
            for matrix in &mut self.storage {
                matrix.batch = 1;
            }
            self.batch = 1;
        }
        self
    }
}

impl From<&Gemm> for GemmCall {
    fn from(product: &Gemm) -> Self {
        Self {
            rows: product.rows,
            columns: product.columns,
            inner: product.inner,
            batch: product.batch,
            arithmetic: product.arithmetic,
            transposed: product.transposed,
            alpha: product.alpha,
            beta: product.beta,
            storage: [Operand::A, Operand::B, Operand::D].map(|operand| product.stored(operand)),
            epilogue: product.epilogue,
            scaled: product.scales.is_some(),
        }
    }
}

impl fmt::Display for GemmCall {
    /// Types, sizes and layout, without alpha and beta.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rows,
            columns,
            inner,
            batch,
            arithmetic,
            ..
        } = self;
        let [a, b] = self.transposed.map(|it| if it { 'T' } else { 'N' });
        write!(f, "{arithmetic} {a}{b} {rows}x{columns}x{inner}")?;
        // Part of the name: another leading dimension may get another kernel.
        let [a, b, d] = self.storage.map(|matrix| matrix.leading);
        write!(f, " leading {a} {b} {d}")?;
        if *batch > 1 {
            let [a, b, d] = self.storage.map(|matrix| matrix.stride);
            write!(f, " batch {batch} stride {a} {b} {d}")?;
        }
        if self.scaled {
            f.write_str(" scaled")?;
        }
        write_epilogue(f, self.epilogue)
    }
}
