//! One product on made factors: each algorithm is compared with f64, then timed.
//!
//! Owns the memory of the factors and of the result, and which elements are compared.

use super::{
    stopwatch::median_microseconds,
    trial_numbers::{MOST_TERMS, numbers},
    tuner::{AlgorithmMeasurement, AlgorithmTrial},
};
use crate::{
    blas::{Algorithm, Blas, Buffers},
    evaluation::evaluate,
    gpu::{DeviceAddress, LibraryGpu},
    library_error::LibraryError,
    number_type::NumberType,
    product::{GemmCall, MatrixStorage, Operand},
    products::{bounds, element},
};
use testgen_operators::cases::{BoundedNumber, Reference};

/// An algorithm, and the index of its library.
#[derive(Clone)]
pub(super) struct ChosenAlgorithm {
    pub(super) library: usize,
    pub(super) algorithm: Algorithm,
}

impl ChosenAlgorithm {
    /// The choice of the first library itself.
    pub(super) fn by_library() -> Self {
        Self {
            library: 0,
            algorithm: Algorithm::chosen_by_library(),
        }
    }
}

/// A product in the memory of a device.
pub(super) struct ProductTrial<'a> {
    gpu: &'a dyn LibraryGpu,
    libraries: &'a [Box<dyn Blas>],
    product: &'a GemmCall,
    a: TrialMatrix<'a>,
    b: TrialMatrix<'a>,
    d: TrialMatrix<'a>,
    /// A number for each row of D.
    bias: TrialMatrix<'a>,
    /// The compared rows of each matrix.
    rows: Vec<usize>,
    /// The compared columns, with the number of their matrix.
    columns: Vec<(usize, usize)>,
    reference: Reference,
}

impl<'a> ProductTrial<'a> {
    /// Copies the factors to the device, and computes the reference.
    pub(super) fn new(
        gpu: &'a dyn LibraryGpu,
        libraries: &'a [Box<dyn Blas>],
        product: &'a GemmCall,
    ) -> Result<Self, LibraryError> {
        let [a, b, d] = [Operand::A, Operand::B, Operand::D].map(|operand| product.stored(operand));
        let bias = MatrixStorage::vector(d.number, d.rows);
        let tables = [a, b, bias].map(|stored| stored.number);
        let tables = [0, 1, 2].map(|index| numbers(index, tables[index]));
        let (rows, columns) = compared(product);
        let reference = reference(product, &tables, &rows, &columns);
        let [a, b, bias] =
            [(a, &tables[0]), (b, &tables[1]), (bias, &tables[2])].map(|(stored, numbers)| {
                TrialMatrix::new(gpu, stored, &encoded(numbers, stored.number))
            });
        // NaN agrees with no reference, so that an element that is not written is found.
        let unwritten = vec![d.number.nan_byte(); d.number.bytes()];
        Ok(Self {
            gpu,
            libraries,
            product,
            a: a?,
            b: b?,
            d: TrialMatrix::new(gpu, d, &unwritten)?,
            bias: bias?,
            rows,
            columns,
            reference,
        })
    }

    fn start(&self, chosen: &ChosenAlgorithm) -> Result<(), LibraryError> {
        let [a, b, d] = [&self.a, &self.b, &self.d].map(|matrix| matrix.address);
        let buffers = Buffers {
            bias: self.bias.address,
            // The products of models have a beta of 0, so that C, which is D here, is not read.
            ..Buffers::new([a, b, d, d])
        };
        self.libraries[chosen.library].run(self.product, &chosen.algorithm, buffers)
    }

