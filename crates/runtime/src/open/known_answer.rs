//! The first computation of a device: small integers, all of them exact in f32.

use super::error::OpenError;
use crate::engine::{AttachError, AttachedEngine, FloatTensor};
use testgen_device::Device;
use testgen_engine::ComputeOperation;
use testgen_types::Precision;

// Not a multiple of a tile, so that the tail of a kernel is tested; the largest answer, n² + n, is
// below 2^24.
pub(super) const LENGTH: usize = 1003;

/// Computes the known answer in an engine, and compares it.
pub(super) fn prove_engine(device: &Device, engine: &AttachedEngine) -> Result<(), OpenError> {
    let compute = |operation, left, right| {
        engine.compute(
            operation,
            [operand(left), operand(right)],
            Precision::F32,
            Precision::F32,
        )
    };
    let values = inputs();
    let answer = compute(ComputeOperation::Multiply, values.clone(), values.clone())
        .and_then(|squares| compute(ComputeOperation::Add, squares, values))
        .map_err(|message| OpenError::of_engine(device, AttachError::Failed(message)))?;
    first_difference(&answer).map_or(Ok(()), |difference| {
        Err(OpenError::wrong_answer(device, &difference))
    })
}

/// x = 0, 1, 2, ...
pub(super) fn inputs() -> Vec<f32> {
    (0..LENGTH).map(|value| value as f32).collect()
}

/// How an answer differs from x² + x.
pub(super) fn first_difference(answer: &[f32]) -> Option<String> {
    // Before the elements, because a shorter answer has no wrong one.
    if answer.len() != LENGTH {
        return Some(format!(
            "{} values came back, expected {LENGTH}",
            answer.len()
        ));
    }
    let index = (0..LENGTH).find(|&index| answer[index] != expected(index))?;
    let wrong = (0..LENGTH)
        .filter(|&index| answer[index] != expected(index))
        .count();
    Some(format!(
        "element {index} is {}, expected {}; {wrong} of {LENGTH} are wrong",
        answer[index],
        expected(index)
    ))
}

fn operand(values: Vec<f32>) -> Option<FloatTensor> {
    Some(FloatTensor {
        shape: vec![values.len()],
        values,
    })
}

fn expected(index: usize) -> f32 {
    (index * index + index) as f32
}

#[cfg(test)]
mod tests {
    use super::{LENGTH, first_difference, inputs};

    #[test]
    fn zeros_and_single_wrong_elements_are_detected() {
        let zeros = first_difference(&vec![0.0; LENGTH]).expect("zeros are wrong");
        assert!(
            zeros.starts_with("element 1 is 0, expected 2; 1002 of 1003"),
            "{zeros}"
        );
        let mut answer: Vec<f32> = inputs().iter().map(|value| value * value + value).collect();
        assert_eq!(first_difference(&answer), None);
        answer[LENGTH - 1] += 1.0;
        assert!(
            first_difference(&answer)
                .is_some_and(|difference| difference.contains("1 of 1003 are wrong"))
        );
        answer[LENGTH - 1] = f32::NAN;
        assert!(first_difference(&answer).is_some());
        answer.pop();
        assert!(
            first_difference(&answer)
                .is_some_and(|difference| difference.starts_with("1002 values"))
        );
    }
}
