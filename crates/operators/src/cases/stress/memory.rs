//! Estimates of a stress case: bytes that it holds at a time, and operations.

use crate::calls::{Element, PeriodicCall};
use testgen_types::{Operator, OperatorGroup};

/// Bytes of an f32, in which operators on 16-bit types compute.
const SINGLE: u64 = 4;

/// An estimate of the bytes that one run holds at a time: inputs, result, memory that was filled
/// before, and intermediate results.
pub(super) fn bytes(call: &PeriodicCall) -> u64 {
    let element = element(call);
    let inputs: u64 = call
        .call
        .inputs
        .iter()
        .zip(&call.shapes)
        .map(|(input, shape)| {
            // Some devices store a boolean in 4 bytes.
            let width = if input.tensor.element.is_float() {
                width(element)
            } else {
                SINGLE
            };
            count(shape).saturating_mul(width)
        })
        .fold(0, u64::saturating_add);
    let result = count(&call.result).saturating_mul(SINGLE.max(width(element)));
    inputs
        .saturating_add(result)
        .saturating_add(intermediate(call, width(element)))
}

/// Bytes of intermediate results, as the executor composes the operator.
fn intermediate(call: &PeriodicCall, width: u64) -> u64 {
    use Operator::*;
    let largest = call
        .shapes
        .iter()
        .map(|shape| count(shape))
        .max()
        .unwrap_or(0)
        .max(count(&call.result));
    match (call.call.operator.group(), call.call.operator) {
        (_, ScaledDotProductAttention) => attention(call, width, largest),
        (
            _,
            Matmul | BatchMatmul | WeightedSum | Transpose | Contiguous | LayoutTransform
            | Embedding,
        ) => {
            // Factors in f32, for backends that do not sum 16 bits in f32.
            if width < SINGLE {
                copies(2, largest)
            } else {
                copies(1, largest)
            }
        }
        (OperatorGroup::Convolution, _) => convolution(call, largest),
        (OperatorGroup::Elementwise | OperatorGroup::Comparison | OperatorGroup::Movement, _) => {
            copies(1, largest)
        }
        _ => copies(3, largest),
    }
}

fn attention(call: &PeriodicCall, width: u64, largest: u64) -> u64 {
    let [q, k] = [0, 1].map(|index| call.shapes.get(index).map_or(&[][..], Vec::as_slice));
    let ([batch, heads, queries, _], [_, _, keys, _]) = (q, k) else {
        return copies(4, largest);
    };
    let scores = count(&[*batch, *heads, *queries, *keys]);
    let mask = if call.shapes.len() > 3 {
        count(&[*batch, *queries, *keys]).saturating_mul(3 * SINGLE)
    } else {
        0
    };
    // Scores and weights; where they are not f32, the softmax may be composed of operators on f32.
    scores
        .saturating_mul(2 * width + if width < SINGLE { 3 * SINGLE } else { 0 })
        .saturating_add(mask)
        .saturating_add(copies(1, largest))
}

fn convolution(call: &PeriodicCall, largest: u64) -> u64 {
    let weight = call.shapes.get(1).map_or(1, |shape| count(&shape[1..]));
    let channels = call.result.get(1).map_or(1, |channels| *channels as u64);
    // The windows of all positions as rows of a product.
    (count(&call.result) / channels.max(1))
        .saturating_mul(weight)
        .saturating_mul(2 * SINGLE)
        .saturating_add(copies(2, largest))
}

/// Multiplications and additions of products; of other operators about as many operations.
pub(super) fn work(call: &PeriodicCall) -> u64 {
    use Operator::*;
    let result = count(&call.result);
    let largest = call
        .shapes
        .iter()
        .map(|shape| count(shape))
        .max()
        .unwrap_or(0)
        .max(result);
    match (call.call.operator.group(), call.call.operator) {
        (_, Matmul | MatmulBiasRelu | MatmulBiasGelu) => {
            result.saturating_mul(size_of_first(1, call))
        }
        (_, BatchMatmul) => result.saturating_mul(size_of_first(2, call)),
        (_, ScaledDotProductAttention) => {
            // Scores and weighted values: for each of them an element of the result has a term for
            // each key.
            let keys = call.shapes.get(1).map_or(1, |shape| shape[2] as u64);
            result.saturating_mul(2 * keys)
        }
        (OperatorGroup::Convolution, _) => {
            result.saturating_mul(call.shapes.get(1).map_or(1, |shape| count(&shape[1..])))
        }
        _ => largest.saturating_mul(PER_ELEMENT),
    }
}

/// Multiplications that take as long as an element that is read, computed and written.
const PER_ELEMENT: u64 = 16;

/// The type of the first input of floats.
fn element(call: &PeriodicCall) -> Element {
    let mut elements = call.call.inputs.iter().map(|input| input.tensor.element);
    elements
        .find(|element| element.is_float())
        .unwrap_or(Element::I32)
}

const fn width(element: Element) -> u64 {
    match element {
        Element::F16 | Element::Bf16 => 2,
        Element::F32 | Element::I32 | Element::Bool => 4,
    }
}

fn count(shape: &[usize]) -> u64 {
    shape
        .iter()
        .map(|length| *length as u64)
        // An estimate that overflows is larger than every memory, and must not become a small one.
        .fold(1, u64::saturating_mul)
}

fn copies(copies: u64, largest: u64) -> u64 {
    largest.saturating_mul(SINGLE).saturating_mul(copies)
}

fn size_of_first(index: usize, call: &PeriodicCall) -> u64 {
    call.shapes
        .first()
        .and_then(|shape| shape.get(index))
        .map_or(1, |size| *size as u64)
}
