//! The operations that models are written in, and the two burn types they are instantiated for.
//!
//! `Cpu` (burn's Flex) takes our own kernels; `Gpu` (burn's Dispatch) takes plain burn operators, whatever the
//! device, and matrix products in shapes that its kernels compute rightly.

mod activation;
mod cpu;
mod gpu;
mod kernel;
mod ops;
mod padded_product;
mod reference_ops;

pub use activation::Activation;
pub use ops::{Ops, activate, add_layer_norm, affine, layer_norm, masked_softmax, matmul, merge_heads, rms_norm};

/// The host processor.
pub type Cpu = burn::backend::Flex;
/// Any GPU: CUDA or ROCm is chosen by the device value at run time.
pub type Gpu = burn::Dispatch;
