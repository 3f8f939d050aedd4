//! The exact product, and how far each element of a computed one may be from it.

use std::thread;
use testgen_gpu::Product;
use testgen_operators::calls::Element;
use testgen_types::Precision;

/// An exact product with the bound of each element, both row-major.
pub(crate) struct Exact {
    pub(crate) values: Vec<f64>,
    /// The sum of the absolute values of what was added up.
    magnitudes: Vec<f64>,
    inner: usize,
}

impl Exact {
    /// `left` and `right` are row-major in the shapes of the product's factors.
    pub(crate) fn new(product: &Product, left: &[f64], right: &[f64]) -> Self {
        let [rows, inner, columns] = product.sizes();
        // A task is a row of the result, in the order of the results, so that each thread
        // gets the elements of its own rows from `chunks_mut`, without a lock.
        let tasks: Vec<(usize, usize)> = product
            .batches()
            .into_iter()
            .flat_map(|(left, right)| {
                (0..rows).map(move |row| ((left * rows + row) * inner, right * inner * columns))
            })
            .collect();
        let mut values = vec![0.0; tasks.len() * columns];
        let mut magnitudes = values.clone();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        // `chunks` panics at 0.
        let share = tasks.len().div_ceil(threads).max(1);
        thread::scope(|scope| {
            let parts = values
                .chunks_mut(share * columns)
                .zip(magnitudes.chunks_mut(share * columns));
            for (tasks, (values, magnitudes)) in tasks.chunks(share).zip(parts) {
                scope.spawn(move || {
                    let rows = values
                        .chunks_exact_mut(columns)
                        .zip(magnitudes.chunks_exact_mut(columns));
                    for ((start, right_start), (values, magnitudes)) in tasks.iter().zip(rows) {
                        let row = &left[*start..start + inner];
                        add_row(
                            row,
                            &right[*right_start..right_start + inner * columns],
                            values,
                            magnitudes,
                        );
                    }
                });
            }
        });
        Self {
            values,
            magnitudes,
            inner,
        }
    }

    /// The largest error of element `index` for a kernel that computes in `precision`.
    ///
    /// Sums are in f32 in all kernels (`MatmulElems::from_globals`), in any order, and matrix units
    /// truncate: each of the `inner` additions is off by at most one step of f32 relative to what
    /// is added up. TF32 truncates both factors to 10 bits.
    pub(crate) fn bound(&self, index: usize, precision: Precision) -> f64 {
        let factors = if precision == Precision::Tf32 {
            2.0 * 2_f64.powi(-10)
        } else {
            0.0
        };
        let sums = self.inner as f64 * f64::from(f32::EPSILON) + factors;
        let element = Element::for_precision(precision);
        // Results below the smallest normal number may be flushed to zero.
        sums * self.magnitudes[index]
            + element.unit() * self.values[index].abs()
            + element.smallest_normal()
    }
}

fn add_row(row: &[f64], right: &[f64], values: &mut [f64], magnitudes: &mut [f64]) {
    let columns = values.len();
    // The row of `right` is the inner loop: both factors are read in the order of memory, while a
    // sum for each element would jump by a whole row of `right` at every term.
    for (left, right) in row.iter().zip(right.chunks_exact(columns)) {
        for ((value, magnitude), right) in values.iter_mut().zip(&mut *magnitudes).zip(right) {
            let term = left * right;
            *value += term;
            *magnitude += term.abs();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, Precision};
    use testgen_gpu::{Factor, Product};

    fn product(left: &[usize], right: &[usize]) -> Product {
        let factor = |shape: &[usize]| Factor::contiguous(shape.to_vec());
        Product {
            left: factor(left),
            right: factor(right),
            precision: Precision::F32,
        }
    }

    #[test]
    fn rows_meet_columns_of_their_batch() {
        let left = [1.0, 2.0, 3.0, 4.0];
        let exact = Exact::new(
            &product(&[2, 1, 2], &[2, 2, 1]),
            &left,
            &[1.0, -1.0, 10.0, 1.0],
        );
        assert_eq!(exact.values, [-1.0, 34.0]);
        assert_eq!(exact.magnitudes, [3.0, 34.0]);
        // One factor for all batches.
        let exact = Exact::new(&product(&[2, 1, 2], &[1, 2, 1]), &left, &[1.0, -1.0]);
        assert_eq!(exact.values, [-1.0, -1.0]);
    }

    #[test]
    fn a_missing_term_is_outside_the_bound_of_f32() {
        let exact = Exact::new(&product(&[1, 512], &[512, 1]), &[0.5; 512], &[0.5; 512]);
        assert_eq!(exact.values, [128.0]);
        assert!(exact.bound(0, Precision::F32) < 0.25);
        assert!(exact.bound(0, Precision::F16) < 0.25);
    }
}
