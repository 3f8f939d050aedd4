//! Activation functions.

use super::rows::{address_type, output};
use crate::runtime::GpuRuntime;
use burn_backend::TensorMetadata;
use burn_cubecl::{kernel::into_contiguous, tensor::CubeTensor};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// A function of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementFunction {
    /// x Φ(x), with the error function.
    Gelu,
    /// x Φ(x), with the tanh approximation.
    GeluTanh,
    /// x sigmoid(1.702 x).
    QuickGelu,
    /// max(x, 0).
    Relu,
    /// x sigmoid(x).
    Silu,
    /// The hyperbolic tangent.
    Tanh,
}

/// `function` of every element of `x`, computed in f32 and rounded once.
pub fn activate(x: CubeTensor<GpuRuntime>, function: ElementFunction) -> CubeTensor<GpuRuntime> {
    // An array argument has no strides: the kernel counts the elements in memory.
    let x = into_contiguous(x);
    let output = output(&x);
    let count = x.shape().num_elements();
    // Wider reads only where no element is left over.
    let width = if count.is_multiple_of(VECTOR) {
        VECTOR
    } else {
        1
    };
    let dimension = CubeDim::new(&x.client, count / width);
    let cubes = calculate_cube_count_elemwise(&x.client, count / width, dimension);
    let dtype = x.dtype.into();
    activation_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x, &output]),
        width,
        x.into_array_arg(),
        output.clone().into_array_arg(),
        count / width,
        function,
        dtype,
    );
    output
}

/// The elements that one thread computes.
const VECTOR: usize = 4;

#[cube(launch, address_type = "dynamic")]
fn activation_kernel<F: Float, N: Size>(
    x: &Array<Vector<F, N>>,
    output: &mut Array<Vector<F, N>>,
    vectors: usize,
    #[comptime] function: ElementFunction,
    #[define(F)] _type: StorageType,
) {
    if ABSOLUTE_POS >= vectors {
        terminate!();
    }
    let value = Vector::<f32, N>::cast_from(x[ABSOLUTE_POS]);
    output[ABSOLUTE_POS] = Vector::cast_from(apply::<N>(value, function));
}

#[cube]
fn apply<N: Size>(x: Vector<f32, N>, #[comptime] function: ElementFunction) -> Vector<f32, N> {
    let one = Vector::new(1.0f32);
    match function {
        ElementFunction::Gelu => {
            // 1 / sqrt(2)
            let scaled = x * Vector::new(0.707_106_77f32);
            x * Vector::new(0.5f32) * (Vector::erf(scaled) + one)
        }
        ElementFunction::GeluTanh => {
            let cube = x * x * x * Vector::new(0.044_715f32);
            // sqrt(2 / pi)
            let inner = (x + cube) * Vector::new(0.797_884_6f32);
            x * Vector::new(0.5f32) * (Vector::tanh(inner) + one)
        }
        ElementFunction::QuickGelu => x / (one + Vector::exp(x * Vector::new(-1.702f32))),
        // Not `max`, which returns 0 for NaN.
        ElementFunction::Relu => {
            select_many(x.less_than(Vector::new(0.0f32)), Vector::new(0.0f32), x)
        }
        // Not `-x`: cubecl-cpp 0.10 writes it for whole vectors, which have no such operator in
        // HIP.
        ElementFunction::Silu => x / (one + Vector::exp(x * Vector::new(-1.0f32))),
        ElementFunction::Tanh => Vector::tanh(x),
    }
}
