//! A software HIP device: the implementation of `libamdhip64` and `libhiprtc` in a simulated ROCm
//! installation.
//!
//! Owns: the devices and their memory, compiling HIP C++ for the host processor, running a grid of
//! threads with its barriers and wave operations, injected faults, statistics. Does not own: the C
//! functions of the two libraries, which are thin crates next to this one (`amdhip64/`, `hiprtc/`).
//!
//! It tests detection, dispatch, code generation and the results of kernels. It does not test
//! speed, asynchronous ordering, or the corner cases of AMD's floating point. Every device has
//! `(hip-sim)` in its name, and the library exports `hipSimVersion`, so that a simulation is never
//! mistaken for a GPU.

mod architecture;
mod blas_fault;
mod configuration;
mod convolution;
mod convolution_fault;
mod corruption;
mod device_model;
mod fault;
mod float8;
mod frame;
mod launch;
mod matrix;
mod memory;
mod module;
mod named_faults;
mod primitive;
mod primitive_arithmetic;
mod primitive_fault;
mod primitive_norm;
mod product;
mod program;
mod properties;
mod simulator;
mod statistics;
mod status;
mod toolchain;
mod visibility;

pub use architecture::SimulatedArchitecture;
pub use blas_fault::BlasFault;
pub use configuration::{Configuration, ConfigurationError};
pub use convolution::SimulatedConvolution;
pub use convolution_fault::ConvolutionFault;
pub use device_model::DeviceModel;
pub use fault::{Fault, FaultError, Faults};
pub use frame::Dim3;
pub use launch::Launch;
pub use matrix::{MatrixBatch, MatrixType, SimulatedTensor};
pub use module::{Function, Module};
pub use primitive::{SimulatedKind, SimulatedPrimitive, SimulatedWindow};
pub use primitive_arithmetic::{SimulatedFunction, SimulatedReduction};
pub use primitive_fault::PrimitiveFault;
pub use primitive_norm::{SimulatedNorm, SimulatedStatistics};
pub use product::{
    InjectedProductError, SimulatedActivation, SimulatedEpilogue, SimulatedProduct, SumOrder,
    faults,
};
pub use program::{CompileError, Program};
pub use properties::DeviceProperties;
pub use simulator::{Copy2d, Simulator, Stream};
pub use statistics::Statistics;
pub use status::{HipError, guarded};
