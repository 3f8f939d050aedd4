//! Matrix products of operators, with the algorithm that the library prefers.

use super::call_error::{library_error, not_computed};
use crate::{
    blas::{Algorithm, Blas, Buffers},
    gpu::LibraryGpu,
    guarded::Guarded,
    library_error::LibraryError,
    product::{Gemm, GemmCall, GemmTypes, Operand},
};
use testgen_operators::calls::{Call, CallError, Element, HostTensor, Input, Layout};
use testgen_types::{Operator, Precision};

/// Computes `matmul`, `batch_matmul` and `gemm`.
pub(super) struct ProductExecutor<'a> {
    pub(super) gpu: &'a dyn LibraryGpu,
    pub(super) blas: &'a dyn Blas,
    pub(super) precision: Precision,
}

impl ProductExecutor<'_> {
    pub(super) fn execute(&self, call: &Call) -> Result<HostTensor, CallError> {
        self.multiply(call, self.product(call)?)
    }

    fn product(&self, call: &Call) -> Result<RowMajor, CallError> {
        let inputs = |problem: &str| CallError::Inputs {
            operator: call.operator,
            problem: problem.to_owned(),
        };
        let (left, right) = match (call.operator, call.inputs.as_slice()) {
            (Operator::Gemm, [left, right, _]) => (left, right),
            (Operator::Matmul | Operator::BatchMatmul, [left, right]) => (left, right),
            _ => {
                return Err(inputs(
                    "a product has two factors, `gemm` also what is added",
                ));
            }
        };
        let ([batch, rows, inner], [other, length, columns]) = matrix_sizes(left)
            .zip(matrix_sizes(right))
            .ok_or_else(|| inputs("factors are matrices or batches of them"))?;
        // A batch of one matrix is used for all.
        let is_batch = batch == other || batch == 1 || other == 1;
        if !is_batch || inner != length || left.tensor.element != right.tensor.element {
            return Err(inputs(
                "the factors have other sizes or types than each other",
            ));
        }
        let precision = precision(left.tensor.element, self.precision).ok_or_else(|| {
            not_computed(
                call,
                format!("products of {} are not computed", left.tensor.element),
            )
        })?;
        // The result is row-major, which is its transpose by columns: D^T = B^T * A^T. So the right
        // factor is the library's A.
        let transposed = [right, left].map(|input| input.layout == Layout::Reversed);
        // A sliced input has gaps between its elements: the leading dimension leaves one, too.
        let padding = usize::from(
            [left, right]
                .iter()
                .any(|input| input.layout == Layout::Sliced),
        );
        let batch = if batch == 1 { other } else { batch };
        let [alpha, beta] = if call.operator == Operator::Gemm {
            call.attributes.scales
        } else {
            [1.0, 0.0]
        };
        let product = Gemm {
            batch,
            transposed,
            padding,
            gap: padding,
            alpha,
            beta,
            ..Gemm::new([columns, rows, inner], GemmTypes::for_precision(precision))
        };
        let ranks = [left, right].map(|input| input.tensor.shape.len());
        let shape = if ranks == [2, 2] {
            vec![rows, columns]
        } else {
            vec![batch, rows, columns]
        };
        Ok(RowMajor { product, shape })
    }

    fn multiply(
        &self,
        call: &Call,
        RowMajor { product, shape }: RowMajor,
    ) -> Result<HostTensor, CallError> {
        let element = call.inputs[0].tensor.element;
        let is_plain = product.beta == 0.0;
        if shape.contains(&0) || product.inner == 0 && is_plain {
            // A sum without terms is 0. Libraries differ in whether they accept such a call.
            let zeros = vec![0.0; shape.iter().product()];
            return Ok(HostTensor::new(shape, element, zeros));
        }
        let failed = |error: LibraryError| library_error(call, error);
        let algorithms = self
            .blas
            .algorithms(&GemmCall::from(&product))
            .map_err(failed)?;
        let algorithm = algorithms.first().ok_or_else(|| {
            not_computed(
                call,
                format!("{} offers no algorithm for {product}", self.blas.name()),
            )
        })?;
        let values = self.run(call, &product, algorithm).map_err(failed)?;
        // D is the transpose by columns: its rows are the columns of the result.
        let [rows, columns] = [product.columns, product.rows];
        let values = (0..values.len())
            .map(|index: usize| {
                let (matrix, within) = (index / (rows * columns), index % (rows * columns));
                values[matrix * rows * columns + within % columns * rows + within / columns]
            })
            .collect();
        Ok(HostTensor::new(shape, element, values))
    }

    /// The elements of D, row-major for each matrix.
    fn run(
        &self,
        call: &Call,
        product: &Gemm,
        algorithm: &Algorithm,
    ) -> Result<Vec<f64>, LibraryError> {
        let gpu = self.gpu;
        let [mut a, mut b, mut c, mut d] = [
            Guarded::new(gpu, product.stored(Operand::A))?,
            Guarded::new(gpu, product.stored(Operand::B))?,
            Guarded::new(gpu, product.stored(Operand::C))?,
            Guarded::new(gpu, product.stored(Operand::D))?,
        ];
        let (left, right) = (&call.inputs[0].tensor.values, &call.inputs[1].tensor.values);
        let Gemm {
            rows: columns,
            columns: rows,
            inner,
            transposed,
            ..
        } = *product;
        // As stored by columns, a row-major matrix has rows and columns exchanged; with reversed
        // strides it has not.
        a.write(|matrix, row, column| {
            let [row, column] = if transposed[0] {
                [row, column]
            } else {
                [column, row]
            };
            // A batch of one matrix begins again for each product.
            right[((matrix * inner + row) * columns + column) % right.len()]
        })?;
        b.write(|matrix, row, column| {
            let [row, column] = if transposed[1] {
                [row, column]
            } else {
                [column, row]
            };
            left[((matrix * rows + row) * inner + column) % left.len()]
        })?;
        // With beta 0, C stays NaN, so that a library that reads it returns NaN.
        if product.beta != 0.0 {
            let values = &call.inputs[2].tensor.values;
            let in_place = self.blas.in_place(algorithm);
            let added = if in_place { &mut d } else { &mut c };
            added.write(|matrix, row, column| {
                values[((matrix * rows + column) * columns + row) % values.len()]
            })?;
        }
        let [a, b, c] = [a.address(), b.address(), c.address()];
        self.blas.run(
            &GemmCall::from(product),
            algorithm,
            Buffers::new([a, b, c, d.address()]),
        )?;
        self.gpu.synchronise()?;
        match d.read()? {
            (values, None) => Ok(values),
            (_, Some(place)) => Err(LibraryError::Overwritten {
                place: place.to_string(),
            }),
        }
    }
}

