//! A software HIP device: what stands behind the `libamdhip64` and `libhiprtc` of a simulated ROCm installation.
//!
//! Owns: the devices and their memory, compiling HIP C++ for the host processor, running a grid of threads with its
//! barriers and wave operations, faults on demand, statistics. Does not own: the C functions of the two libraries, which
//! are thin crates beside this one (`amdhip64/`, `hiprtc/`), and who uses them.
//!
//! It proves detection, dispatch, code generation and what kernels compute. It says nothing about speed, asynchronous
//! ordering, or the corner cases of AMD's floating point. Every device that it shows has `(hip-sim)` in its name, and its
//! library exports `hipSimVersion`, so that nobody takes it for silicon.

mod architecture;
mod configuration;
mod corruption;
mod fault;
mod launch;
mod memory;
mod module;
mod program;
mod properties;
mod simulator;
mod statistics;
mod status;
mod visibility;

pub use architecture::Architecture;
pub use configuration::{Configuration, ConfigurationError, DeviceModel};
pub use fault::{Fault, FaultError, Faults};
pub use launch::Extent;
pub use module::{Function, Module};
pub use program::{CompileError, Program};
pub use properties::DeviceProperties;
pub use simulator::{Copy2d, Launch, Simulator, Stream};
pub use statistics::Statistics;
pub use status::{Status, guarded};
