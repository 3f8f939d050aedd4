//! Vendor libraries called directly: matrix products of cuBLAS, cuBLASLt, rocBLAS and hipBLASLt,
//! opened at run time as programs of the machine open them, and compared with f64.
//!
//! Owns: one interface to the four libraries ([`Blas`]), memory of a GPU through its driver with
//! guards around every matrix, the products that are compared, calls of operators computed by a
//! library, and the process that answers a suite's requests for them. Does not own: the bounds,
//! which are those of `testgen-operators`, and reports of checks. Links nothing; uses no backend.
//!
//! Foreign calls, and therefore `unsafe`, are in `gpu/`, `lt/`, `classic/` and `lt.rs`.

mod blas;
mod classic;
mod compute;
mod float8;
mod gpu;
mod guarded;
mod library;
mod lt;
mod number_type;
mod open;
mod probe;
mod product;
mod product_library;
mod products;
mod server;
mod signatures;
mod symbols;

pub use blas::{Algorithm, Blas, BlasError, Buffers, PartialSums};
pub use classic::{CUBLAS_SUMS_IN_SINGLE, RocblasNumbers};
pub use compute::LibraryExecutor;
pub use gpu::{Account, DeviceAddress, GpuError, LibraryGpu};
pub use library::{DIRECTORIES_VARIABLE, LibraryName, LibraryNotFound};
pub use lt::{CUBLASLT, Dialect, HIPBLASLT};
pub use number_type::NumberType;
pub use open::{OpenLibraryError, Opened, open};
pub use product::{ComputeType, Gemm, GemmCall, GemmTypes, MatrixStorage, Operand};
pub use product_library::{ProductLibrary, ProductLibraryError};
pub use products::{
    AlgorithmRow, ProductFailure, ProductPlan, ProductShape, ProductsReport, UnsupportedGroup,
    run_products, shapes,
};
pub use server::serve_if_requested;
pub use signatures::{parameter_class, signatures};