/// The product of a call, and the shape of its result.
struct RowMajor {
    product: Gemm,
    shape: Vec<usize>,
}

/// Batch, rows and columns; `None` for other ranks.
fn matrix_sizes(input: &Input) -> Option<[usize; 3]> {
    match *input.tensor.shape {
        [rows, columns] => Some([1, rows, columns]),
        [batch, rows, columns] => Some([batch, rows, columns]),
        _ => None,
    }
}

fn precision(element: Element, of_f32: Precision) -> Option<Precision> {
    match element {
        Element::F32 if of_f32 == Precision::Tf32 => Some(Precision::Tf32),
        Element::F32 => Some(Precision::F32),
        Element::F16 => Some(Precision::F16),
        Element::Bf16 => Some(Precision::Bf16),
        Element::I32 | Element::Bool => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gpu::NoGpu, library::LibraryName};

    /// A library without algorithms, and its answer to the question for them.
    struct NoBlas(LibraryError);

    impl Blas for NoBlas {
        fn name(&self) -> LibraryName {
            LibraryName::Cublas
        }

        fn version(&self) -> &str {
            ""
        }

        fn in_place(&self, _: &Algorithm) -> bool {
            false
        }

        fn algorithms(&self, _: &GemmCall) -> Result<Vec<Algorithm>, LibraryError> {
            Err(self.0.clone())
        }

        fn run(&self, _: &GemmCall, _: &Algorithm, _: Buffers) -> Result<(), LibraryError> {
            Err(self.0.clone())
        }
    }

    #[test]
    fn a_product_that_the_library_does_not_have_is_not_a_failure_of_the_device() {
        let factor = HostTensor::new([2, 2], Element::F32, vec![1.0; 4]);
        let call = Call::new(
            Operator::Matmul,
            vec![factor.clone(), factor],
            Default::default(),
        );
        let error = |error| {
            let executor = ProductExecutor {
                gpu: &NoGpu::default(),
                blas: &NoBlas(error),
                precision: Precision::F32,
            };
            executor.execute(&call)
        };
        let unsupported = error(LibraryError::unsupported("no such product"));
        assert!(
            matches!(unsupported, Err(CallError::Unsupported { .. })),
            "{unsupported:?}"
        );
        let failed = error(LibraryError::Overwritten {
            place: "everywhere".to_owned(),
        });
        assert!(
            matches!(failed, Err(CallError::Device { .. })),
            "{failed:?}"
        );
    }
}
