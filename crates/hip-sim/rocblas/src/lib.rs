//! The simulated `librocblas`: the functions of rocBLAS that testgen calls, with the C signatures
//! of `rocblas.h` and `rocblas-beta.h`. Every product is complete when its call returns.

mod call;
pub mod gemm;
pub mod gemv;
pub mod handle;
pub mod numbers;
pub mod solutions;
