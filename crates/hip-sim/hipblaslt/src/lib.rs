//! The simulated `libhipblaslt`: the functions of hipBLASLt that testgen calls, with the C
//! signatures of `hipblaslt.h`. Every product is complete when its call returns.

pub mod descriptor;
pub mod handle;
pub mod heuristic;
pub mod matmul;
pub mod numbers;
mod problem;
