//! Fused kernels compared with the composition of burn's operators, both on the simulated device.

use super::{Values, difference, filled, primitive, tolerance, typed, values};
use burn_tensor::{DType, Tensor, ops::FloatTensor};
use testgen_gpu::{Gpu, GpuDevice};
use testgen_nn::backend::{self, Activation, reference_ops};

const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16];
/// Fewer elements than threads, a multiple of them, and so many that a wider block computes a row.
const WIDTHS: &[usize] = &[7, 64, 300];
const EPS: f64 = 1e-5;

/// The name of a comparison, the result of the fused kernel and that of the composition.
type Case = (String, Values, Values);

fn case<const D: usize>(name: String, fused: Tensor<Gpu, D>, composed: FloatTensor<Gpu>) -> Case {
    (name, values(fused), values(typed::<D>(composed)))
}

/// The number of lines that [`agree`] prints with "agrees".
pub(super) fn count() -> usize {
    let by_width = NORMS + SOFTMAXES + ACTIVATIONS.len();
    TYPES.len() * (WIDTHS.len() * by_width + ROTATIONS.len() + HEAD_WIDTHS.len())
}

/// Compares every fused kernel and prints a line for each case.
pub(super) fn agree(gpu: &GpuDevice) -> bool {
    let mut all = true;
    for &dtype in TYPES {
        let of_width = |&width| {
            [
                norms(gpu, width, dtype),
                softmaxes(gpu, width, dtype),
                activations(gpu, width, dtype),
            ]
        };
        let cases = WIDTHS
            .iter()
            .flat_map(of_width)
            .flatten()
            .chain(rotations(gpu, dtype))
            .chain(merged_heads(gpu, dtype));
        for (name, fused, composed) in cases {
            let error = difference(&composed, &fused);
            let agrees = error <= tolerance(dtype);
            all &= agrees;
            println!(
                "{} fused {name} {dtype:?}: {error:.2e}",
                if agrees { "agrees" } else { "DIFFERS" }
            );
        }
    }
    all
}

const NORMS: usize = 4;

/// Of rows that follow each other, and of rows that do not.
fn norms(gpu: &GpuDevice, width: usize, dtype: DType) -> Vec<Case> {
    let x = filled(gpu, [2, 3, width], 37, dtype);
    let residual = filled(gpu, [2, 3, width], 61, dtype);
    let swapped = filled(gpu, [3, 2, width], 37, dtype).swap_dims(0, 1);
    let (weight, bias) = (
        filled(gpu, [width], 53, dtype),
        filled(gpu, [width], 29, dtype),
    );
    let layer_norm = |name: String, x: &Tensor<Gpu, 3>| {
        let fused = backend::layer_norm(x.clone(), weight.clone(), bias.clone(), EPS);
        let composed = reference_ops::layer_norm::<Gpu>(
            primitive(x.clone()),
            primitive(weight.clone()),
            primitive(bias.clone()),
            EPS,
        );
        case(name, fused, composed)
    };
    let contiguous = layer_norm(format!("layer_norm {width}"), &x);
    let of_swapped = layer_norm(format!("layer_norm {width} of swapped rows"), &swapped);
    let fused = backend::add_layer_norm(
        x.clone(),
        residual.clone(),
        weight.clone(),
        bias.clone(),
        EPS,
    );
    let sum = primitive(x.clone() + residual);
    let composed =
        reference_ops::layer_norm::<Gpu>(sum, primitive(weight.clone()), primitive(bias), EPS);
    let rms = backend::rms_norm(x.clone(), weight.clone(), EPS);
    let composed_rms = reference_ops::rms_norm::<Gpu>(primitive(x), primitive(weight), EPS);
    vec![
        contiguous,
        of_swapped,
        case(format!("add_layer_norm {width}"), fused, composed),
        case(format!("rms_norm {width}"), rms, composed_rms),
    ]
}

const SOFTMAXES: usize = 4;

fn softmaxes(gpu: &GpuDevice, keys: usize, dtype: DType) -> Vec<Case> {
    let scores = filled(gpu, [2, 3, 5, keys], 37, dtype);
    let biases = [
        None,
        Some([2, 1, 5, keys]),
        Some([1, 3, 1, keys]),
        Some([1, 1, 1, keys]),
    ];
    let compare = |shape: Option<[usize; 4]>| {
        let bias = shape.map(|shape| filled(gpu, shape, 59, DType::F32));
        let fused = backend::masked_softmax(scores.clone(), 0.3, bias.clone());
        let composed = reference_ops::masked_softmax::<Gpu>(
            primitive(scores.clone()),
            0.3,
            bias.map(primitive),
        );
        case(
            format!("masked_softmax {keys} with a bias {shape:?}"),
            fused,
            composed,
        )
    };
    biases.into_iter().map(compare).collect()
}

const ACTIVATIONS: &[Activation] = &[
    Activation::Gelu,
    Activation::GeluNew,
    Activation::QuickGelu,
    Activation::Relu,
    Activation::Silu,
    Activation::Tanh,
];

fn activations(gpu: &GpuDevice, width: usize, dtype: DType) -> Vec<Case> {
    let x = filled(gpu, [3, width], 37, dtype) * 4.0;
    let compare = |&activation: &Activation| {
        let fused = backend::activate(x.clone(), activation);
        let composed = reference_ops::activation::<Gpu>(primitive(x.clone()), activation);
        case(format!("{activation:?} {width}"), fused, composed)
    };
    ACTIVATIONS.iter().map(compare).collect()
}

/// The width that is rotated and the number of tables.
const ROTATIONS: &[(usize, usize)] = &[(8, 1), (8, 2), (4, 1)];

fn rotations(gpu: &GpuDevice, dtype: DType) -> Vec<Case> {
    // As heads are split: the rows of a head do not follow each other.
    let x = filled(gpu, [2, 5, 3, 8], 37, dtype).swap_dims(1, 2);
    let compare = |&(width, tables): &(usize, usize)| {
        let table = |step| filled(gpu, [tables, 1, 5, width], step, dtype);
        let (cos, sin) = (table(53), table(29));
        let fused = backend::rotate(x.clone(), cos.clone(), sin.clone());
        let composed =
            reference_ops::rotate::<Gpu>(primitive(x.clone()), primitive(cos), primitive(sin));
        case(
            format!("rotate {width} of 8 by {tables} tables"),
            fused,
            composed,
        )
    };
    ROTATIONS.iter().map(compare).collect()
}

/// So that a thread copies one element, some, and as many as it can.
const HEAD_WIDTHS: &[usize] = &[7, 12, 64];

fn merged_heads(gpu: &GpuDevice, dtype: DType) -> Vec<Case> {
    let compare = |&width: &usize| {
        let x = filled(gpu, [2, 3, 5, width], 37, dtype);
        let fused = backend::merge_heads(x.clone());
        let composed = reference_ops::merge_heads::<Gpu>(primitive(x));
        case(format!("heads of {width}"), fused, composed)
    };
    HEAD_WIDTHS.iter().map(compare).collect()
}
