//! The operations that models are built from, and the two burn backends that implement them.
//!
//! `Cpu` (burn's Flex) uses our own kernels; `Gpu` (burn's Dispatch) uses burn's operators, whatever the device, with
//! matrix products only in shapes that its kernels compute correctly.

mod activation;
mod cpu;
mod gpu;
mod kernel;
mod ops;
mod padded_product;
mod reference_ops;

pub use activation::Activation;
pub use ops::{Ops, activate, add_layer_norm, layer_norm, linear, masked_softmax, matmul, merge_heads, rms_norm};

/// The host processor.
pub type Cpu = burn::backend::Flex;
/// Any GPU: CUDA or ROCm is chosen by the device value at run time.
pub type Gpu = burn::Dispatch;
