//! Faults in how inputs are read: strides, offsets, an input in place of another, indices, weights,
//! biases and masks.

use super::{Computation, Fault};
use testgen_operators::calls::{Call, Execute, HostTensor, Layout};
use testgen_types::{Operator, OperatorGroup};

/// Faults in how the inputs of an operator are read.
pub(super) fn for_operator(operator: Operator) -> Vec<Fault> {
    use Operator::*;
    let mut faults = vec![
        changed("reversed strides are ignored", |call| {
            let reversed = |layout: &Layout| *layout == Layout::Reversed;
            read_otherwise(call, reversed, |tensor| {
                let axes: Vec<usize> = (0..tensor.shape.len()).rev().collect();
                HostTensor {
                    shape: tensor.shape.clone(),
                    ..tensor.permuted(&axes)
                }
            })
        }),
        changed("the start of a slice is ignored", |call| {
            let sliced = |layout: &Layout| *layout == Layout::Sliced;
            read_otherwise(call, sliced, |tensor| {
                let fill = if tensor.element.is_float() {
                    f64::NAN
                } else {
                    0.0
                };
                HostTensor {
                    values: vec![fill; tensor.len()],
                    ..tensor.clone()
                }
            })
        }),
    ];
    let two = matches!(operator.group(), OperatorGroup::Comparison)
        || matches!(
            operator,
            Add | Sub
                | Mul
                | Div
                | Pow
                | MaxBinary
                | MinBinary
                | Maximum
                | Minimum
                | AddRelu
                | MulAdd
        )
        || matches!(
            operator,
            MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | KlDivLoss
        );
    if two {
        faults.push(changed("the second input is the first", |call| {
            let first = call.inputs[0].clone();
            (first.tensor.shape == call.inputs[1].tensor.shape).then(|| call.inputs[1] = first)
        }));
    }
    if matches!(
        operator,
        Sub | Div | Pow | Lt | Le | Gt | Ge | Less | KlDivLoss | BceLoss | BceWithLogitsLoss
    ) {
        faults.push(changed("the inputs are exchanged", |call| {
            call.inputs.swap(0, 1);
            Some(())
        }));
    }
    if operator == Concat {
        faults.push(changed("the parts are exchanged", |call| {
            call.inputs.reverse();
            Some(())
        }));
    }
    if operator == Where {
        faults.push(changed("the branches are exchanged", |call| {
            call.inputs.swap(1, 2);
            Some(())
        }));
    }
    if matches!(operator, Gather | Embedding) {
        faults.push(changed("the first index is used for all", |call| {
            let indices = &mut call.inputs[1].tensor.values;
            let first = *indices.first()?;
            indices.iter_mut().for_each(|index| *index = first);
            Some(())
        }));
        faults.push(changed("indices are one too small", |call| {
            let indices = &mut call.inputs[1].tensor.values;
            indices
                .iter_mut()
                .for_each(|index| *index = (*index - 1.0).max(0.0));
            Some(())
        }));
    }
    faults.extend(parameters(operator));
    faults
}

/// Faults in weights, biases, masks and tables.
fn parameters(operator: Operator) -> Vec<Fault> {
    use Operator::*;
    let mut faults = Vec::new();
    match operator {
        Conv1d | Conv2d | Conv3d | ConvTranspose2d => {
            faults.push(changed("the bias is ignored", |call| {
                (call.inputs.len() > 2).then(|| call.inputs.truncate(2))
            }));
            faults.push(changed("the kernel is reversed", |call| {
                let tensor = &mut call.inputs[1].tensor;
                let taps: usize = tensor.shape[2..].iter().product();
                tensor.values.chunks_mut(taps).for_each(<[f64]>::reverse);
                Some(())
            }));
            faults.push(changed(
                "groups have the weights of their neighbours",
                |call| {
                    let (groups, weight) = (call.attributes.groups, &mut call.inputs[1].tensor);
                    let part = weight.len() / groups;
                    (groups > 1).then(|| weight.values.rotate_left(part))
                },
            ));
        }
        LayerNorm | GroupNorm | InstanceNorm | BatchNorm => {
            faults.push(changed("the bias is ignored", |call| filled(call, 2, 0.0)));
            faults.push(changed("the weight is ignored", |call| {
                filled(call, 1, 1.0)
            }));
        }
        RmsNorm => faults.push(changed("the weight is ignored", |call| {
            filled(call, 1, 1.0)
        })),
        MatmulBiasRelu | MatmulBiasGelu => {
            faults.push(changed("the bias is ignored", |call| filled(call, 2, 0.0)))
        }
        ConvBatchNormRelu => {
            faults.push(changed("the bias is ignored", |call| filled(call, 3, 0.0)))
        }
        MulAdd => faults.push(changed("the sum is ignored", |call| filled(call, 2, 0.0))),
        Rope => {
            faults.push(changed(
                "the rotation is in the opposite direction",
                |call| {
                    call.inputs[2]
                        .tensor
                        .values
                        .iter_mut()
                        .for_each(|value| *value = -*value);
                    Some(())
                },
            ));
            faults.push(changed("positions start at one", |call| {
                let width = call.inputs[1].tensor.shape[3];
                (1..=2).for_each(|index| call.inputs[index].tensor.values.rotate_left(width));
                Some(())
            }));
        }
        ScaledDotProductAttention => {
            faults.push(changed("the mask is ignored", |call| {
                (call.inputs.len() > 3).then(|| call.inputs.truncate(3))
            }));
            faults.push(changed("the mask is inverted", |call| {
                let mask = call.inputs.get_mut(3)?;
                mask.tensor
                    .values
                    .iter_mut()
                    .for_each(|seen| *seen = 1.0 - *seen);
                Some(())
            }));
            faults.push(changed("scores are not scaled", |call| {
                let q = &mut call.inputs[0].tensor;
                let scale = (q.shape[3] as f64).sqrt();
                let element = q.element;
                q.values
                    .iter_mut()
                    .for_each(|value| *value = element.round(*value * scale));
                Some(())
            }));
        }
        _ => {}
    }
    faults
}

fn filled(call: &mut Call, index: usize, number: f64) -> Option<()> {
    call.inputs
        .get_mut(index)?
        .tensor
        .values
        .iter_mut()
        .for_each(|value| *value = number);
    Some(())
}

/// Reads the memory of the inputs in some layouts otherwise.
fn read_otherwise(
    call: &mut Call,
    is_concerned: fn(&Layout) -> bool,
    read: fn(&HostTensor) -> HostTensor,
) -> Option<()> {
    let concerned = call
        .inputs
        .iter_mut()
        .filter(|input| is_concerned(&input.layout) && input.tensor.element.is_float());
    let mut count = 0;
    for input in concerned {
        input.tensor = read(&input.tensor);
        input.layout = Layout::Contiguous;
        count += 1;
    }
    (count > 0).then_some(())
}

/// A fault that computes another call.
pub(super) fn changed(name: &'static str, change: fn(&mut Call) -> Option<()>) -> Fault {
    Fault::new(
        name,
        move |device: &dyn Execute, call: &Call| -> Option<Computation> {
            let mut changed = call.clone();
            change(&mut changed)?;
            Some(device.execute(&changed))
        },
    )
}
