//! The simulated `libMIOpen`: the functions of MIOpen that testgen calls, with the C signatures of
//! `miopen/miopen.h`. Everything is computed when its call returns.

pub mod activation;
pub mod batch_norm;
pub mod descriptor;
pub mod handle;
pub mod immediate;
pub mod norm;
mod norm_arguments;
pub mod numbers;
pub mod pooling;
mod primitive;
mod problem;
pub mod reduction;
pub mod softmax;
pub mod solutions;
