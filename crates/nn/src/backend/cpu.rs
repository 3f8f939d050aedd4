//! `Ops` for the host processor: f32 goes to the kernels, everything else to the defaults.

use super::{
    Activation, Cpu, Ops,
    kernel::{self, Bias, Matrix},
    reference_ops,
};
use burn_flex::{FlexDevice, FlexTensor, Layout};
use burn_tensor::{Bytes, DType, Shape, Slice, ops::FloatTensorOps};
use testgen_types::DeviceKind;

impl Ops for Cpu {
    fn kind(_: &FlexDevice) -> DeviceKind {
        DeviceKind::Cpu
    }

    /// burn 0.21 sums the products of a single row in f16 itself (40 terms: 1.7e-3 off, where rounding the result costs 3e-5), those
    /// of several rows in f32. So a single row is computed twice.
    fn matmul_op(left: FlexTensor, right: FlexTensor) -> FlexTensor {
        let rank = left.layout().shape().num_dims();
        if left.dtype() != DType::F16 || rank < 2 || left.layout().shape()[rank - 2] != 1 {
            return Self::float_matmul(left, right);
        }
        let product = Self::float_matmul(Self::float_repeat_dim(left, rank - 2, 2), right);
        let mut shape: Vec<usize> = product.layout().shape().to_vec();
        shape[rank - 2] = 1;
        let first: Vec<Slice> = shape.iter().map(|length| Slice::from(0..*length)).collect();
        Self::float_slice(product, &first)
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
        let matrix = Matrix { elements: weight.storage(), row_stride: strides[0], column_stride: strides[1] };
        let product = kernel::linear(elements(&x), [rows, inner, columns], &matrix, bias.as_ref().map(elements));
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
        in_place(x, |x| kernel::layer_norm(x, None, elements(&weight), elements(&bias), eps as f32))
    }

    fn add_layer_norm_op(
        x: FlexTensor,
        residual: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        eps: f64,
    ) -> FlexTensor {
        if !all_f32([&x, &residual, &weight, &bias]) {
            return reference_ops::layer_norm::<Self>(Self::float_add(x, residual), weight, bias, eps);
        }
        let (residual, weight, bias) = (contiguous(residual), contiguous(weight), contiguous(bias));
        in_place(x, |x| {
            kernel::layer_norm(x, Some(elements(&residual)), elements(&weight), elements(&bias), eps as f32);
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
        let bias = bias.as_ref().map(|bias| Bias { elements: elements(bias), shape: dims(bias) });
        in_place(scores, |scores| kernel::masked_softmax(scores, shape, scale as f32, bias.as_ref()))
    }

    fn merge_heads_op(x: FlexTensor) -> FlexTensor {
        if !all_f32([&x]) {
            return reference_ops::merge_heads::<Self>(x);
        }
        let x = contiguous(x);
        let shape @ [batch, heads, seq, head_dim] = dims(&x);
        tensor(kernel::merge_heads(elements(&x), shape), [batch, seq, heads * head_dim])
    }
}

fn all_f32<const N: usize>(tensors: [&FlexTensor; N]) -> bool {
    tensors.iter().all(|tensor| tensor.dtype() == DType::F32)
}

fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.is_contiguous() && x.layout().start_offset() == 0 { x } else { x.to_contiguous() }
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
    FlexTensor::new(Bytes::from_elems(elements), Layout::contiguous(Shape::new(shape)), DType::F32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{layer_norm, matmul, rms_norm};
    use burn_tensor::{Tensor, TensorData};

    fn tensor<const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<Cpu, D> {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0).collect();
        Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&FlexDevice, dtype))
    }

    fn values<const D: usize>(x: Tensor<Cpu, D>) -> Vec<f32> {
        x.into_data().iter::<f32>().collect()
    }

    #[test]
    fn a_single_row_in_f16_is_summed_in_f32() {
        let (row, matrix) = (tensor([1, 1, 1, 64], DType::F16), tensor([1, 1, 64, 9], DType::F16));
        let expected = values(matmul(row.clone().cast(DType::F32), matrix.clone().cast(DType::F32)).cast(DType::F16));
        assert_eq!(values(matmul(row, matrix)), expected);
    }

    #[test]
    fn weights_of_norms_may_have_strides() {
        let x = tensor([3, 5], DType::F32);
        let table: Tensor<Cpu, 2> = tensor([5, 2], DType::F32);
        let strided: Tensor<Cpu, 1> = table.transpose().narrow(0, 1, 1).reshape([5]);
        let plain: Tensor<Cpu, 1> = Tensor::from_data(strided.clone().into_data(), (&FlexDevice, DType::F32));
        let norm = |weight: Tensor<Cpu, 1>| values(layer_norm(x.clone(), weight.clone(), weight, 1e-5));
        assert_eq!(norm(strided.clone()), norm(plain.clone()));
        let norm = |weight: Tensor<Cpu, 1>| values(rms_norm(x.clone(), weight, 1e-5));
        assert_eq!(norm(strided), norm(plain));
    }
}
