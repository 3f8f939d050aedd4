//! The operations that models are built from, and the two burn backends that implement them.
//!
//! `Cpu` (burn's Flex) uses our own kernels; `Gpu` (`testgen-gpu`) uses fused kernels and burn's
//! operators, whatever the device.

mod activation;
mod call_times;
mod cpu;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod gpu;
mod kernel;
mod ops;
pub mod reference_ops;

pub use activation::Activation;
pub use call_times::time_calls;
pub(crate) use call_times::timed_call;
pub use ops::{
    Ops, activate, add_layer_norm, compute_in, convolve_sequences, layer_norm, linear,
    masked_softmax, matmul, merge_heads, put, put_beside, rms_norm, rotate, transposed,
};

/// The host processor.
pub type Cpu = burn_flex::Flex;
/// Any GPU: CUDA or ROCm is chosen by the device value at run time.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub use testgen_gpu::Gpu;
