//! Operations of whole layers.

use super::{Cube, Gpu, Tensor, delegate, unused};
use burn_backend::ops::{
    AttentionModuleOptions, ConvOptions, ConvTransposeOptions, DeformConv2dBackward, DeformConvOptions,
    InterpolateOptions, MaxPool2dBackward, MaxPool2dWithIndices, ModuleOps, attention::attention_fallback,
};

delegate! {
    ModuleOps {
        fn conv2d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvOptions<2>) -> Tensor;
        fn adaptive_avg_pool2d(x: Tensor, output_size: [usize; 2]) -> Tensor;
        fn avg_pool2d(
            x: Tensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            count_include_pad: bool,
            ceil_mode: bool
        ) -> Tensor;
        fn max_pool2d(
            x: Tensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            dilation: [usize; 2],
            ceil_mode: bool
        ) -> Tensor;
        fn interpolate(x: Tensor, output_size: [usize; 2], options: InterpolateOptions) -> Tensor;
    }

    fn attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Option<Tensor>,
        bias: Option<Tensor>,
        options: AttentionModuleOptions,
    ) -> Tensor {
        attention_fallback::<Self>(query, key, value, mask, bias, options)
    }

    fn deform_conv2d(
        _x: Tensor,
        _offset: Tensor,
        _weight: Tensor,
        _mask: Option<Tensor>,
        _bias: Option<Tensor>,
        _options: DeformConvOptions<2>,
    ) -> Tensor {
        unused("deform_conv2d")
    }

    fn conv3d(_x: Tensor, _weight: Tensor, _bias: Option<Tensor>, _options: ConvOptions<3>) -> Tensor {
        unused("conv3d")
    }

    fn conv_transpose2d(
        _x: Tensor,
        _weight: Tensor,
        _bias: Option<Tensor>,
        _options: ConvTransposeOptions<2>,
    ) -> Tensor {
        unused("conv_transpose2d")
    }

    fn conv_transpose3d(
        _x: Tensor,
        _weight: Tensor,
        _bias: Option<Tensor>,
        _options: ConvTransposeOptions<3>,
    ) -> Tensor {
        unused("conv_transpose3d")
    }

    fn max_pool2d_with_indices(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> MaxPool2dWithIndices<Self> {
        unused("max_pool2d_with_indices")
    }

    fn rfft(_signal: Tensor, _dim: usize, _n: Option<usize>) -> (Tensor, Tensor) {
        unused("rfft")
    }

    fn irfft(_re: Tensor, _im: Tensor, _dim: usize, _n: Option<usize>) -> Tensor {
        unused("irfft")
    }

    // Gradients: testgen runs models, it does not train them.

    fn deform_conv2d_backward(
        _x: Tensor,
        _offset: Tensor,
        _weight: Tensor,
        _mask: Option<Tensor>,
        _bias: Option<Tensor>,
        _output_grad: Tensor,
        _options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Self> {
        unused("deform_conv2d_backward")
    }

    fn avg_pool2d_backward(
        _x: Tensor,
        _grad: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> Tensor {
        unused("avg_pool2d_backward")
    }

    fn adaptive_avg_pool2d_backward(_x: Tensor, _grad: Tensor) -> Tensor {
        unused("adaptive_avg_pool2d_backward")
    }

    fn max_pool2d_with_indices_backward(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
        _output_grad: Tensor,
        _indices: Tensor,
    ) -> MaxPool2dBackward<Self> {
        unused("max_pool2d_with_indices_backward")
    }

    fn interpolate_backward(
        _x: Tensor,
        _grad: Tensor,
        _output_size: [usize; 2],
        _options: InterpolateOptions,
    ) -> Tensor {
        unused("interpolate_backward")
    }
}
