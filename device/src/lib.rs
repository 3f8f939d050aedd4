//! Finds the processors that a suite can run on: the host, NVIDIA GPUs (CUDA) and AMD GPUs (ROCm).
//!
//! Owns: every foreign call that detection needs, the visible-device variables, the kernel's own list as a witness, the
//! choice of one device, and the verdict whether burn's backend could open it. Does not own: anything of burn; the
//! known-answer kernel that proves a device is made by `testgen-runtime`.
//!
//! Libraries are opened at run time, exactly as burn 0.21's backends would open them, and nothing is linked. No function
//! here panics; a device that is there but would abort or fail in burn carries an [`Unusable`], and what is not found
//! comes back as an [`Absence`] that says what was looked for, what was found and what to do. Foreign calls, and so
//! `unsafe`, are in `library.rs`, `hip/functions.rs`, `cuda/driver.rs`, `cuda/compiler.rs` and `cuda/management.rs`.

mod absence;
mod cuda;
mod device;
mod hip;
mod host;
mod inventory;
mod library;
mod memory;
mod selection;
mod system;
mod topology;
mod vendor;
mod visibility;

pub use absence::Absence;
pub use cuda::{cuda_compatibility, cuda_driver};
pub use device::{DetectionPath, Device, Problem, Unusable};
pub use hip::{HIP_SYMBOLS, HIPRTC_SYMBOLS, hip_runtime};
pub use host::host_processor;
pub use inventory::{Inventory, PathResult, inventory};
pub use memory::{memory, memory_in};
pub use selection::{DeviceIndex, InvalidDeviceIndex, select};
pub use system::System;
pub use testgen_contract::DeviceKind;
pub use topology::{KfdGpu, NvidiaModule, PciGpu, Topology, kernel_topology};
pub use vendor::Vendor;
pub use visibility::{Visibility, VisibleEntry, VisibleReader, VisibleVariable, visible_devices};
