//! `Ops` for the host processor: f32 goes to the kernels, everything else to the defaults.

use super::{
    Activation, Cpu, Ops,
    kernel::{self, Bias, StridedMatrix},
    reference_ops,
};
use burn_flex::{FlexDevice, FlexTensor, Layout};
use burn_tensor::{Bytes, DType, FloatDType, Shape, ops::FloatTensorOps};
use testgen_types::DeviceKind;

impl Ops for Cpu {
    fn kind(_: &FlexDevice) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn matmul_op(left: FlexTensor, right: FlexTensor) -> FlexTensor {
        // In f16, burn 0.21 rounds partial sums to f16: products of one row or one column after
        // each term (40 terms: 1.7e-3 off, where rounding the result costs 3e-5), others after each
        // piece of `SUMMED_AT_ONCE` terms. Those are computed in f32 and rounded once.
        // bf16 needs nothing here: Flex converts its factors to f32.
        if left.dtype() != DType::F16 || !rounds_partial_sums(&left, &right) {
            return Self::float_matmul(left, right);
        }
        let [left, right] = [left, right].map(|x| Self::float_cast(x, FloatDType::F32));
        Self::float_cast(Self::float_matmul(left, right), FloatDType::F16)
    }

    fn affine_op(x: FlexTensor, weight: FlexTensor, bias: Option<FlexTensor>) -> FlexTensor {
        // The kernel reads a weight from the start of its storage. The
        // strides may be any, so that a tied head is not copied.
        if !all_f32([&x, &weight]) || weight.layout().start_offset() != 0 {
            return reference_ops::add_bias::<Self>(Self::matmul_op(x, weight), bias);
        }
        let (x, bias) = (contiguous(x), bias.map(contiguous));
        let ([rows, inner], [_, columns]) = (dims(&x), dims(&weight));
        let strides = weight.layout().strides();
        let matrix = StridedMatrix {
            elements: weight.storage(),
            row_stride: strides[0],
            column_stride: strides[1],
        };
        let product = kernel::linear(
            elements(&x),
            [rows, inner, columns],
            &matrix,
            bias.as_ref().map(elements),
        );
        tensor(product, [rows, columns])
    }

    fn activation_op(x: FlexTensor, activation: Activation) -> FlexTensor {
        match kernel::activation(activation) {
            Some(kernel) if all_f32([&x]) => in_place(x, kernel),
            _ => reference_ops::activation::<Self>(x, activation),
        }
    }

    fn layer_norm_op(x: FlexTensor, weight: FlexTensor, bias: FlexTensor, eps: f64) -> FlexTensor {
        if !all_f32([&x, &weight, &bias]) {
            return reference_ops::layer_norm::<Self>(x, weight, bias, eps);
        }
        let (weight, bias) = (contiguous(weight), contiguous(bias));
        in_place(x, |x| {
            kernel::layer_norm(x, None, elements(&weight), elements(&bias), eps as f32)
        })
    }

    fn add_layer_norm_op(
        x: FlexTensor,
        residual: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        eps: f64,
    ) -> FlexTensor {
        if !all_f32([&x, &residual, &weight, &bias]) {
            return reference_ops::layer_norm::<Self>(
                Self::float_add(x, residual),
                weight,
                bias,
                eps,
            );
        }
        let (residual, weight, bias) = (contiguous(residual), contiguous(weight), contiguous(bias));
        in_place(x, |x| {
            kernel::layer_norm(
                x,
                Some(elements(&residual)),
                elements(&weight),
                elements(&bias),
                eps as f32,
            );
        })
    }

    fn rms_norm_op(x: FlexTensor, weight: FlexTensor, eps: f64) -> FlexTensor {
        if !all_f32([&x, &weight]) {
            return reference_ops::rms_norm::<Self>(x, weight, eps);
        }
        let weight = contiguous(weight);
        in_place(x, |x| kernel::rms_norm(x, elements(&weight), eps as f32))
    }

    fn masked_softmax_op(scores: FlexTensor, scale: f64, bias: Option<FlexTensor>) -> FlexTensor {
        if !all_f32([&scores]) {
            return reference_ops::masked_softmax::<Self>(scores, scale, bias);
        }
        let (shape, bias) = (dims(&scores), bias.map(contiguous));
        let bias = bias.as_ref().map(|bias| Bias {
            elements: elements(bias),
            shape: dims(bias),
        });
        in_place(scores, |scores| {
            kernel::masked_softmax(scores, shape, scale as f32, bias.as_ref())
        })
    }

    fn merge_heads_op(x: FlexTensor) -> FlexTensor {
        if !all_f32([&x]) {
            return reference_ops::merge_heads::<Self>(x);
        }
        let x = contiguous(x);
        let shape @ [batch, heads, seq, head_dim] = dims(&x);
        tensor(
            kernel::merge_heads(elements(&x), shape),
            [batch, seq, heads * head_dim],
        )
    }
}

