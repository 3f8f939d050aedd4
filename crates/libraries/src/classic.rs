//! cuBLAS and rocBLAS: a product is one call with all its sizes, also of a matrix and a vector.

mod cublas;
mod cublas_functions;
mod gemv;
mod rocblas;
mod rocblas_call;
mod rocblas_functions;
mod rocblas_numbers;

pub use cublas::CUBLAS_SUMS_IN_SINGLE;
pub(crate) use cublas::Cublas;
pub(crate) use cublas_functions::{CublasFunctions, CublasGemvFunctions};
pub(crate) use rocblas::Rocblas;
pub(crate) use rocblas_functions::{RocblasFunctions, RocblasGemvFunctions, SolutionFunctions};
pub use rocblas_numbers::RocblasNumbers;
