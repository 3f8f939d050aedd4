//! Faults in the arguments that are not tensors: dimensions, windows, limits, constants.

use super::{Fault, inputs::changed};
use testgen_operators::calls::{Attributes, Call, HostTensor, Reduction};
use testgen_types::{Operator, OperatorGroup};

/// Faults in the attributes of an operator.
pub(super) fn for_operator(operator: Operator) -> Vec<Fault> {
    use Operator::*;
    match (operator.group(), operator) {
        (OperatorGroup::Convolution, _) => [windows(), transposed(operator)].concat_faults(),
        (_, MaxPool1d | MaxPool2d | MaxPool3d) => {
            [windows(), vec![padding_of_zeros()]].concat_faults()
        }
        (_, AvgPool1d | AvgPool2d | AvgPool3d) => vec![
            set("the stride is 1", |attributes| ones(&mut attributes.stride)),
            changed("padding is counted, or not, the other way round", |call| {
                let padded = call.attributes.padding.iter().any(|length| *length > 0);
                padded.then(|| call.attributes.count_include_pad ^= true)
            }),
        ],
        (_, AdaptiveAvgPool1d | AdaptiveAvgPool2d) => vec![set("one element less", |attributes| {
            attributes
                .shape
                .iter_mut()
                .for_each(|size| *size = (*size).max(2) - 1);
        })],
        (OperatorGroup::Reduction, _)
        | (_, Softmax | LogSoftmax | Unsqueeze | Stack | Gather | Slice) => {
            vec![changed("another dimension", |call| {
                let dim = call.attributes.dim.as_mut()?;
                *dim = if *dim == 0 { 1 } else { 0 };
                Some(())
            })]
        }
        (OperatorGroup::Normalisation, _) | (_, ConvBatchNormRelu) => vec![
            set("a hundred times the eps", |attributes| {
                attributes.eps *= 100.0
            }),
            set("without eps", |attributes| attributes.eps = 0.0),
        ],
        (OperatorGroup::Loss, _) => vec![changed("the sum in place of the mean", |call| {
            let is_mean = call.attributes.reduction == Reduction::Mean;
            is_mean.then(|| call.attributes.reduction = Reduction::Sum)
        })],
        (_, Gemm) => vec![
            set("alpha is ignored", |attributes| attributes.scales[0] = 1.0),
            set("beta is ignored", |attributes| attributes.scales[1] = 0.0),
            set("c is added where beta is 0", |attributes| {
                attributes.scales[1] = attributes.scales[1].max(1.0)
            }),
        ],
        (_, Gelu) => vec![set("the other form", |attributes| attributes.tanh ^= true)],
        (_, Clamp) => vec![
            set("without the upper limit", |attributes| {
                attributes.limits[1] = 1e9
            }),
            set("without the lower limit", |attributes| {
                attributes.limits[0] = -1e9
            }),
        ],
        (_, ScaledDotProductAttention) => vec![
            changed("a query sees later keys", |call| {
                call.attributes
                    .causal
                    .then(|| call.attributes.causal = false)
            }),
            changed("a query sees one key too many", sees_one_more),
        ],
        (_, LayoutTransform) => {
            vec![set("height and width exchanged", |attributes| {
                attributes.axes = vec![0, 3, 2, 1]
            })]
        }
        _ => Vec::new(),
    }
    .into_iter()
    .chain(slices(operator))
    .collect()
}

fn windows() -> Vec<Fault> {
    vec![
        set("the stride is 1", |attributes| ones(&mut attributes.stride)),
        set("without padding", |attributes| attributes.padding.clear()),
        set("without dilation", |attributes| attributes.dilation.clear()),
    ]
}

fn ones(lengths: &mut [usize]) {
    lengths.iter_mut().for_each(|length| *length = 1);
}

fn transposed(operator: Operator) -> Vec<Fault> {
    let fault = || {
        set("without output padding", |attributes| {
            attributes.output_padding.clear()
        })
    };
    if operator == Operator::ConvTranspose2d {
        vec![fault()]
    } else {
        Vec::new()
    }
}

fn slices(operator: Operator) -> Vec<Fault> {
    if operator != Operator::Slice {
        return Vec::new();
    }
    vec![
        set("the slice starts one element too early", |attributes| {
            attributes.range[0] = 0
        }),
        set("the step is 1", |attributes| attributes.range[2] = 1),
    ]
}

/// Zeros in place of minus infinity around the input of a pool.
fn padding_of_zeros() -> Fault {
    changed("zeros as padding", |call| {
        let padding = call
            .attributes
            .padding
            .iter()
            .copied()
            .max()
            .filter(|length| *length > 0)?;
        let x = &call.inputs[0].tensor;
        let shape: Vec<usize> = x
            .shape
            .iter()
            .enumerate()
            .map(|(dimension, length)| {
                if dimension < 2 {
                    *length
                } else {
                    length + 2 * padding
                }
            })
            .collect();
        let mut padded =
            HostTensor::new(shape.clone(), x.element, vec![0.0; shape.iter().product()]);
        let strides = testgen_operators::calls::row_major_strides(&shape);
        for (flat, value) in x.values.iter().enumerate() {
            let place = x.position(flat).into_iter().zip(&strides).enumerate();
            let of = |(dimension, (index, stride)): (usize, (usize, &usize))| {
                (if dimension < 2 {
                    index
                } else {
                    index + padding
                }) * stride
            };
            padded.values[place.map(of).sum::<usize>()] = *value;
        }
        call.inputs[0].tensor = padded;
        call.attributes.padding.clear();
        Some(())
    })
}

/// Causal attention in which a query sees the next key as well.
fn sees_one_more(call: &mut Call) -> Option<()> {
    call.attributes.causal.then_some(())?;
    let (q, k) = (&call.inputs[0].tensor, &call.inputs[1].tensor);
    let (batch, queries, keys) = (q.shape[0], q.shape[2], k.shape[2]);
    let seen = |flat: usize| f64::from(u8::from(flat % keys <= flat / keys % queries + 1));
    let values = (0..batch * queries * keys).map(seen).collect();
    let mask = HostTensor::new(
        [batch, 1, queries, keys],
        testgen_operators::calls::Element::Bool,
        values,
    );
    call.inputs.push(testgen_operators::calls::Input {
        tensor: mask,
        layout: testgen_operators::calls::Layout::Contiguous,
    });
    call.attributes.causal = false;
    Some(())
}

/// A fault that changes the attributes where that makes a difference.
fn set(name: &'static str, change: fn(&mut Attributes)) -> Fault {
    Fault::new(
        name,
        move |device: &dyn testgen_operators::calls::Execute, call: &Call| {
            let mut other = call.clone();
            change(&mut other.attributes);
            (other.attributes != call.attributes).then(|| device.execute(&other))
        },
    )
}

/// Several lists of faults as one.
trait ConcatFaults {
    fn concat_faults(self) -> Vec<Fault>;
}

impl ConcatFaults for [Vec<Fault>; 2] {
    fn concat_faults(self) -> Vec<Fault> {
        self.into_iter().flatten().collect()
    }
}
