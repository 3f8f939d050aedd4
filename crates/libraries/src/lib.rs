//! Vendor libraries called directly: matrix products of cuBLAS, cuBLASLt, rocBLAS and hipBLASLt,
//! convolutions, softmax, activations, pools, reductions and norms of cuDNN and MIOpen, opened at
//! run time as programs of the machine open them, and compared with f64.
//!
//! Owns: one interface to the libraries of products ([`Blas`]), one to the libraries of
//! convolutions ([`ConvolutionLibrary`]) and of operators on one tensor ([`PrimitiveLibrary`]),
//! memory of a GPU through its driver with guards around every tensor, the calls that are compared,
//! calls of operators computed by a library, the vendor's libraries for tensors of other code, and
//! the process that answers a suite's requests for them. Does not own: the bounds, which
//! `testgen-operators` computes, and reports of checks. Links nothing; uses no backend.
//!
//! Foreign calls, and therefore `unsafe`, are in `gpu/`, `lt/`, `classic/`, `dnn/` and `lt.rs`.

mod algorithms;
mod blas;
mod classic;
mod compute;
mod convolution_library;
mod convolution_problem;
mod convolutions;
mod dnn;
mod epilogue;
mod evaluation;
mod float8;
mod gpu;
mod guarded;
mod library;
mod library_error;
mod lt;
mod number_type;
mod open;
mod primitive;
mod primitive_call;
mod primitive_error;
mod primitive_library;
mod primitive_norm;
mod primitives;
mod probe;
mod product;
mod products;
mod report;
mod server;
mod signatures;
mod symbols;
mod tuning;
mod vendor_libraries;

pub use algorithms::compare_algorithms;
pub use blas::{Algorithm, Blas, Buffers, PartialSums};
pub use classic::{CUBLAS_SUMS_IN_SINGLE, RocblasNumbers};
pub use compute::LibraryExecutor;
pub use convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers, ConvolutionLibrary};
pub use convolution_problem::ConvolutionProblem;
pub use dnn::{
    CudnnNumbers, CudnnPerformance, MiopenNumbers, MiopenSolution, NamedNumber, PrimitiveNumbers,
};
pub use epilogue::{Epilogue, EpilogueActivation};
pub use gpu::{Account, DeviceAddress, GpuError, LibraryGpu};
pub use library::{DIRECTORIES_VARIABLE, LibraryName, LibraryNotFound};
pub use library_error::LibraryError;
pub use lt::{CUBLASLT, Dialect, HIPBLASLT};
pub use number_type::NumberType;
pub use open::{OpenLibraryError, Opened, OpenedLibrary, open};
pub use primitive::{
    PoolKind, PoolWindows, PrimitiveActivation, PrimitiveKind, PrimitiveNorm, PrimitiveNormKind,
    PrimitiveProblem, PrimitiveReduction,
};
pub use primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers, PrimitiveLibrary};
pub use product::{ComputeType, Gemm, GemmCall, GemmTypes, MatrixStorage, Operand};
pub use report::{AlgorithmRow, LibraryReport, UnsupportedGroup, WrongResult};
pub use server::serve_if_requested;
pub use signatures::{parameter_class, signatures};
pub use tuning::{TuningFile, TuningFileError, TuningMode};
pub use vendor_libraries::{Tuning, VendorLibraries, VendorLibraryError};
