//! Variants that round in another order or less often: no check reports them.

use crate::{
    checks::failures,
    emulated::{Change, Emulated, Perfect},
    host::{PRECISIONS, host},
};
use testgen_operators::calls::{Call, Computed, Execute, HostTensor};
use testgen_types::{Operator, Precision};

/// The elements of a dimension in another order.
type Order = fn(usize) -> Vec<usize>;

const ORDERS: [(&str, Order); 4] = [
    ("reversed", |count| (0..count).rev().collect()),
    ("rotated by a third", |count| {
        (0..count)
            .map(|index| (index + count / 3) % count)
            .collect()
    }),
    ("odd after even", |count| {
        (0..count).step_by(2).chain((1..count).step_by(2)).collect()
    }),
    ("blocks of four, the last first", |count| {
        (0..count.div_ceil(4))
            .rev()
            .flat_map(|block| 4 * block..count.min(4 * block + 4))
            .collect()
    }),
];

/// The dimensions over which an operator sums, of each input, and the dimension of the result that
/// is in the order of the inputs.
struct Summed {
    inputs: &'static [(usize, usize)],
    result: Option<usize>,
}

fn summed(call: &Call) -> Option<Summed> {
    use Operator::*;
    let of = |inputs| {
        Some(Summed {
            inputs,
            result: None,
        })
    };
    let along_columns = call.attributes.dim == Some(1);
    match call.operator {
        Sum | Mean | Prod | Max | Min if along_columns => of(&[(0, 1)]),
        Sum | Mean | Prod | Max | Min => of(&[(0, 0)]),
        Matmul | Gemm | MatmulBiasRelu | MatmulBiasGelu => of(&[(0, 1), (1, 0)]),
        BatchMatmul => of(&[(0, 2), (1, 1)]),
        WeightedSum => of(&[(0, 0), (1, 0)]),
        Conv1d | Conv2d | Conv3d | ConvBatchNormRelu if call.attributes.groups == 1 => {
            of(&[(0, 1), (1, 1)])
        }
        ConvTranspose2d if call.attributes.groups == 1 => of(&[(0, 1), (1, 0)]),
        Softmax | LogSoftmax if along_columns => Some(Summed {
            inputs: &[(0, 1)],
            result: Some(1),
        }),
        Softmax | LogSoftmax => Some(Summed {
            inputs: &[(0, 0)],
            result: Some(0),
        }),
        LayerNorm => Some(Summed {
            inputs: &[(0, 1), (1, 0), (2, 0)],
            result: Some(1),
        }),
        RmsNorm => Some(Summed {
            inputs: &[(0, 1), (1, 0)],
            result: Some(1),
        }),
        InstanceNorm => Some(Summed {
            inputs: &[(0, 2)],
            result: Some(2),
        }),
        MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | KlDivLoss => {
            match call.attributes.reduction {
                testgen_operators::calls::Reduction::None => None,
                _ => of(&[(0, 1), (1, 1)]),
            }
        }
        ScaledDotProductAttention if !call.attributes.causal && call.inputs.len() == 3 => {
            of(&[(1, 2), (2, 2)])
        }
        _ => None,
    }
}

/// The tensor with the elements of a dimension in another order.
fn ordered(tensor: &HostTensor, dimension: usize, order: &[usize]) -> HostTensor {
    let mut axes: Vec<usize> = (0..tensor.shape.len()).collect();
    axes.swap(0, dimension);
    tensor.permuted(&axes).rows(order).permuted(&axes)
}

/// The sums of a call in another order.
fn in_order(device: &dyn Execute, call: &Call, order: Order) -> Option<Computed> {
    let Summed { inputs, result } = summed(call)?;
    let mut changed = call.clone();
    for (index, dimension) in inputs {
        let tensor = &mut changed.inputs.get_mut(*index)?.tensor;
        let count = *tensor.shape.get(*dimension)?;
        *tensor = ordered(tensor, *dimension, &order(count));
    }
    let mut computed = device.execute(&changed).ok()?;
    if let Some(dimension) = result {
        let order = order(computed.tensor.shape[dimension]);
        let mut back = vec![0; order.len()];
        order
            .iter()
            .enumerate()
            .for_each(|(place, index)| back[*index] = place);
        computed.tensor = ordered(&computed.tensor, dimension, &back);
    }
    Some(computed)
}

#[test]
fn sums_in_another_order_are_not_reported() {
    let (mut reported, mut count) = (Vec::new(), 0);
    for precision in PRECISIONS {
        let device = host(precision);
        for &operator in Operator::ALL {
            for (name, order) in ORDERS {
                let change: Box<Change> =
                    Box::new(move |device, call| in_order(device, call, order).map(Ok));
                let emulated = Emulated::new(device.as_ref(), change.as_ref());
                let failures = failures(operator, precision, &emulated);
                count += usize::from(*emulated.changed.borrow() > 0);
                reported.extend(
                    failures
                        .into_iter()
                        .map(|(check, failure)| format!("{name}, {check}: {failure}")),
                );
            }
        }
    }
    println!(
        "{count} variants with other results, {} reported",
        reported.len()
    );
    assert!(
        reported.is_empty(),
        "{} of {count} variants:\n{}",
        reported.len(),
        reported.join("\n")
    );
    assert!(count >= 100, "only {count} variants");
}

#[test]
fn results_that_are_rounded_once_are_not_reported() {
    let precisions = [
        Precision::F32,
        Precision::Tf32,
        Precision::F16,
        Precision::Bf16,
    ];
    let of = |precision: Precision| {
        let device = Perfect(precision);
        Operator::ALL
            .iter()
            .flat_map(move |operator| failures(*operator, precision, &device))
            .collect::<Vec<_>>()
    };
    let reported: Vec<String> = precisions
        .into_iter()
        .flat_map(of)
        .map(|(check, failure)| format!("{check}: {failure}"))
        .collect();
    assert!(reported.is_empty(), "{}", reported.join("\n"));
}
