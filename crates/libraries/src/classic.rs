//! cuBLAS and rocBLAS: a product is one call with all its sizes.

mod cublas;
mod rocblas;
mod rocblas_call;
mod rocblas_functions;
mod rocblas_numbers;

pub use cublas::CUBLAS_SUMS_IN_SINGLE;
pub(crate) use cublas::{Cublas, CublasFunctions};
pub(crate) use rocblas::Rocblas;
pub(crate) use rocblas_functions::{RocblasFunctions, SolutionFunctions};
pub use rocblas_numbers::RocblasNumbers;
