//! One candidate on one product.

use crate::{
    arithmetic::arithmetic,
    bound::Exact,
    candidate::Candidate,
    guarded::{self, GuardedOutput, ReadError},
    launch::launch,
    values,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_gpu::{GpuDevice, Product};
use testgen_types::{Precision, panic_text};

/// The result of one candidate on one product.
#[derive(Debug, Clone, PartialEq)]
pub enum CandidateResult {
    /// Every element is within its bound.
    Correct {
        /// The smallest bound / error; infinite if every element is exact.
        headroom: f64,
    },
    /// An element is not, or the kernel wrote outside of the result.
    Wrong {
        /// The smallest bound / error; 0 if a result is missing or not finite.
        headroom: f64,
        /// The element that is furthest outside its bound.
        what: String,
    },
    /// cubek returned an error instead of launching the kernel.
    Refused {
        /// The error.
        why: String,
    },
    /// A panic, or an error of the device. The device may be unusable.
    Crashed {
        /// The message.
        why: String,
    },
}

/// Computes `product` with `candidate`, and compares every element with f64.
///
/// Never panics, but a kernel may end the process, or leave the device unusable.
pub fn examine(candidate: &Candidate, product: &Product, device: GpuDevice) -> CandidateResult {
    let computed = catch_unwind(AssertUnwindSafe(|| compute(candidate, product, device)));
    computed.unwrap_or_else(|panic| CandidateResult::Crashed {
        why: panic_text(panic.as_ref()).to_owned(),
    })
}

fn compute(candidate: &Candidate, product: &Product, device: GpuDevice) -> CandidateResult {
    let precision = product.precision;
    // With one seed, factors of the same shape would be equal, and a kernel that reads one of them
    // in the place of the other would be correct.
    let left = values::random(product.left.count(), 1, precision);
    let right = values::random(product.right.count(), 2, precision);
    let output = GuardedOutput::new(device, product.output_shape(), precision);
    let tensor = |factor, numbers: &[f64]| guarded::factor(device, factor, precision, numbers);
    let factors = (tensor(&product.left, &left), tensor(&product.right, &right));
    // A refusal is not a fault: the autotuner passes over a kernel that refuses.
    if let Err(error) = launch(candidate, factors.0, factors.1, output.tensor.clone()) {
        return CandidateResult::Refused {
            why: format!("{error:?}"),
        };
    }
    // Launches return at once: an error of the device shows when its memory is read.
    match output.read() {
        Ok(got) => compare(
            &got,
            &Exact::new(product, &left, &right),
            arithmetic(candidate, product, device),
        ),
        Err(ReadError::Device(why)) => CandidateResult::Crashed { why },
        Err(ReadError::WroteOutside) => CandidateResult::Wrong {
            headroom: 0.0,
            what: "the kernel wrote outside of the result".to_owned(),
        },
    }
}

/// The finding about results, all of which are there.
fn compare(got: &[f64], exact: &Exact, precision: Precision) -> CandidateResult {
    let mut worst = (f64::INFINITY, 0);
    for (index, (got, expected)) in got.iter().zip(&exact.values).enumerate() {
        let error = (got - expected).abs();
        // The headroom of a NaN would be NaN, which is never the least.
        let headroom = if got.is_finite() {
            exact.bound(index, precision) / error
        } else {
            0.0
        };
        if headroom < worst.0 {
            worst = (headroom, index);
        }
    }
    let (headroom, index) = worst;
    if headroom >= 1.0 {
        return CandidateResult::Correct { headroom };
    }
    let wrong = got
        .iter()
        .enumerate()
        .filter(|(index, got)| {
            let error = (**got - exact.values[*index]).abs();
            !got.is_finite() || error > exact.bound(*index, precision)
        })
        .count();
    let (computed, expected) = (got[index], exact.values[index]);
    let what = format!(
        "element {index} is {computed:.6}, expected {expected:.6}; {wrong} of {} are wrong",
        got.len()
    );
    CandidateResult::Wrong { headroom, what }
}

#[cfg(test)]
mod tests {
    use super::{CandidateResult, Exact, Precision, Product, compare};
    use testgen_gpu::Factor;

    fn compared(change: impl FnOnce(&mut Vec<f64>)) -> CandidateResult {
        let factor = |shape: &[usize]| Factor::contiguous(shape.to_vec());
        let product = Product {
            left: factor(&[2, 8]),
            right: factor(&[8, 2]),
            precision: Precision::F32,
        };
        let exact = Exact::new(&product, &[0.5; 16], &[0.25; 16]);
        let mut got = exact.values.clone();
        change(&mut got);
        compare(&got, &exact, Precision::F32)
    }

    #[test]
    fn an_exact_product_is_correct() {
        assert_eq!(
            compared(|_| {}),
            CandidateResult::Correct {
                headroom: f64::INFINITY
            }
        );
        let CandidateResult::Correct { headroom } = compared(|got| got[1] += 1e-7) else {
            panic!("it is within the bound")
        };
        assert!((1.0..100.0).contains(&headroom));
    }

    #[test]
    fn one_wrong_or_missing_element_is_found() {
        for wrong in [1.01, 0.0, f64::NAN, f64::INFINITY] {
            let found = compared(|got| got[2] = wrong);
            let CandidateResult::Wrong { what, headroom } = &found else {
                panic!("{found:?}")
            };
            assert!(
                what.starts_with("element 2 is") && what.contains("1 of 4 are wrong"),
                "{what}"
            );
            assert!(*headroom < 1.0);
        }
    }
}
