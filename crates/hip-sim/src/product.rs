//! Matrix products of the simulated rocBLAS and hipBLASLt: D = alpha * op(A) * op(B) + beta * C on
//! the host, with injected faults.

use crate::{
    blas_fault::BlasFault,
    configuration::Configuration,
    fault::{Fault, Faults},
    matrix::{MatrixBatch, MatrixType},
};
use std::{f64::consts::FRAC_2_PI, sync::OnceLock};

/// A product for each matrix of a batch.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedProduct {
    /// Rows and columns of D, and the length of the sums.
    pub sizes: [usize; 3],
    /// The number of products.
    pub batch: usize,
    /// Whether A and B are stored transposed.
    pub transposed: [bool; 2],
    /// The factor of the product; with 0, A and B are not read.
    pub alpha: f32,
    /// The factor of C; with 0, C is not read.
    pub beta: f32,
    /// The first factor.
    pub a: MatrixBatch,
    /// The second factor.
    pub b: MatrixBatch,
    /// The matrix that is added.
    pub c: MatrixBatch,
    /// The result.
    pub d: MatrixBatch,
    /// Whether factors are rounded to 10 bits of mantissa.
    pub xf32: bool,
    /// The order in which terms are added.
    pub order: SumOrder,
    /// The factors of A and of B.
    pub scales: [f32; 2],
    /// The steps before the result is stored.
    pub epilogue: SimulatedEpilogue,
}

/// A bias for each row of D, and an activation.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimulatedEpilogue {
    /// One column, whose elements are added to all columns.
    pub bias: Option<MatrixBatch>,
    /// The activation after it.
    pub activation: SimulatedActivation,
}

/// An activation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SimulatedActivation {
    /// The number itself.
    #[default]
    Identity,
    /// Negative numbers become 0.
    Relu,
    /// GELU in the form with tanh.
    Gelu,
}

/// The order in which the terms of a sum are added, by which the simulated algorithms differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumOrder {
    /// The first term first, in f32.
    Forward,
    /// The last term first, in f32.
    Backward,
    /// In f64, rounded once.
    Wide,
}

impl SimulatedActivation {
    fn apply(self, number: f64) -> f64 {
        match self {
            Self::Identity => number,
            Self::Relu => number.max(0.0),
            Self::Gelu => {
                let inner = FRAC_2_PI.sqrt() * (number + 0.044_715 * number.powi(3));
                number / 2.0 * (1.0 + inner.tanh())
            }
        }
    }
}

/// A product that was not computed, by an injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectedProductError;

impl SumOrder {
    /// Every order; its index is the index of an algorithm.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Backward, Self::Wide];
}

/// The faults of `HIP_SIM_FAULTS`, read once. An invalid variable sets no fault, and the simulated
/// runtime reports it.
pub fn faults() -> &'static Faults {
    static FAULTS: OnceLock<Faults> = OnceLock::new();
    FAULTS.get_or_init(|| {
        Configuration::from_environment()
            .map(|configuration| configuration.faults)
            .unwrap_or_default()
    })
}

