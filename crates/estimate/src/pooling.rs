//! Pooling of images, as burn computes it.

use crate::{
    convolution::{ImageConvolution, channels_first, channels_last},
    elementwise::elements,
    tensor::{AllocatedTensor, ElementType, empty, workspace},
};

/// The maximum of every window of 3 x 3 with a stride of 2, as the stem of ResNet pools.
pub(crate) fn max_pool(x: AllocatedTensor) -> AllocatedTensor {
    let window = ImageConvolution::square([x.dims()[1]; 2], 3, 2, 1);
    let (machine, element, dims) = (x.machine().clone(), x.element, window.result_dims(&x));
    if machine.is_gpu() {
        let [batch, channels, rows, columns] = dims;
        return pooled_on_gpu(x, [batch, rows, columns, channels]);
    }
    let single = (element == ElementType::Bf16).then(|| x.like(ElementType::F32));
    let ordered = x.clone().contiguous();
    let y = empty(&machine, &dims, element);
    // Flex also finds where the maxima are, in 64 bits.
    drop(workspace(&machine, &[2, elements(&y)], ElementType::F32));
    drop((single, ordered));
    y
}

/// The mean of every channel, [batch, channels, 1, 1].
pub(crate) fn average_pool(x: AllocatedTensor) -> AllocatedTensor {
    let [batch, channels] = [0, 1].map(|dimension| x.dims()[dimension]);
    if x.machine().is_gpu() {
        return pooled_on_gpu(x, [batch, 1, 1, channels]);
    }
    empty(x.machine(), &[batch, channels, 1, 1], x.element)
}

/// By burn's kernels, which read and write channels last.
fn pooled_on_gpu(x: AllocatedTensor, dims: [u64; 4]) -> AllocatedTensor {
    let x = channels_last(x).in_order();
    // The dimensions of the result are in the order of the kernels.
    channels_first(empty(x.machine(), &dims, x.element))
}