    /// Why the result is wrong.
    fn problem(&self) -> Result<Option<String>, LibraryError> {
        let bytes = self.d.read()?;
        let stored = self.d.stored;
        let unwritten = self.d.unwritten(&bytes);
        if unwritten > 0 {
            return Ok(Some(format!("{unwritten} elements were not written")));
        }
        let value = |matrix, row, column| {
            let at = stored.index(matrix, row, column) * stored.number.bytes();
            stored.number.decode(&bytes[at..])
        };
        let values: Vec<f64> = self
            .columns
            .iter()
            .flat_map(|(matrix, column)| {
                self.rows
                    .iter()
                    .map(move |row| value(*matrix, *row, *column))
            })
            .collect();
        Ok(evaluate(&self.reference, &values, None).failure)
    }
}

impl AlgorithmTrial<ChosenAlgorithm> for ProductTrial<'_> {
    fn measure(&self, chosen: &ChosenAlgorithm) -> Result<AlgorithmMeasurement, LibraryError> {
        self.d.restore()?;
        match self.start(chosen) {
            Ok(()) => {}
            // A fault of the device is not one of the algorithm: the next call would fail, too.
            Err(LibraryError::Gpu(error)) => return Err(error.into()),
            Err(error) => return Ok(AlgorithmMeasurement::Wrong(error.to_string())),
        }
        self.gpu.synchronise()?;
        if let Some(problem) = self.problem()? {
            return Ok(AlgorithmMeasurement::Wrong(problem));
        }
        let median = median_microseconds(self.gpu, || self.start(chosen))?;
        Ok(AlgorithmMeasurement::Microseconds(median))
    }
}

/// Rows, and columns with the number of their matrix, so many that the reference has at most
/// [`MOST_TERMS`] terms.
fn compared(product: &GemmCall) -> (Vec<usize>, Vec<(usize, usize)>) {
    let all = product.columns * product.batch;
    let elements = (MOST_TERMS / product.inner.max(1)).max(1);
    // As many of both dimensions as fit into a square; what one does not need, the other has.
    let side = elements.isqrt().max(1);
    let rows = product.rows.min(side.max(elements / all.max(1)));
    let columns = all.min((elements / rows.max(1)).max(1));
    let column = |index| (index / product.columns, index % product.columns);
    (
        spread(product.rows, rows),
        spread(all, columns).into_iter().map(column).collect(),
    )
}

/// `count` of `all` numbers at about equal distances, the first and the last among them.
fn spread(all: usize, count: usize) -> Vec<usize> {
    match count {
        0 => Vec::new(),
        1 => vec![0],
        _ => (0..count)
            .map(|index| index * (all - 1) / (count - 1))
            .collect(),
    }
}

fn encoded(numbers: &[f64], number: NumberType) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() * number.bytes()];
    for (value, to) in numbers.iter().zip(bytes.chunks_exact_mut(number.bytes())) {
        number.encode(*value, to);
    }
    bytes
}

/// The place of an element in a matrix that may be stored transposed.
fn index_in(
    stored: MatrixStorage,
    matrix: usize,
    turned: bool,
    [row, column]: [usize; 2],
) -> usize {
    if turned {
        stored.index(matrix, column, row)
    } else {
        stored.index(matrix, row, column)
    }
}

/// The compared elements with their bounds, column by column.
fn reference(
    product: &GemmCall,
    [a, b, bias]: &[Vec<f64>; 3],
    rows: &[usize],
    columns: &[(usize, usize)],
) -> Reference {
    let bounds = bounds(product.arithmetic);
    let [of_a, of_b] = [Operand::A, Operand::B].map(|operand| product.stored(operand));
    let [turned_a, turned_b] = product.transposed;
    let element_at = |matrix: usize, row: usize, column: usize| {
        let terms = (0..product.inner).map(|index| {
            // `TrialMatrix` repeats the table from the first byte on, so that the place in memory
            // determines the number.
            let left = a[index_in(of_a, matrix, turned_a, [row, index]) % a.len()];
            let right = b[index_in(of_b, matrix, turned_b, [index, column]) % b.len()];
            (BoundedNumber::exact(left), BoundedNumber::exact(right))
        });
        let sum = bounds.dot(terms);
        bounds.stored(product.epilogue.apply(bounds, sum, bias[row % bias.len()]))
    };
    let numbers = columns
        .iter()
        .flat_map(|(matrix, column)| {
            rows.iter()
                .map(move |row| element_at(*matrix, *row, *column))
        })
        .collect();
    Reference {
        shape: vec![columns.len(), rows.len()],
        element: element(product.arithmetic.result),
        numbers,
        sums: true,
        signed_zeros: false,
    }
}

