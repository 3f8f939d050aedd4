//! One product in the memory of a device, and its variants.

use super::{factors::Factors, opened::OpenedProducts, shape::ProductShape};
use crate::{
    blas::{Algorithm, Buffers},
    evaluation::{AlgorithmResult, first_difference},
    gpu::GpuError,
    guarded::Guarded,
    library_error::LibraryError,
    product::{Gemm, GemmCall, GemmTypes, Operand},
};

/// The factors alpha and beta. With beta 0, C must not be read; 1 and 0.75 are different paths of
/// kernels.
const SCALARS: [[f64; 2]; 6] = [
    [1.0, 0.0],
    [-0.5, 0.0],
    [1.0, 1.0],
    [-0.5, 0.75],
    [1.0, 0.75],
    [-0.5, 1.0],
];

/// The variants of a shape: every transposition, each with two pairs of factors; those and padding
/// alternate with the index of the shape, so that all are combined over the list.
pub(super) fn products(shape: ProductShape, arithmetic: GemmTypes, index: usize) -> Vec<Gemm> {
    let ProductShape {
        rows,
        columns,
        inner,
        batch,
    } = shape;
    let transposes = [[false, false], [false, true], [true, false], [true, true]];
    // Elements of 8 bits need columns that start at multiples of 16 bytes.
    let step = if arithmetic.has_float8() {
        16
    } else {
        [3, 8][index / 2 % 2]
    };
    let (padding, gap) = (step * (index % 2), step * 4 * (index / 3 % 2));
    let variant = |(order, transposed): (usize, [bool; 2])| {
        [0, 3].map(|offset| {
            let [alpha, beta] = SCALARS[(index + order + offset) % SCALARS.len()];
            Gemm {
                rows,
                columns,
                inner,
                batch,
                arithmetic,
                transposed,
                alpha,
                beta,
                padding,
                gap,
            }
        })
    };
    transposes
        .into_iter()
        .enumerate()
        .flat_map(variant)
        .collect()
}

/// A product whose matrices are in the memory of a device.
pub(super) struct GemmCase<'a> {
    opened: OpenedProducts<'a>,
    product: &'a Gemm,
    a: Guarded<'a>,
    b: Guarded<'a>,
    c: Guarded<'a>,
    d: Guarded<'a>,
}

impl<'a> GemmCase<'a> {
    /// Copies the factors to the device. What must not be read is NaN: C with beta 0, padding,
    /// guards, and D.
    pub(super) fn new(
        opened: OpenedProducts<'a>,
        product: &'a Gemm,
        factors: &Factors,
    ) -> Result<Self, GpuError> {
        let buffer = |operand| Guarded::new(opened.gpu, product.stored(operand));
        let mut case = Self {
            opened,
            product,
            a: buffer(Operand::A)?,
            b: buffer(Operand::B)?,
            c: buffer(Operand::C)?,
            d: buffer(Operand::D)?,
        };
        let [turned_a, turned_b] = product.transposed;
        case.a
            .write(|matrix, row, column| factors.a(matrix, swap(turned_a, [row, column])))?;
        case.b
            .write(|matrix, row, column| factors.b(matrix, swap(turned_b, [row, column])))?;
        if product.beta != 0.0 {
            let added = if opened.blas.in_place() {
                &mut case.d
            } else {
                &mut case.c
            };
            added.write(|matrix, row, column| factors.c(matrix, [row, column]))?;
        }
        Ok(case)
    }

    /// Computes the product with an algorithm. An error is one of the device.
    pub(super) fn compute(&self, algorithm: &Algorithm) -> Result<AlgorithmResult, GpuError> {
        self.d.restore()?;
        let [a, b, c, d] = [&self.a, &self.b, &self.c, &self.d].map(Guarded::address);
        match self.opened.blas.run(
            &GemmCall::from(self.product),
            algorithm,
            Buffers { a, b, c, d },
        ) {
            Ok(()) => {}
            Err(LibraryError::Gpu(error)) => return Err(error),
            Err(error) => return Ok(AlgorithmResult::Refused(error)),
        }
        self.opened.gpu.synchronise()?;
        let (values, overwritten) = self.d.read()?;
        Ok(AlgorithmResult::Computed {
            values,
            overwritten,
        })
    }

    /// After all algorithms: the first one must return the same bits twice, and the factors must be
    /// unchanged.
    pub(super) fn check_again(&self, algorithm: &Algorithm) -> Result<Vec<String>, GpuError> {
        let mut problems = Vec::new();
        let [first, second] = [self.compute(algorithm)?, self.compute(algorithm)?];
        if let (
            AlgorithmResult::Computed { values: first, .. },
            AlgorithmResult::Computed { values: second, .. },
        ) = (&first, &second)
        {
            problems.extend(first_difference(first, second));
        }
        for (name, buffer) in [("A", &self.a), ("B", &self.b), ("C", &self.c)] {
            if buffer.is_changed()? {
                problems.push(format!(
                    "the product has changed the memory of {name}, or around it"
                ));
            }
        }
        Ok(problems)
    }
}

/// Row and column of a matrix that is stored transposed.
fn swap(transposed: bool, [row, column]: [usize; 2]) -> [usize; 2] {
    if transposed {
        [column, row]
    } else {
        [row, column]
    }
}
