//! Operations of whole layers.

use super::{Cube, Gpu, delegate, unused};
use crate::{library_convolution, runtime::GpuTensor};
use burn_backend::{
    Shape, TensorMetadata as _,
    ops::{
        AttentionModuleOptions, ConvOptions, ConvTransposeOptions, DeformConv2dBackward,
        DeformConvOptions, FloatTensorOps as _, InterpolateOptions, MaxPool2dBackward,
        MaxPool2dWithIndices, ModuleOps, attention::attention_fallback,
    },
};

delegate! {
    ModuleOps {
        fn adaptive_avg_pool2d(x: GpuTensor, output_size: [usize; 2]) -> GpuTensor;
        fn avg_pool2d(
            x: GpuTensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            count_include_pad: bool,
            ceil_mode: bool
        ) -> GpuTensor;
        fn max_pool2d(
            x: GpuTensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            dilation: [usize; 2],
            ceil_mode: bool
        ) -> GpuTensor;
        fn interpolate(x: GpuTensor, output_size: [usize; 2], options: InterpolateOptions) -> GpuTensor;
    }

    fn conv2d(x: GpuTensor, weight: GpuTensor, bias: Option<GpuTensor>, options: ConvOptions<2>) -> GpuTensor {
        if !x.device.has_convolutions() {
            return <Cube as ModuleOps<Cube>>::conv2d(x, weight, bias, options);
        }
        let y = library_convolution::convolution(x, weight, &options);
        // Not by the library, as in PyTorch.
        match bias {
            Some(bias) => {
                let channels = bias.shape().num_elements();
                let bias = Cube::float_reshape(bias, Shape::new([1, channels, 1, 1]));
                Cube::float_add(y, bias)
            }
            None => y,
        }
    }

    fn attention(
        query: GpuTensor,
        key: GpuTensor,
        value: GpuTensor,
        mask: Option<GpuTensor>,
        bias: Option<GpuTensor>,
        options: AttentionModuleOptions,
    ) -> GpuTensor {
        attention_fallback::<Self>(query, key, value, mask, bias, options)
    }

    fn deform_conv2d(
        _x: GpuTensor,
        _offset: GpuTensor,
        _weight: GpuTensor,
        _mask: Option<GpuTensor>,
        _bias: Option<GpuTensor>,
        _options: DeformConvOptions<2>,
    ) -> GpuTensor {
        unused("deform_conv2d")
    }

    fn conv3d(_x: GpuTensor, _weight: GpuTensor, _bias: Option<GpuTensor>, _options: ConvOptions<3>) -> GpuTensor {
        unused("conv3d")
    }

    fn conv_transpose2d(
        _x: GpuTensor,
        _weight: GpuTensor,
        _bias: Option<GpuTensor>,
        _options: ConvTransposeOptions<2>,
    ) -> GpuTensor {
        unused("conv_transpose2d")
    }

    fn conv_transpose3d(
        _x: GpuTensor,
        _weight: GpuTensor,
        _bias: Option<GpuTensor>,
        _options: ConvTransposeOptions<3>,
    ) -> GpuTensor {
        unused("conv_transpose3d")
    }

    fn max_pool2d_with_indices(
        _x: GpuTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> MaxPool2dWithIndices<Self> {
        unused("max_pool2d_with_indices")
    }

    fn rfft(_signal: GpuTensor, _dim: usize, _n: Option<usize>) -> (GpuTensor, GpuTensor) {
        unused("rfft")
    }

    fn irfft(_re: GpuTensor, _im: GpuTensor, _dim: usize, _n: Option<usize>) -> GpuTensor {
        unused("irfft")
    }

    // Gradients: testgen runs models, it does not train them.

    fn deform_conv2d_backward(
        _x: GpuTensor,
        _offset: GpuTensor,
        _weight: GpuTensor,
        _mask: Option<GpuTensor>,
        _bias: Option<GpuTensor>,
        _output_grad: GpuTensor,
        _options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Self> {
        unused("deform_conv2d_backward")
    }

    fn avg_pool2d_backward(
        _x: GpuTensor,
        _grad: GpuTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> GpuTensor {
        unused("avg_pool2d_backward")
    }

    fn adaptive_avg_pool2d_backward(_x: GpuTensor, _grad: GpuTensor) -> GpuTensor {
        unused("adaptive_avg_pool2d_backward")
    }

    fn max_pool2d_with_indices_backward(
        _x: GpuTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
        _output_grad: GpuTensor,
        _indices: GpuTensor,
    ) -> MaxPool2dBackward<Self> {
        unused("max_pool2d_with_indices_backward")
    }

    fn interpolate_backward(
        _x: GpuTensor,
        _grad: GpuTensor,
        _output_size: [usize; 2],
        _options: InterpolateOptions,
    ) -> GpuTensor {
        unused("interpolate_backward")
    }
}
