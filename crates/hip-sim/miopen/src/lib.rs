//! The simulated `libMIOpen`: the functions of MIOpen that testgen calls, with the C signatures of
//! `miopen/miopen.h`. Every convolution is complete when its call returns.

pub mod descriptor;
pub mod handle;
pub mod immediate;
pub mod numbers;
mod problem;
pub mod solutions;
