//! The functions of the fake library for softmax, activations, pools, reductions and norms.

use super::{
    super::{
        cudnn_functions::{CudnnPrimitiveFunctions, CudnnSwishFunctions},
        cudnn_primitive::CudnnPrimitives,
        primitive_functions::PrimitiveFunctions,
    },
    fake::{Pointer, create, destroy, keep, numbers, scalar},
};
use std::ffi::{c_int, c_void};

/// The bytes of workspace that every reduction needs.
const WORKSPACE: usize = 96;

/// Both tensors with their factors, as calls name them.
fn tensors([alpha, x, beta]: [*const c_void; 3], [x_layout, y_layout, y]: [Pointer; 3]) -> String {
    let [alpha, beta] = [alpha, beta].map(scalar);
    let [x_layout, y_layout] = [x_layout, y_layout].map(|pointer| pointer as usize);
    format!("alpha {alpha} x {x_layout} at {x:?} beta {beta} y {y_layout} at {y:?}")
}

unsafe extern "C" fn softmax(
    _: Pointer,
    algorithm: c_int,
    mode: c_int,
    alpha: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    beta: *const c_void,
    y_layout: Pointer,
    y: Pointer,
) -> c_int {
    let tensors = tensors([alpha, x, beta], [x_layout, y_layout, y]);
    keep(format!(
        "softmax: algorithm {algorithm} mode {mode} {tensors}"
    ))
}

unsafe extern "C" fn activation_set(
    descriptor: Pointer,
    mode: c_int,
    nan: c_int,
    argument: f64,
) -> c_int {
    let descriptor = descriptor as usize;
    keep(format!(
        "activation {descriptor}: mode {mode} nan {nan} argument {argument}"
    ))
}

unsafe extern "C" fn swish_set(descriptor: Pointer, beta: f64) -> c_int {
    keep(format!("swish of {}: {beta}", descriptor as usize))
}

unsafe extern "C" fn activation(
    _: Pointer,
    descriptor: Pointer,
    alpha: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    beta: *const c_void,
    y_layout: Pointer,
    y: Pointer,
) -> c_int {
    let tensors = tensors([alpha, x, beta], [x_layout, y_layout, y]);
    keep(format!("activation: {} {tensors}", descriptor as usize))
}

unsafe extern "C" fn pool_set(
    descriptor: Pointer,
    mode: c_int,
    nan: c_int,
    rank: c_int,
    lengths: *const c_int,
    padding: *const c_int,
    stride: *const c_int,
) -> c_int {
    let [lengths, padding, stride] = [lengths, padding, stride].map(|array| numbers(array, rank));
    let descriptor = descriptor as usize;
    keep(format!(
        "pool {descriptor}: mode {mode} nan {nan} lengths {lengths:?} padding {padding:?} stride {stride:?}"
    ))
}

unsafe extern "C" fn pool(
    _: Pointer,
    descriptor: Pointer,
    alpha: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    beta: *const c_void,
    y_layout: Pointer,
    y: Pointer,
) -> c_int {
    let tensors = tensors([alpha, x, beta], [x_layout, y_layout, y]);
    keep(format!("pool: {} {tensors}", descriptor as usize))
}

unsafe extern "C" fn reduction_set(
    descriptor: Pointer,
    operation: c_int,
    number: c_int,
    nan: c_int,
    indices: c_int,
    index_type: c_int,
) -> c_int {
    let descriptor = descriptor as usize;
    keep(format!(
        "reduction {descriptor}: operation {operation} type {number} nan {nan} indices {indices} {index_type}"
    ))
}

unsafe extern "C" fn reduction_workspace(
    _: Pointer,
    _: Pointer,
    _: Pointer,
    _: Pointer,
    bytes: *mut usize,
) -> c_int {
    // SAFETY: the code under test passes a place that can be written.
    unsafe { bytes.write(WORKSPACE) };
    0
}

unsafe extern "C" fn reduction(
    _: Pointer,
    descriptor: Pointer,
    _: Pointer,
    _: usize,
    workspace: Pointer,
    bytes: usize,
    alpha: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    beta: *const c_void,
    y_layout: Pointer,
    y: Pointer,
) -> c_int {
    let tensors = tensors([alpha, x, beta], [x_layout, y_layout, y]);
    let descriptor = descriptor as usize;
    keep(format!(
        "reduce: {descriptor} workspace {workspace:?} of {bytes} {tensors}"
    ))
}

unsafe extern "C" fn batch_norm(
    _: Pointer,
    mode: c_int,
    alpha: *const c_void,
    beta: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    y_layout: Pointer,
    y: Pointer,
    layout: Pointer,
    weight: *const c_void,
    bias: *const c_void,
    mean: *const c_void,
    variance: *const c_void,
    epsilon: f64,
) -> c_int {
    let tensors = tensors([alpha, x, beta], [x_layout, y_layout, y]);
    let layout = layout as usize;
    keep(format!(
        "batch norm: mode {mode} {tensors} parameters {layout} weight {weight:?} bias {bias:?} mean {mean:?} variance {variance:?} epsilon {epsilon}"
    ))
}

/// The functions of the fake library.
pub(super) fn functions() -> CudnnPrimitives {
    CudnnPrimitives {
        shared: PrimitiveFunctions {
            activation_create: create,
            activation,
            activation_destroy: destroy,
            pool_create: create,
            pool_destroy: destroy,
            reduction_create: create,
            reduction_set,
            reduction_workspace,
            reduction,
            batch_norm,
            reduction_destroy: destroy,
        },
        own: CudnnPrimitiveFunctions {
            softmax,
            activation_set,
            pool_set,
            pool,
        },
        swish: Some(CudnnSwishFunctions { set: swish_set }),
    }
}
