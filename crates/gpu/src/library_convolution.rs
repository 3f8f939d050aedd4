//! Convolutions by the vendor's library, launched in the place of a kernel.
//!
//! Owns the translation of burn's options, and tensors as the libraries read them.

use crate::{
    device::{GpuDevice, ProductSource},
    library_launch::LibraryComputation,
    library_queue, products,
    runtime::GpuTensor,
};
use burn_backend::{Shape, TensorMetadata, ops::ConvOptions};
use burn_cubecl::{kernel::into_contiguous, ops::numeric::empty_device_contiguous_dtype};
use cubecl::zspace::metadata::Metadata;
use testgen_libraries::{ComputeType, ConvolutionProblem, GemmTypes};
use testgen_operators::calls::{Attributes, row_major_strides};
use testgen_types::{DeviceKind, Operator};

impl GpuDevice {
    /// Whether the vendor's library computes the convolutions of the device: products come from
    /// libraries there, and the library of convolutions is installed, too.
    pub fn has_convolutions(self) -> bool {
        self.products() == ProductSource::Library && self.opened_libraries().convolutions.is_some()
    }
}

/// The convolution of `x` [batch, in, ...] with `weight` [out, in / groups, ...] by the library,
/// without bias. The device must have one ([`GpuDevice::has_convolutions`]).
pub(crate) fn convolution<const N: usize>(
    x: GpuTensor,
    weight: GpuTensor,
    options: &ConvOptions<N>,
) -> GpuTensor {
    let device = x.device;
    let library = device.opened_libraries().convolutions;
    let library = library.expect("the device has a library of convolutions");
    let (problem, shape) = problem(&x, &weight, options);
    let output = empty_device_contiguous_dtype(x.client.clone(), device, shape, x.dtype);
    let (x, weight) = (dense(x), dense(weight));
    if output.shape().num_elements() > 0 {
        let computation = LibraryComputation::Convolution(problem);
        library_queue::launch(library, computation, &[&x, &weight, &output]);
    }
    output
}

/// The problem of the libraries, and the shape of its result.
fn problem<const N: usize>(
    x: &GpuTensor,
    weight: &GpuTensor,
    options: &ConvOptions<N>,
) -> (ConvolutionProblem, Shape) {
    let precision = products::precision(x.dtype).expect("a convolution of floating-point numbers");
    let types = GemmTypes::for_precision(precision);
    let element = types.result.element().expect("a type of tensors");
    // MIOpen has no TF32, and computes such a convolution in f32.
    let compute = match x.device.kind() {
        DeviceKind::Rocm => ComputeType::F32,
        DeviceKind::Cuda | DeviceKind::Cpu => types.compute,
    };
    let operator = [Operator::Conv1d, Operator::Conv2d][N - 1];
    let attributes = Attributes {
        padding: options.padding.to_vec(),
        stride: options.stride.to_vec(),
        dilation: options.dilation.to_vec(),
        groups: options.groups,
        ..Attributes::default()
    };
    let shapes = [x, weight].map(|tensor| tensor.shape().to_vec());
    let [x, weight] = shapes.each_ref().map(Vec::as_slice);
    let problem = ConvolutionProblem::new(operator, (element, compute), [x, weight], &attributes)
        .unwrap_or_else(|problem| panic!("a convolution of {x:?} with {weight:?}: {problem}"));
    let spatial = &problem.y[problem.y.len() - N..];
    let shape = [&problem.y[..2], spatial].concat();
    (problem, Shape::from(shape))
}

/// The tensor with adjacent elements, and with the strides that say so.
pub(crate) fn dense(tensor: GpuTensor) -> GpuTensor {
    let mut tensor = into_contiguous(tensor);
    let shape = tensor.shape();
    // burn leaves the strides of dimensions of size 1 as they were, and what is reshaped afterwards
    // loses others (docs/hardware.md).
    let strides = row_major_strides(&shape.to_vec());
    *tensor.meta = Metadata::new(shape, strides);
    tensor
}

/// `x` [batch, seq, channels] with channels before positions, or the reverse.
fn exchanged(mut x: GpuTensor) -> GpuTensor {
    x.meta.swap(1, 2);
    dense(x)
}

/// The convolution of sequences `x` [batch, seq, in] with `weight` [out, in / groups, kernel] by the
/// library: [batch, seq', out].
pub fn convolution_of_sequences(
    x: GpuTensor,
    weight: GpuTensor,
    options: &ConvOptions<1>,
) -> GpuTensor {
    exchanged(convolution(exchanged(x), weight, options))
}