/// The terms that gemm 0.19 sums in f32 whatever the caches of the processor (`kernel_params` of
/// gemm-common).
const SUMMED_AT_ONCE: usize = 512;

/// Whether burn's product of f16 rounds partial sums to f16.
fn rounds_partial_sums(left: &FlexTensor, right: &FlexTensor) -> bool {
    let (left, right) = (left.layout().shape(), right.layout().shape());
    let (rank, other) = (left.num_dims(), right.num_dims());
    if rank < 2 || other < 2 {
        return false;
    }
    left[rank - 2] == 1 || right[other - 1] == 1 || left[rank - 1] > SUMMED_AT_ONCE
}

fn all_f32<const N: usize>(tensors: [&FlexTensor; N]) -> bool {
    tensors.iter().all(|tensor| tensor.dtype() == DType::F32)
}

fn contiguous(x: FlexTensor) -> FlexTensor {
    // `to_contiguous` would also copy the first rows of a longer buffer.
    if x.is_contiguous() && x.layout().start_offset() == 0 {
        x
    } else {
        x.to_contiguous()
    }
}

fn dims<const D: usize>(x: &FlexTensor) -> [usize; D] {
    x.layout().shape().dims()
}

/// The elements of a contiguous tensor; its buffer may be longer.
fn elements(x: &FlexTensor) -> &[f32] {
    &x.storage::<f32>()[..x.layout().num_elements()]
}

fn in_place(x: FlexTensor, kernel: impl FnOnce(&mut [f32])) -> FlexTensor {
    let mut x = contiguous(x);
    let length = x.layout().num_elements();
    // Another tensor that shares the buffer keeps its values: `storage_mut` copies first.
    kernel(&mut x.storage_mut::<f32>()[..length]);
    x
}

fn tensor<const D: usize>(elements: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::new(
        Bytes::from_elems(elements),
        Layout::contiguous(Shape::new(shape)),
        DType::F32,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{layer_norm, matmul, rms_norm};
    use burn_tensor::{Tensor, TensorData};

    fn tensor<const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<Cpu, D> {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count)
            .map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0)
            .collect();
        Tensor::from_data(
            TensorData::new(values, shape).convert_dtype(dtype),
            (&FlexDevice, dtype),
        )
    }

    fn values<const D: usize>(x: Tensor<Cpu, D>) -> Vec<f32> {
        x.into_data().iter::<f32>().collect()
    }

    /// Numbers between 0 and 1, so that partial sums grow, and the ones rounded to f16 are far off.
    fn growing<const D: usize>(shape: [usize; D]) -> Tensor<Cpu, D> {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count)
            .map(|index| (index * 37 % 101) as f32 / 101.0)
            .collect();
        Tensor::from_data(
            TensorData::new(values, shape).convert_dtype(DType::F16),
            (&FlexDevice, DType::F16),
        )
    }

    #[test]
    fn products_in_f16_are_summed_in_f32_and_rounded_once() {
        let single = |x: Tensor<Cpu, 4>| x.cast(DType::F32);
        for [rows, inner, columns] in [
            [1, 64, 9],
            [9, 64, 1],
            [5, 512, 9],
            [5, 513, 9],
            [33, 8193, 17],
            [1, 4097, 40],
        ] {
            let (left, right) = (
                growing([1, 1, rows, inner]),
                growing([1, 1, inner, columns]),
            );
            for left in [left.clone(), growing([1, 1, inner, rows]).swap_dims(2, 3)] {
                let expected = values(
                    single(left.clone())
                        .matmul(single(right.clone()))
                        .cast(DType::F16),
                );
                let got = values(matmul(left, right.clone()));
                // One step of f16, for sums in another order.
                let near =
                    |(got, expected): (&f32, &f32)| (got - expected).abs() <= expected.abs() * 1e-3;
                assert!(
                    got.iter().zip(&expected).all(near),
                    "{rows} x {inner} x {columns}"
                );
            }
        }
    }

    #[test]
    fn weights_of_norms_may_have_strides() {
        let x = tensor([3, 5], DType::F32);
        let table: Tensor<Cpu, 2> = tensor([5, 2], DType::F32);
        let strided: Tensor<Cpu, 1> = table.transpose().narrow(0, 1, 1).reshape([5]);
        let plain: Tensor<Cpu, 1> =
            Tensor::from_data(strided.clone().into_data(), (&FlexDevice, DType::F32));
        let norm =
            |weight: Tensor<Cpu, 1>| values(layer_norm(x.clone(), weight.clone(), weight, 1e-5));
        assert_eq!(norm(strided.clone()), norm(plain.clone()));
        let norm = |weight: Tensor<Cpu, 1>| values(rms_norm(x.clone(), weight, 1e-5));
        assert_eq!(norm(strided), norm(plain));
    }
}
