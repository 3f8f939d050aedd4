//! One product in the memory of a device.

use super::{factors::Factors, opened::OpenedProducts};
use crate::{
    blas::{Algorithm, Buffers},
    evaluation::{AlgorithmResult, first_difference},
    gpu::GpuError,
    guarded::Guarded,
    library_error::LibraryError,
    number_type::NumberType,
    product::{Gemm, GemmCall, MatrixStorage, Operand},
};

/// A product whose matrices are in the memory of a device.
pub(super) struct GemmCase<'a> {
    opened: OpenedProducts<'a>,
    product: &'a Gemm,
    a: Guarded<'a>,
    b: Guarded<'a>,
    c: Guarded<'a>,
    d: Guarded<'a>,
    bias: Guarded<'a>,
    scales: [Guarded<'a>; 2],
}

impl<'a> GemmCase<'a> {
    /// Copies the factors to the device.
    pub(super) fn new(
        opened: OpenedProducts<'a>,
        product: &'a Gemm,
        factors: &Factors,
    ) -> Result<Self, GpuError> {
        // Values that must not be read are NaN: C with beta 0, A and B with alpha 0, a bias or
        // scales that the product does not have, padding, guards, and D.
        let buffer = |operand| Guarded::new(opened.gpu, product.stored(operand));
        let vector =
            |number, length| Guarded::new(opened.gpu, MatrixStorage::vector(number, length));
        let mut case = Self {
            opened,
            product,
            a: buffer(Operand::A)?,
            b: buffer(Operand::B)?,
            c: buffer(Operand::C)?,
            d: buffer(Operand::D)?,
            bias: vector(product.stored(Operand::D).number, product.rows)?,
            scales: [vector(NumberType::F32, 1)?, vector(NumberType::F32, 1)?],
        };
        let result = product.arithmetic.result;
        if product.alpha != 0.0 || !opened.blas.name().skips_factors(result) {
            let [turned_a, turned_b] = product.transposed;
            case.a
                .write(|matrix, row, column| factors.a(matrix, swap(turned_a, [row, column])))?;
            case.b
                .write(|matrix, row, column| factors.b(matrix, swap(turned_b, [row, column])))?;
        }
        if product.beta != 0.0 {
            case.c
                .write(|matrix, row, column| factors.c(matrix, [row, column]))?;
        }
        if product.epilogue.bias {
            case.bias.write(|_, row, _| factors.bias(row))?;
        }
        for (buffer, scale) in case
            .scales
            .iter_mut()
            .zip(product.scales.into_iter().flatten())
        {
            buffer.write(|_, _, _| scale)?;
        }
        Ok(case)
    }

    fn buffers(&self) -> Buffers {
        let [a, b, c, d] = [&self.a, &self.b, &self.c, &self.d].map(Guarded::address);
        Buffers {
            bias: self.bias.address(),
            scales: self.scales.each_ref().map(Guarded::address),
            ..Buffers::new([a, b, c, d])
        }
    }

    /// Computes the product with an algorithm. An error is one of the device.
    pub(super) fn compute(&self, algorithm: &Algorithm) -> Result<AlgorithmResult, GpuError> {
        if self.opened.blas.in_place(algorithm) {
            // The library reads C at the address of D.
            self.d.fill_from(&self.c)?;
        } else {
            self.d.restore()?;
        }
        // C and D have one storage, so that after `fill_from` the bytes around the elements are
        // still the ones that `read` expects of D.
        let call = GemmCall::from(self.product);
        match self.opened.blas.run(&call, algorithm, self.buffers()) {
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
        let [scale_a, scale_b] = &self.scales;
        let inputs = [
            ("A", &self.a),
            ("B", &self.b),
            ("C", &self.c),
            ("the bias", &self.bias),
            ("the scale of A", scale_a),
            ("the scale of B", scale_b),
        ];
        for (name, buffer) in inputs {
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
