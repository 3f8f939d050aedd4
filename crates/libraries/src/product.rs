//! A product of matrices as the libraries define it: D = alpha * op(A) * op(B) + beta * C,
//! column-major.

mod gemm_call;
mod gemm_types;
mod matrix_storage;

pub use gemm_call::GemmCall;
pub use gemm_types::{ComputeType, GemmTypes};
pub use matrix_storage::MatrixStorage;

use crate::epilogue::Epilogue;
use std::fmt;

/// D = epilogue(alpha * op(A) * op(B) + beta * C), for each of `batch` matrices. A matrix is stored
/// by columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Gemm {
    /// The rows of D.
    pub rows: usize,
    /// The columns of D.
    pub columns: usize,
    /// The length of the sums; with 0, D is beta * C.
    pub inner: usize,
    /// The number of products; one is a call without a batch.
    pub batch: usize,
    /// The types of the elements, and of sums.
    pub arithmetic: GemmTypes,
    /// Whether A and B are stored transposed.
    pub transposed: [bool; 2],
    /// The factor of the product; with 0, BLAS does not read A and B.
    pub alpha: f64,
    /// The factor of C; with 0, C must not be read.
    pub beta: f64,
    /// Elements between two columns of each matrix, which belong to no matrix.
    pub padding: usize,
    /// Elements between two matrices of a batch.
    pub gap: usize,
    /// The steps after the product.
    pub epilogue: Epilogue,
    /// Numbers by which the elements of A and of B are multiplied, which the library reads from the
    /// device: of factors of 8 bits.
    pub scales: Option<[f64; 2]>,
}

/// One of the four matrices of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The first factor.
    A,
    /// The second factor.
    B,
    /// The matrix that is added.
    C,
    /// The result.
    D,
}

impl Gemm {
    /// A product with alpha 1 and beta 0, not transposed, without padding.
    pub fn new([rows, columns, inner]: [usize; 3], arithmetic: GemmTypes) -> Self {
        let [batch, padding, gap] = [1, 0, 0];
        Self {
            rows,
            columns,
            inner,
            batch,
            arithmetic,
            transposed: [false; 2],
            alpha: 1.0,
            beta: 0.0,
            padding,
            gap,
            epilogue: Epilogue::NONE,
            scales: None,
        }
    }

    /// The place of a matrix's elements.
    pub fn stored(&self, operand: Operand) -> MatrixStorage {
        let GemmTypes {
            factors, result, ..
        } = self.arithmetic;
        let (number, [rows, columns]) = match operand {
            Operand::A => (
                factors[0],
                turn([self.rows, self.inner], self.transposed[0]),
            ),
            Operand::B => (
                factors[1],
                turn([self.inner, self.columns], self.transposed[1]),
            ),
            Operand::C | Operand::D => (result, [self.rows, self.columns]),
        };
        // Libraries refuse a leading dimension of 0, also of a matrix without rows.
        let leading = (rows + self.padding).max(1);
        MatrixStorage {
            number,
            rows,
            columns,
            leading,
            stride: leading * columns + self.gap,
            batch: self.batch,
        }
    }

    /// `NT`: the first matrix as it is, the second one transposed.
    pub fn transposes(&self) -> String {
        self.transposed
            .iter()
            .map(|transposed| if *transposed { 'T' } else { 'N' })
            .collect()
    }
}

/// The sizes of a matrix as it is stored.
fn turn([rows, columns]: [usize; 2], transposed: bool) -> [usize; 2] {
    if transposed {
        [columns, rows]
    } else {
        [rows, columns]
    }
}

impl fmt::Display for Gemm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rows,
            columns,
            inner,
            batch,
            arithmetic,
            alpha,
            beta,
            padding,
            gap,
            ..
        } = self;
        write!(
            f,
            "{arithmetic} {} {rows}x{columns}x{inner} alpha {alpha} beta {beta}",
            self.transposes()
        )?;
        if *batch > 1 {
            write!(f, " batch {batch} gap {gap}")?;
        }
        if *padding > 0 {
            write!(f, " padding {padding}")?;
        }
        if let Some([a, b]) = self.scales {
            write!(f, " scales {a} {b}")?;
        }
        write_epilogue(f, self.epilogue)
    }
}

fn write_epilogue(f: &mut fmt::Formatter<'_>, epilogue: Epilogue) -> fmt::Result {
    if epilogue == Epilogue::NONE {
        Ok(())
    } else {
        write!(f, " {epilogue}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Gemm, GemmCall, GemmTypes, Operand};
    use testgen_types::Precision;

    #[test]
    fn matrices_are_stored_by_columns_with_padding_and_gaps() {
        let product = Gemm {
            batch: 2,
            transposed: [true, false],
            padding: 1,
            gap: 3,
            ..Gemm::new([4, 5, 6], GemmTypes::for_precision(Precision::F16))
        };
        let a = product.stored(Operand::A);
        assert_eq!((a.rows, a.columns, a.leading, a.stride), (6, 4, 7, 31));
        assert_eq!(
            (a.index(1, 5, 3), a.elements()),
            (a.elements() - 1, 31 + 21 + 6)
        );
        assert_eq!(
            (
                product.stored(Operand::D).leading,
                product.stored(Operand::B).leading
            ),
            (5, 7)
        );
        assert_eq!(
            product.to_string(),
            "f16 TN 4x5x6 alpha 1 beta 0 batch 2 gap 3 padding 1"
        );
        assert_eq!(
            GemmCall::from(&product).to_string(),
            "f16 TN 4x5x6 leading 7 7 5 batch 2 stride 31 38 28"
        );
    }

    #[test]
    fn factors_without_terms_have_no_elements() {
        let product = Gemm {
            transposed: [true, false],
            batch: 2,
            ..Gemm::new([4, 5, 0], GemmTypes::for_precision(Precision::F16))
        };
        for operand in [Operand::A, Operand::B] {
            let stored = product.stored(operand);
            assert_eq!((stored.elements(), stored.leading), (0, 1));
        }
    }
}
