//! The operators: elementwise, reductions over odd sizes, products, and data movement.

use super::{Values, named};
use burn_tensor::activation::softmax;
use burn_tensor::{DType, Int, Tensor, TensorData, backend::Backend};

/// Sizes around waves of 32 and 64, with tails of vectorised kernels.
const SIZES: &[usize] = &[1, 2, 7, 31, 33, 63, 65, 127, 257, 1000];
/// Rows, inner size and columns of products: one tile of a matrix instruction, several, and tails.
const PRODUCTS: &[[usize; 3]] = &[[1, 8, 8], [16, 16, 16], [8, 40, 24], [64, 64, 64], [33, 64, 96]];

/// The number of cases in all three precisions.
pub(crate) fn count() -> usize {
    3 * (19 + 5 * SIZES.len() + 2 * PRODUCTS.len() + 11)
}

/// Every case on one backend.
pub(crate) fn all<B: Backend>(device: &B::Device, dtype: DType) -> Vec<(String, Values)> {
    let inputs = Inputs { device, dtype };
    [elementwise::<B>(&inputs), reductions::<B>(&inputs), products::<B>(&inputs), movements::<B>(&inputs)].concat()
}

/// Cases that burn 0.21 computes wrongly on GPUs.
///
/// A permuted tensor whose last dimension has size 1 gets wrong strides when a dimension is added: `split_strides` of
/// burn-std stops at the last dimension and assigns its stride to the next one. `product_of_windows` of the convolution
/// layer works around it.
pub(crate) fn known_wrong<B: Backend>(device: &B::Device) -> Vec<(String, Values)> {
    let inputs = Inputs::<B> { device, dtype: DType::F32 };
    let permuted = inputs.tensor([1, 4, 6], 4).permute([2, 1, 0]);
    vec![named(
        "[1, 4, 6] permuted to [6, 4, 1], reshaped to [6, 4, 1, 1]",
        permuted.reshape([6, 4, 1, 1]).flatten(0, 3),
    )]
}

struct Inputs<'a, B: Backend> {
    device: &'a B::Device,
    dtype: DType,
}

impl<B: Backend> Inputs<'_, B> {
    /// Values from -1 to 1 that are exact in every precision.
    fn tensor<const D: usize>(&self, shape: [usize; D], seed: usize) -> Tensor<B, D> {
        let count: usize = shape.iter().product();
        let value = |index: usize| ((index * 37 + seed * 11) % 65) as f32 / 32.0 - 1.0;
        let data = TensorData::new((0..count).map(value).collect(), shape);
        Tensor::from_data(data, (self.device, self.dtype))
    }

    fn integers<const D: usize>(&self, values: &[i32], shape: [usize; D]) -> Tensor<B, D, Int> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), (self.device, DType::I32))
    }
}

fn elementwise<B: Backend>(inputs: &Inputs<'_, B>) -> Vec<(String, Values)> {
    let a = inputs.tensor([333], 1);
    let b = inputs.tensor([333], 2) + 2.0;
    vec![
        named("add", a.clone() + b.clone()),
        named("sub", a.clone() - b.clone()),
        named("mul", a.clone() * b.clone()),
        named("div", a.clone() / b.clone()),
        named("neg", -a.clone()),
        named("abs", a.clone().abs()),
        named("exp", a.clone().exp()),
        named("log", b.clone().log()),
        named("sqrt", b.clone().sqrt()),
        named("recip", b.clone().recip()),
        named("tanh", a.clone().tanh()),
        named("erf", a.clone().erf()),
        named("sin", a.clone().sin()),
        named("cos", a.clone().cos()),
        named("powf", b.clone().powf_scalar(1.5)),
        named("clamp", a.clone().clamp(-0.5, 0.25)),
        named("greater", a.clone().greater(b.clone() - 2.0).float().cast(inputs.dtype)),
        named("mask_where", a.clone().mask_where(a.clone().lower_elem(0.0), b.clone())),
        named("broadcast", (a.reshape([9, 37]) * b.narrow(0, 0, 37).reshape([1, 37])).reshape([333])),
    ]
}

fn reductions<B: Backend>(inputs: &Inputs<'_, B>) -> Vec<(String, Values)> {
    let mut results = Vec::new();
    for size in SIZES.iter().copied() {
        let rows = inputs.tensor([3, size], 3);
        results.push(named(format!("sum of rows of {size}"), rows.clone().sum_dim(1).reshape([3])));
        results.push(named(format!("mean of columns of {size}"), rows.clone().transpose().mean_dim(0).reshape([3])));
        results.push(named(format!("max of rows of {size}"), rows.clone().max_dim(1).reshape([3])));
        results.push(named(format!("sum of all of {size}"), rows.clone().sum()));
        results.push(named(format!("softmax of {size}"), softmax(rows, 1).reshape([3 * size])));
    }
    results
}

fn products<B: Backend>(inputs: &Inputs<'_, B>) -> Vec<(String, Values)> {
    let mut results = Vec::new();
    for [rows, inner, columns] in PRODUCTS.iter().copied() {
        let (a, b) = (inputs.tensor([rows, inner], 5), inputs.tensor([inner, columns], 6));
        let name = format!("{rows} x {inner} x {columns}");
        results.push(named(format!("product {name}"), a.matmul(b).reshape([rows * columns])));
        let (a, b) = (inputs.tensor([2, rows, inner], 7), inputs.tensor([2, columns, inner], 8));
        results.push(named(format!("products of {name}"), a.matmul(b.swap_dims(1, 2)).reshape([2 * rows * columns])));
    }
    results
}

fn movements<B: Backend>(inputs: &Inputs<'_, B>) -> Vec<(String, Values)> {
    let a = inputs.tensor([4, 5, 6], 9);
    let table = inputs.tensor([10, 7], 10);
    let rows = inputs.integers(&[3, 0, 9, 3, 3], [5]);
    let indices = inputs.integers(&[0, 2, 1, 1, 0, 2], [2, 3]);
    let added = Tensor::<B, 2>::zeros([10, 7], (inputs.device, inputs.dtype));
    let image = inputs.tensor([1, 3, 9, 9], 11);
    let kernel = inputs.tensor([4, 3, 3, 3], 12);
    let options = burn_tensor::ops::ConvOptions::new([2, 2], [1, 1], [1, 1], 1);
    let folded = burn_tensor::module::conv2d(image, kernel, None, options);
    vec![
        named("permute", a.clone().permute([2, 0, 1]).reshape([120])),
        named("slice", a.clone().slice([1..3, 0..5, 2..5]).reshape([30])),
        named("slice_assign", a.clone().slice_assign([0..1, 1..2, 0..6], inputs.tensor([1, 1, 6], 13)).reshape([120])),
        named("cat", Tensor::cat(vec![a.clone(), a.clone().neg()], 1).reshape([240])),
        named("flip", a.clone().flip([0, 2]).reshape([120])),
        named("repeat", a.repeat_dim(1, 3).reshape([360])),
        named("select", table.clone().select(0, rows.clone()).reshape([35])),
        named("gather", inputs.tensor([2, 4], 14).gather(1, indices).reshape([6])),
        named(
            "select_add",
            added.select_assign(0, rows, inputs.tensor([5, 7], 15), burn_tensor::IndexingUpdateOp::Add).reshape([70]),
        ),
        named("arange", Tensor::<B, 1, Int>::arange(0..100, inputs.device).float().cast(inputs.dtype)),
        named("conv2d", folded.reshape([100])),
    ]
}