impl SimulatedProduct {
    /// Computes the product.
    ///
    /// # Errors
    ///
    /// The fault `blas=refuse` is injected.
    ///
    /// # Safety
    ///
    /// The elements of A and B, and of C if beta is not 0, can be read, the elements of D written;
    /// with the fault `blas=beyond` also the element after them.
    pub unsafe fn compute(&self, faults: &Faults) -> Result<(), InjectedProductError> {
        let has = |fault: BlasFault| faults.any(|injected| *injected == Fault::Blas(fault));
        if has(BlasFault::Refuse) {
            return Err(InjectedProductError);
        }
        if has(BlasFault::Silent) || has(BlasFault::Solution) && self.order == SumOrder::Wide {
            return Ok(());
        }
        let [rows, columns, inner] = self.sizes;
        if has(BlasFault::Empty) && inner == 0 {
            return Ok(());
        }
        for matrix in 0..self.batch {
            for (row, column) in
                (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)))
            {
                // SAFETY: as the caller promises.
                unsafe { self.element(&has, matrix, [row, column]) };
            }
        }
        if has(BlasFault::Beyond) && rows * columns * self.batch > 0 {
            let last = (self.batch - 1) * self.d.stride + (columns - 1) * self.d.leading + rows - 1;
            // SAFETY: as the caller promises.
            unsafe { self.d.write(last + 1, 1.0) };
        }
        Ok(())
    }

    /// Computes one element of D.
    unsafe fn element(
        &self,
        has: &impl Fn(BlasFault) -> bool,
        matrix: usize,
        [row, column]: [usize; 2],
    ) {
        let index = matrix * self.d.stride + column * self.d.leading + row;
        if has(BlasFault::Limit) && index * self.d.number.bytes() >= 1024 {
            return;
        }
        // SAFETY: as the caller promises.
        let product = unsafe { self.product(has, matrix, [row, column]) };
        let product = if has(BlasFault::Round) {
            self.d.number.round(product)
        } else {
            product
        };
        let is_cleared = has(BlasFault::Clear) && self.sizes[2] == 0;
        // With a beta of 0, C may be uninitialised, and 0 times NaN would be NaN.
        let added = if self.beta == 0.0 || has(BlasFault::Beta) || is_cleared {
            0.0
        } else {
            // SAFETY: as the caller promises.
            f64::from(self.beta)
                * unsafe {
                    self.c
                        .read(matrix * self.c.stride + column * self.c.leading + row)
                }
        };
        // SAFETY: as the caller promises.
        let result = unsafe { self.finished(has, product + added, row) };
        // SAFETY: as the caller promises.
        unsafe { self.d.write(index, result) };
    }

    /// The sum of an element with its factors.
    unsafe fn product(
        &self,
        has: &impl Fn(BlasFault) -> bool,
        matrix: usize,
        place: [usize; 2],
    ) -> f64 {
        // As for C.
        if self.alpha == 0.0 && !has(BlasFault::Zero) {
            return 0.0;
        }
        let alpha = if has(BlasFault::Alpha) {
            1.0
        } else {
            f64::from(self.alpha)
        };
        let [scale_a, scale_b] = self.scales.map(f64::from);
        let scale = if has(BlasFault::Scale) {
            scale_a
        } else {
            scale_a * scale_b
        };
        // SAFETY: as the caller promises.
        alpha * scale * unsafe { self.sum(has, matrix, place) }
    }

    /// An element after the epilogue.
    unsafe fn finished(&self, has: &impl Fn(BlasFault) -> bool, number: f64, row: usize) -> f64 {
        let SimulatedEpilogue { bias, activation } = self.epilogue;
        let bias = match bias {
            // SAFETY: as the caller promises.
            Some(bias) if !has(BlasFault::Bias) => unsafe { bias.read(row) },
            _ => 0.0,
        };
        if has(BlasFault::Order) {
            activation.apply(number) + bias
        } else {
            activation.apply(number + bias)
        }
    }

    /// The sum of an element: a row of op(A) times a column of op(B).
    unsafe fn sum(
        &self,
        has: &impl Fn(BlasFault) -> bool,
        matrix: usize,
        [row, column]: [usize; 2],
    ) -> f64 {
        let [rows, _, inner] = self.sizes;
        let [turned_a, turned_b] = self.transposed;
        let wrong = has(BlasFault::Transpose) && turned_a && turned_b;
        let matrix_of_b = if has(BlasFault::Batch) { 0 } else { matrix };
        let flush = has(BlasFault::Flush);
        let term = |index: usize| {
            let a = match (turned_a, wrong) {
                (false, _) => index * self.a.leading + row,
                (true, false) => row * self.a.leading + index,
                // The elements in the order of memory, as if A were stored by rows of another
                // length.
                (true, true) => {
                    let place = index * rows + row;
                    place / inner * self.a.leading + place % inner
                }
            };
            let b = if turned_b {
                index * self.b.leading + column
            } else {
                column * self.b.leading + index
            };
            // SAFETY: as the caller promises.
            let (a, b) = unsafe {
                (
                    self.a.read(matrix * self.a.stride + a),
                    self.b.read(matrix_of_b * self.b.stride + b),
                )
            };
            let product =
                self.factor(a, self.a.number, flush) * self.factor(b, self.b.number, flush);
            if has(BlasFault::Fnuz) && self.a.number.float8().is_some() {
                4.0 * product
            } else {
                product
            }
        };
        // Sums of whole numbers are exact, in any order.
        if self.a.number == MatrixType::I8 {
            let limit = if has(BlasFault::Saturate) {
                f64::from(i16::MAX)
            } else {
                f64::INFINITY
            };
            return (0..inner).fold(0.0, |sum, index| (sum + term(index)).clamp(-limit, limit));
        }
        match self.order {
            SumOrder::Wide => (0..inner).map(term).sum(),
            SumOrder::Forward => f64::from(
                (0..inner).fold(0.0_f32, |sum, index| (f64::from(sum) + term(index)) as f32),
            ),
            SumOrder::Backward => f64::from(
                (0..inner)
                    .rev()
                    .fold(0.0_f32, |sum, index| (f64::from(sum) + term(index)) as f32),
            ),
        }
    }

    /// A factor as the matrix units of the mode read it.
    fn factor(&self, value: f64, number: MatrixType, flush: bool) -> f64 {
        if flush && value.abs() < number.smallest_normal() {
            return 0.0;
        }
        // Truncated to 10 bits of mantissa.
        if self.xf32 {
            f64::from(f32::from_bits((value as f32).to_bits() & !0x1fff))
        } else {
            value
        }
    }
}

#[cfg(test)]
mod tests;
