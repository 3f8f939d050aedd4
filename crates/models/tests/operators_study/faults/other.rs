//! Another operator in place of the right one, and functions that are computed in another way.

use super::{Computation, Fault};
use crate::emulated::on_host;
use testgen_operators::calls::{Attributes, Call, Element, Execute, HostTensor, Input};
use testgen_types::{Operator, OperatorGroup};

/// The operators that are easily confused with one, and its naive formula.
pub(super) fn for_operator(operator: Operator) -> Vec<Fault> {
    let confused = confused(operator).iter().copied();
    let mut faults: Vec<Fault> = confused
        .chain(other_activations(operator))
        .map(replaced)
        .collect();
    match operator {
        Operator::Softmax | Operator::LogSoftmax => faults.push(naive_softmax()),
        Operator::LayerNorm | Operator::InstanceNorm | Operator::GroupNorm => {
            faults.push(unbiased())
        }
        _ => {}
    }
    faults
}

/// Every other activation in place of one.
fn other_activations(operator: Operator) -> impl Iterator<Item = Operator> {
    let is_activation = |one: &Operator| {
        one.group() == OperatorGroup::Activation
            && !matches!(one, Operator::Softmax | Operator::LogSoftmax)
    };
    let all = Operator::ALL.iter().copied().filter(is_activation);
    all.filter(move |other| *other != operator && is_activation(&operator))
}

fn confused(operator: Operator) -> &'static [Operator] {
    use Operator::*;
    match operator {
        Add => &[Sub, Mul],
        Sub => &[Add],
        Mul => &[Add, Div],
        Div => &[Mul],
        Pow => &[Mul],
        MaxBinary | Maximum => &[Minimum, Add],
        MinBinary | Minimum => &[Maximum],
        Neg => &[Abs, Copy],
        Abs => &[Neg, Relu],
        Sqrt => &[Log],
        Exp => &[Tanh],
        Log => &[Sqrt],
        Sin => &[Cos],
        Cos => &[Sin],
        Tanh => &[Sigmoid],
        Relu => &[Abs, Copy],
        Sigmoid => &[Tanh],
        Softmax => &[LogSoftmax, Sigmoid],
        LogSoftmax => &[Softmax],
        Sum => &[Mean, Max],
        Mean => &[Sum],
        Max => &[Min, Mean],
        Min => &[Max],
        Prod => &[Sum],
        Eq => &[Ne, Le],
        Ne => &[Eq],
        Lt => &[Le, Gt],
        Le => &[Lt],
        Gt => &[Ge],
        Ge => &[Gt],
        Less => &[Le],
        MaxPool1d => &[AvgPool1d],
        MaxPool2d => &[AvgPool2d],
        MaxPool3d => &[AvgPool3d],
        AvgPool1d => &[MaxPool1d],
        AvgPool2d => &[MaxPool2d],
        AvgPool3d => &[MaxPool3d],
        LayerNorm => &[RmsNorm],
        InstanceNorm => &[LayerNorm],
        MseLoss => &[L1Loss],
        L1Loss => &[MseLoss, SmoothL1Loss],
        SmoothL1Loss => &[L1Loss],
        BceLoss => &[BceWithLogitsLoss],
        BceWithLogitsLoss => &[MseLoss],
        CrossEntropyLoss => &[NllLoss],
        NllLoss => &[CrossEntropyLoss],
        MatmulBiasRelu => &[MatmulBiasGelu],
        MatmulBiasGelu => &[MatmulBiasRelu],
        AddRelu => &[Add],
        _ => &[],
    }
}

fn replaced(other: Operator) -> Fault {
    Fault::new(other.as_str(), move |device: &dyn Execute, call: &Call| {
        Some(device.execute(&Call {
            operator: other,
            ..call.clone()
        }))
    })
}

/// exp(x) / sum(exp(x)) without the largest score subtracted, in f32.
fn naive_softmax() -> Fault {
    Fault::new(
        "the largest score is not subtracted",
        |_: &dyn Execute, call: &Call| -> Option<Computation> {
            let x = call.tensor(0)?;
            let dim = call.attributes.dim?;
            let mut axes: Vec<usize> = (0..x.shape.len()).collect();
            axes.swap(dim, x.shape.len() - 1);
            let lines = x.permuted(&axes);
            let width = *lines.shape.last()?;
            let values = lines.values.chunks(width.max(1)).flat_map(|line| {
                let powers: Vec<f32> = line.iter().map(|score| (*score as f32).exp()).collect();
                let sum: f32 = powers.iter().sum();
                let log = call.operator == Operator::LogSoftmax;
                powers
                    .into_iter()
                    .map(move |power| f64::from(if log { (power / sum).ln() } else { power / sum }))
            });
            let result = HostTensor::new(lines.shape.clone(), Element::F32, values.collect());
            Some(Ok(on_host(result.permuted(&axes))))
        },
    )
}

/// The variance divided by one less than the number of elements, which a smaller weight is equal to
/// but for eps.
fn unbiased() -> Fault {
    Fault::new(
        "the variance is divided by n - 1",
        |device: &dyn Execute, call: &Call| -> Option<Computation> {
            let x = call.tensor(0)?;
            let together = match call.operator {
                Operator::LayerNorm => *x.shape.last()?,
                Operator::InstanceNorm => x.shape[2],
                _ => x.len() / (x.shape[0] * call.attributes.groups).max(1),
            } as f64;
            let mut changed = call.clone();
            let Input { tensor, .. } = changed.inputs.get_mut(1)?;
            let (factor, element) = (((together - 1.0) / together).sqrt(), tensor.element);
            tensor
                .values
                .iter_mut()
                .for_each(|weight| *weight = element.round(*weight * factor));
            changed.attributes = Attributes {
                ..call.attributes.clone()
            };
            Some(device.execute(&changed))
        },
    )
}
