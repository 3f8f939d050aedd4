//! The last of many terms, made large enough that a result without it is outside its bound.

use crate::calls::{Call, HostTensor};
use testgen_types::Operator;

/// A weight of one among thousands has no effect that exceeds the bound of their sum: attention and
/// losses over classes get a last term that has.
pub(super) fn emphasise(call: &mut Call) {
    match call.operator {
        // The values of the last token; a power of two is exact in every type.
        Operator::ScaledDotProductAttention => {
            let width = call
                .tensor(2)
                .and_then(|values| values.shape.last().copied())
                .unwrap_or(1);
            every_last(call, 2, 2, width, |value| value * 256.0);
        }
        // The logits of the last class: the power of 8 is about 3,000, so that it counts as much as
        // thousands of others.
        Operator::CrossEntropyLoss => every_last(call, 0, 1, 1, |logit| logit + 8.0),
        _ => {}
    }
}

/// Changes the last `count` elements along all lines of dimension `dim` and those inside of it.
fn every_last(
    call: &mut Call,
    input: usize,
    dim: usize,
    count: usize,
    change: impl Fn(f64) -> f64,
) {
    let Some(tensor) = call.inputs.get_mut(input).map(|input| &mut input.tensor) else {
        return;
    };
    let line = tensor.shape[dim..].iter().product::<usize>().max(1);
    let mut values = std::mem::take(&mut tensor.values);
    for line in values.chunks_mut(line) {
        line.iter_mut()
            .rev()
            .take(count)
            .for_each(|value| *value = change(*value));
    }
    // `new` rounds the changed numbers to the type of the tensor.
    *tensor = HostTensor::new(tensor.shape.clone(), tensor.element, values);
}

#[cfg(test)]
mod tests {
    use super::emphasise;
    use crate::{calls::Element, cases::cases};
    use testgen_types::Operator;

    #[test]
    fn only_the_last_token_changes() {
        let case = cases(
            Operator::ScaledDotProductAttention,
            &[1, 2, 3, 5, 4],
            Element::F16,
        )
        .remove(0);
        let mut call = case.call.clone();
        emphasise(&mut call);
        let (before, after) = (&case.call.inputs[2].tensor, &call.inputs[2].tensor);
        for (flat, (before, after)) in before.values.iter().zip(&after.values).enumerate() {
            let factor = if flat / 4 % 5 == 4 { 256.0 } else { 1.0 };
            assert_eq!(*after, before * factor, "{flat}");
        }
        assert_eq!(case.call.inputs[..2], call.inputs[..2]);
    }
}
