//! A product of matrices as the libraries define it: D = alpha * op(A) * op(B) + beta * C,
//! column-major.

use crate::{epilogue::Epilogue, number_type::NumberType};
use std::fmt;
use testgen_types::Precision;

/// D = epilogue(alpha * op(A) * op(B) + beta * C), for each of `batch` matrices. A matrix is stored
/// by columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Gemm {
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

/// The types of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GemmTypes {
    /// The types of A and B.
    pub factors: [NumberType; 2],
    /// The type of C and D.
    pub result: NumberType,
    /// The type in which factors are multiplied and sums computed.
    pub compute: ComputeType,
}

/// The arithmetic of products and sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComputeType {
    /// f32.
    F32,
    /// Factors are rounded to 10 bits of mantissa, sums are f32: TF32 of NVIDIA, XF32 of AMD.
    Tf32,
    /// Whole numbers of 32 bits.
    I32,
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
        let leading = rows + self.padding;
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
    fn is_contiguous(&self) -> bool {
        self.stride == self.leading * self.columns
    }
}

impl GemmTypes {
    /// The types of a precision.
    pub const fn for_precision(precision: Precision) -> Self {
        let (number, compute) = match precision {
            Precision::F32 => (NumberType::F32, ComputeType::F32),
            Precision::Tf32 => (NumberType::F32, ComputeType::Tf32),
            Precision::F16 => (NumberType::F16, ComputeType::F32),
            Precision::Bf16 => (NumberType::Bf16, ComputeType::F32),
        };
        Self {
            factors: [number; 2],
            result: number,
            compute,
        }
    }

    /// Whole numbers of 8 bits with results of 32.
    pub const INT8: Self = Self {
        factors: [NumberType::I8; 2],
        result: NumberType::I32,
        compute: ComputeType::I32,
    };

    /// Factors of 8 bits with results of 16 or 32.
    pub const fn float8(factors: [NumberType; 2], result: NumberType) -> Self {
        Self {
            factors,
            result,
            compute: ComputeType::F32,
        }
    }

    /// Whether a factor has 8 bits.
    pub fn has_bytes(self) -> bool {
        self.factors.iter().any(|factor| factor.bytes() == 1)
    }

    /// Whether a factor is a floating-point number of 8 bits.
    pub fn has_float8(self) -> bool {
        self.has_bytes() && self.compute != ComputeType::I32
    }
}

impl fmt::Display for GemmTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            factors: [a, b],
            result,
            compute,
        } = self;
        match compute {
            ComputeType::Tf32 => f.write_str("tf32"),
            ComputeType::F32 if a == b && b == result => write!(f, "{result}"),
            ComputeType::F32 | ComputeType::I32 => write!(f, "{a}*{b}->{result}"),
        }
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
}
