//! Operations whose answers are exact in f32 in every order of computation, because all sums are
//! small integers.

use super::outcome::EngineAnswer;
use testgen_engine::{ComputeOperation, Engine, EngineError, Tensor, TensorData, Tensors};
use testgen_types::Precision;

/// The operands of an operation and its answer.
pub(super) struct KnownAnswer {
    pub(super) name: &'static str,
    /// The compared values, in words.
    description: String,
    operation: ComputeOperation,
    operands: Tensors,
    expected: Vec<f32>,
}

/// Every operation, in the order in which they run.
pub(super) fn all() -> Vec<KnownAnswer> {
    // Neither size is a multiple of a tile, so that the tail of a kernel is tested; kernels for
    // long rows are other ones.
    vec![
        product("product", [33, 65, 31]),
        product("product of long rows", [4, 8193, 4]),
        sum(),
        copy(),
    ]
}

/// Integers from -4 to 4, in an order without a period that divides a tile.
fn integers(count: usize, seed: usize) -> Vec<f32> {
    (0..count)
        // They repeat after 33, which shares no factor with a power of two. Integers of this size
        // are exact in TF32 as well, to which matrix units may round f32.
        .map(|index| ((index * 7 + index / 11 + seed) % 9) as f32 - 4.0)
        .collect()
}

fn vector(values: Vec<f32>) -> Tensor {
    Tensor {
        shape: vec![values.len()],
        data: TensorData::F32(values),
    }
}

fn matrix(shape: [usize; 2], values: Vec<f32>) -> Tensor {
    Tensor {
        shape: shape.to_vec(),
        data: TensorData::F32(values),
    }
}

fn product(name: &'static str, [rows, inner, columns]: [usize; 3]) -> KnownAnswer {
    let (left, right) = (integers(rows * inner, 0), integers(inner * columns, 5));
    let expected = (0..rows * columns)
        .map(|index| {
            let (row, column) = (index / columns, index % columns);
            (0..inner)
                .map(|k| left[row * inner + k] * right[k * columns + column])
                // At most 8193 products of at most 16: far below 2^24, up to which f32 has every
                // integer.
                .sum::<f32>()
        })
        .collect();
    KnownAnswer {
        name,
        description: format!(
            "{rows}x{inner} by {inner}x{columns}, {} exact integers",
            rows * columns
        ),
        operation: ComputeOperation::MatrixProduct,
        operands: Tensors::from([
            ("left".to_owned(), matrix([rows, inner], left.clone())),
            ("right".to_owned(), matrix([inner, columns], right.clone())),
        ]),
        expected,
    }
}

/// More elements than one block of a GPU sums; partial sums stay below 2^24.
fn sum() -> KnownAnswer {
    // Not a multiple of a block either.
    const COUNT: usize = (1 << 20) + 3;
    let values = integers(COUNT, 3);
    KnownAnswer {
        name: "sum",
        description: format!("{COUNT} integers"),
        operation: ComputeOperation::Sum,
        expected: vec![values.iter().sum()],
        operands: Tensors::from([("left".to_owned(), vector(values))]),
    }
}

/// Values that a copy with arithmetic in it changes: signed zeros, denormals, limits, infinities
/// and a NaN.
fn copy() -> KnownAnswer {
    let special = [
        0.0,
        -0.0,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        f32::from_bits(1),
        f32::from_bits(0x807f_ffff),
    ];
    let limits = [
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1.0 + f32::EPSILON,
    ];
    // All exponents and both signs, except the exponent of infinities and NaN.
    // Steps of about 2^20: some 4000 of them go through all bit patterns once.
    let spread = (0_u32..)
        .map(|index| f32::from_bits(index.wrapping_mul(0x0010_3a5b)))
        .filter(|value| value.is_finite())
        .take(4087);
    let values: Vec<f32> = special.into_iter().chain(limits).chain(spread).collect();
    KnownAnswer {
        name: "copy",
        description: format!(
            "{} values bit by bit, with denormals, infinities and NaN",
            values.len()
        ),
        operation: ComputeOperation::Cast,
        expected: values.clone(),
        operands: Tensors::from([("left".to_owned(), vector(values))]),
    }
}

