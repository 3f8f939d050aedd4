//! Terms, positions and tokens that are not read, or read twice.

use super::{
    Change::{Inputs, Sums},
    LargeFault,
};
use testgen_operators::calls::{Element, HostTensor, PeriodicCall};
use testgen_types::{
    Operator::{
        self, BatchMatmul, Conv2d, CrossEntropyLoss, Embedding, LayerNorm, Matmul, RmsNorm, Rope,
        ScaledDotProductAttention, Softmax, Sum, WeightedSum,
    },
    Precision,
};

const SKINNY: &[usize] = &[4, 8193, 53];
const LONG: &[usize] = &[1, 2, 5, 8193, 16];
const WIDE: &[usize] = &[1, 1, 65, 129, 384];

fn large_fault(
    name: &'static str,
    operator: Operator,
    sizes: &'static [usize],
    change: fn(&mut PeriodicCall),
) -> LargeFault {
    LargeFault::new(name, operator, sizes, Inputs(change))
}

pub(super) fn all() -> Vec<LargeFault> {
    [terms(), attention(), others()]
        .into_iter()
        .flatten()
        .collect()
}

/// Faults of sums.
fn terms() -> Vec<LargeFault> {
    vec![
        large_fault("terms beyond 4096 are dropped", Matmul, SKINNY, |call| {
            tail(call, 0, 4096, 0.0)
        }),
        large_fault("terms beyond 8192 are dropped", Matmul, SKINNY, |call| {
            tail(call, 0, 8192, 0.0)
        }),
        large_fault(
            "the last term of a batch is dropped",
            BatchMatmul,
            &[7, 33, 4097, 41],
            |call| tail(call, 0, 4096, 0.0),
        ),
        large_fault(
            "term 4096 is read twice, term 4095 is not",
            Matmul,
            SKINNY,
            |call| {
                let twice = |line: &mut [f64]| line[4095] = line[4096];
                call.call.inputs[0]
                    .tensor
                    .values
                    .chunks_mut(8193)
                    .for_each(twice);
            },
        ),
        LargeFault {
            precision: Precision::F16,
            ..LargeFault::new(
                "sums of halves are rounded to f16",
                Matmul,
                &[45, 8193, 53],
                Sums(half_of_terms),
            )
        },
        large_fault(
            "weights beyond 65536 rows are dropped",
            WeightedSum,
            &[70_001, 41],
            |call| tail(call, 0, 65_536, 0.0),
        ),
        large_fault(
            "rows beyond 500000 are not summed",
            Sum,
            &[500_001, 33],
            |call| {
                call.call.inputs[0]
                    .tensor
                    .values
                    .iter_mut()
                    .skip(500_000 * 33)
                    .for_each(|value| *value = 0.0);
            },
        ),
        large_fault(
            "channels beyond 256 are not read",
            Conv2d,
            &[7, 384, 3, 5, 7, 3],
            |call| {
                let tensor = &mut call.call.inputs[0].tensor;
                let (image, plane) = (
                    tensor.values.len() / tensor.shape[0],
                    tensor.shape[2..].iter().product::<usize>(),
                );
                tensor
                    .values
                    .chunks_mut(image)
                    .for_each(|image| image[256 * plane..].fill(0.0));
            },
        ),
        large_fault(
            "the mean of squares ends at column 8192",
            RmsNorm,
            &[41, 8193],
            |call| tail(call, 0, 8192, 0.0),
        ),
        large_fault(
            "the variance ends at column 1024",
            LayerNorm,
            &[1001, 1280],
            |call| tail(call, 0, 1024, 0.0),
        ),
    ]
}

/// Faults of attention.
fn attention() -> Vec<LargeFault> {
    vec![
        large_fault(
            "head_dim beyond 256 is not read",
            ScaledDotProductAttention,
            WIDE,
            |call| tail(call, 0, 256, 0.0),
        ),
        large_fault(
            "scores are scaled for a head_dim of 256",
            ScaledDotProductAttention,
            WIDE,
            |call| {
                let scale = (384.0_f64 / 256.0).sqrt();
                call.call.inputs[0]
                    .tensor
                    .values
                    .iter_mut()
                    .for_each(|value| *value = Element::F32.round(*value * scale));
            },
        ),
        large_fault(
            "tokens beyond 4096 are not seen",
            ScaledDotProductAttention,
            LONG,
            |call| first_tokens(call, 4096),
        ),
        large_fault(
            "the last token is not seen",
            ScaledDotProductAttention,
            LONG,
            |call| first_tokens(call, 8192),
        ),
        large_fault(
            "positions begin again at 4096",
            Rope,
            &[1, 4, 8193, 16],
            |call| {
                for input in [1, 2] {
                    let values = &mut call.call.inputs[input].tensor.values;
                    (4096 * 16..values.len())
                        .for_each(|index| values[index] = values[index - 4096 * 16]);
                }
            },
        ),
    ]
}

/// Faults of lines and tables.
fn others() -> Vec<LargeFault> {
    vec![
        large_fault(
            "columns beyond 14336 have no weight",
            Softmax,
            &[41, 14_401],
            |call| {
                tail(call, 0, 14_336, f64::NEG_INFINITY);
            },
        ),
        large_fault(
            "classes beyond 32000 are not counted",
            CrossEntropyLoss,
            &[41, 32_003],
            |call| {
                tail(call, 0, 32_000, f64::NEG_INFINITY);
            },
        ),
        large_fault(
            "rows of a table have 16 bits",
            Embedding,
            &[70_001, 41, 37],
            |call| {
                call.call.inputs[1]
                    .tensor
                    .values
                    .iter_mut()
                    .for_each(|index| *index %= 65_536.0);
            },
        ),
    ]
}

/// Replaces the last dimension of an input from `start` on.
fn tail(call: &mut PeriodicCall, input: usize, start: usize, number: f64) {
    let tensor = &mut call.call.inputs[input].tensor;
    let width = tensor.shape.last().copied().unwrap_or(1);
    tensor
        .values
        .chunks_mut(width.max(1))
        .for_each(|line| line[start.min(width)..].fill(number));
}

/// The keys and values of the first `count` tokens.
fn first_tokens(call: &mut PeriodicCall, count: usize) {
    for input in [1, 2] {
        let tensor = &mut call.call.inputs[input].tensor;
        let [batch, heads, keys, width] = tensor.shape[..] else {
            return;
        };
        let values = tensor
            .values
            .chunks(keys * width)
            .flat_map(|head| head[..count * width].to_vec())
            .collect();
        *tensor = HostTensor::new([batch, heads, count, width], tensor.element, values);
        call.shapes[input][2] = count;
    }
    if let Some(mask) = call.call.inputs.get_mut(3).map(|input| &mut input.tensor) {
        let keys = mask.shape[3];
        let values = mask
            .values
            .chunks(keys)
            .flat_map(|line| line[..count].to_vec())
            .collect();
        *mask = HostTensor::new(
            [mask.shape[0], 1, mask.shape[2], count],
            mask.element,
            values,
        );
        call.shapes[3][3] = count;
    }
}

/// The first or the second half of the terms of a product.
fn half_of_terms(call: &mut PeriodicCall, second: bool) {
    let tensor = &mut call.call.inputs[0].tensor;
    let width = tensor.shape.last().copied().unwrap_or(1);
    for line in tensor.values.chunks_mut(width.max(1)) {
        let (first, rest) = line.split_at_mut(width / 2);
        if second {
            first.fill(0.0)
        } else {
            rest.fill(0.0)
        }
    }
}