/// A matrix in the memory of a device, released when dropped.
struct TrialMatrix<'a> {
    gpu: &'a dyn LibraryGpu,
    stored: MatrixStorage,
    address: DeviceAddress,
    bytes: Vec<u8>,
}

impl<'a> TrialMatrix<'a> {
    /// A matrix whose elements repeat `pattern`.
    fn new(
        gpu: &'a dyn LibraryGpu,
        stored: MatrixStorage,
        pattern: &[u8],
    ) -> Result<Self, LibraryError> {
        let bytes: Vec<u8> = pattern
            .iter()
            .copied()
            .cycle()
            .take(stored.bytes())
            .collect();
        let address = gpu.allocate(bytes.len())?;
        let matrix = Self {
            gpu,
            stored,
            address,
            bytes,
        };
        matrix.restore()?;
        Ok(matrix)
    }

    /// Writes all bytes as they were at first.
    fn restore(&self) -> Result<(), LibraryError> {
        Ok(self.gpu.upload(self.address, &self.bytes)?)
    }

    fn read(&self) -> Result<Vec<u8>, LibraryError> {
        let mut bytes = vec![0; self.bytes.len()];
        self.gpu.download(self.address, &mut bytes)?;
        Ok(bytes)
    }

    /// The elements that still have the bytes of the pattern.
    fn unwritten(&self, bytes: &[u8]) -> usize {
        let size = self.stored.number.bytes();
        let columns = (0..self.stored.batch)
            .flat_map(|matrix| (0..self.stored.columns).map(move |column| (matrix, column)));
        columns
            .map(|(matrix, column)| {
                let from = self.stored.index(matrix, 0, column) * size;
                let place = from..from + self.stored.rows * size;
                let pairs = bytes[place.clone()]
                    .chunks_exact(size)
                    .zip(self.bytes[place].chunks_exact(size));
                // A computed NaN with the same bits counts, too: it is as wrong.
                pairs.filter(|(now, before)| now == before).count()
            })
            .sum()
    }
}

impl Drop for TrialMatrix<'_> {
    fn drop(&mut self) {
        // An error cannot be returned from here; the next call reports it.
        let _ = self.gpu.release(self.address, self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_TERMS, compared, spread};
    use crate::product::{Gemm, GemmCall, GemmTypes};
    use testgen_types::Precision;

    #[test]
    fn small_products_are_compared_whole_and_large_ones_in_part() {
        let sizes = |sizes, batch| {
            let gemm = Gemm {
                batch,
                ..Gemm::new(sizes, GemmTypes::for_precision(Precision::Bf16))
            };
            let call = GemmCall::from(&gemm);
            let (rows, columns) = compared(&call);
            assert_eq!(rows.last(), Some(&(sizes[0] - 1)));
            assert_eq!(columns.last(), Some(&(batch - 1, sizes[1] - 1)));
            assert!(rows.len() * columns.len() * sizes[2] <= MOST_TERMS);
            [rows.len(), columns.len()]
        };
        assert_eq!(sizes([64, 48, 32], 3), [64, 3 * 48]);
        assert_eq!(sizes([4096, 1, 4096], 1), [4096, 1]);
        assert_eq!(sizes([128_256, 512, 2048], 1), [256, 256]);
        assert_eq!(sizes([2048, 2, 131_072], 1), [512, 2]);
    }

    #[test]
    fn spread_numbers_have_both_ends() {
        assert_eq!(spread(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(spread(100, 3), [0, 49, 99]);
        assert_eq!(spread(1, 1), [0]);
    }
}