impl KnownAnswer {
    /// Computes and compares.
    pub(super) fn ask(self, engine: &Engine) -> EngineAnswer {
        match engine.compute(
            self.operation,
            self.operands,
            Precision::F32,
            Precision::F32,
        ) {
            Ok(values) => match difference(&self.expected, &values) {
                None => EngineAnswer::Right(self.description),
                Some(difference) => {
                    EngineAnswer::Wrong(format!("{}: {difference}", self.description))
                }
            },
            Err(EngineError::Unsupported { message }) => EngineAnswer::None(message),
            Err(error) => EngineAnswer::Failed(error.to_string()),
        }
    }
}

/// The first wrong element, and their number.
fn difference(expected: &[f32], found: &[f32]) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!(
            "{} values came back, expected {}",
            found.len(),
            expected.len()
        ));
    }
    // A sum may be either zero, so that only a copy distinguishes them.
    let is_sum = expected.len() == 1;
    let wrong: Vec<usize> = (0..expected.len())
        .filter(|&index| {
            let (want, got) = (expected[index], found[index]);
            !(is_same(want, got) || is_sum && want == got)
        })
        .collect();
    let first = *wrong.first()?;
    let (want, got) = (expected[first], found[first]);
    Some(format!(
        "element {first} is {got:e}, expected {want:e}; {} of {} are wrong",
        wrong.len(),
        expected.len()
    ))
}

/// Whether two numbers are the same.
fn is_same(a: f32, b: f32) -> bool {
    // The payload of a NaN is not part of a number.
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
mod tests {
    use super::{KnownAnswer, all, copy, difference, integers, product};
    use std::collections::BTreeSet;
    use testgen_engine::{ComputeOperation, TensorData};

    /// The largest magnitude that any partial sum of an answer can have.
    fn bound(known: &KnownAnswer) -> f64 {
        let magnitudes = |name: &str| match known.operands.get(name).map(|tensor| &tensor.data) {
            Some(TensorData::F32(values)) => {
                values.iter().map(|value| f64::from(value.abs())).collect()
            }
            _ => Vec::new(),
        };
        match known.operation {
            ComputeOperation::Sum => magnitudes("left").iter().sum(),
            // An element has one product for each of the inner elements.
            ComputeOperation::MatrixProduct => known.operands["left"].shape[1] as f64 * 16.0,
            _ => 0.0,
        }
    }

    #[test]
    fn every_partial_sum_is_exact() {
        for known in all() {
            assert!(bound(&known) < f64::from(1 << 24), "{}", known.name);
            assert!(
                known.expected.iter().any(|value| *value != 0.0),
                "{}",
                known.name
            );
        }
    }

    #[test]
    fn the_answer_of_a_product_is_the_sum_of_products_in_integers() {
        let known = product("product", [3, 5, 2]);
        let (left, right) = (integers(15, 0), integers(10, 5));
        let element = |row: usize, column: usize| {
            (0..5)
                .map(|k| left[row * 5 + k] as i32 * right[k * 2 + column] as i32)
                .sum::<i32>()
        };
        let expected: Vec<f32> = (0..6)
            .map(|index| element(index / 2, index % 2) as f32)
            .collect();
        assert_eq!(known.expected, expected);
        let TensorData::F32(sent) = &known.operands["left"].data else {
            panic!("is f32")
        };
        assert_eq!(sent, &left);
    }

    #[test]
    fn a_copy_has_every_exponent_with_both_signs() {
        let values = copy().expected;
        let found: BTreeSet<u32> = values.iter().map(|value| value.to_bits() >> 23).collect();
        assert_eq!(found.len(), 512);
    }

    #[test]
    fn zeros_flushed_denormals_and_missing_elements_are_differences() {
        let expected = copy().expected;
        assert_eq!(difference(&expected, &expected), None);
        let flushed: Vec<f32> = expected
            .iter()
            .map(|value| if value.is_subnormal() { 0.0 } else { *value })
            .collect();
        let found = difference(&expected, &flushed).expect("differs");
        assert!(
            found.starts_with("element 4 is 0e0, expected 1e-45"),
            "{found}"
        );
        let unsigned: Vec<f32> = expected
            .iter()
            .map(|value| if *value == 0.0 { 0.0 } else { *value })
            .collect();
        assert!(
            difference(&expected, &unsigned)
                .is_some_and(|found| found.starts_with("element 1 is 0e0, expected -0e0"))
        );
        assert!(
            difference(&expected, &expected[1..])
                .is_some_and(|found| found.starts_with("4098 values"))
        );
        assert_eq!(difference(&[0.0], &[-0.0]), None);
        assert!(difference(&[1.0], &[f32::NAN]).is_some());
    }
}
