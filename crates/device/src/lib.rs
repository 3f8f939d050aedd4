//! Detects the processors that a suite can run on: the host, NVIDIA GPUs (CUDA) and AMD GPUs
//! (ROCm).
//!
//! Owns: every foreign call that detection needs, the visible-device variables, the kernel's own
//! GPU list as a cross-check, the selection of one device, whether burn's backend can open it,
//! whether the kernel confirms a device that an engine reports, and what drivers report about a
//! device in use: memory, also of one process, clocks and energy. Does not own: anything of burn;
//! the known-answer kernel that proves a device is in `testgen-runtime`.
//!
//! Libraries are opened at run time, exactly as burn 0.21's backends open them, and nothing is
//! linked. No function here panics: a device that is present but would abort or fail in burn has
//! [`Device::unusable_by_burn`] set, and a device that is not found is a [`DeviceUnavailable`] that
//! says where detection looked, what it found and what to do. Foreign calls, and therefore
//! `unsafe`, are in `library.rs`, `hip/functions.rs`, and in `cuda`: `driver.rs`, `compiler.rs`,
//! `management.rs`, `management_session.rs`, `process_memory.rs` and `total_energy.rs`.

mod amdgpu;
mod compute_facts;
mod cuda;
mod device;
mod device_unavailable;
mod energy;
mod fresh_thread;
mod hip;
mod host;
mod inventory;
mod library;
mod memory;
mod pid_namespace;
mod process_memory;
mod reported;
mod selection;
mod system;
mod topology;
mod vendor;
mod visibility;

pub use compute_facts::{compute_facts, compute_facts_in};
pub use cuda::{cuda_compatibility, cuda_driver};
pub use device::{ComputeFacts, DetectionPath, Device, DeviceProblem, EngineKind, Unusable};
pub use device_unavailable::DeviceUnavailable;
pub use energy::{EnergyCounter, EnergyReading};
pub use hip::{HIP_SYMBOLS, HIPRTC_SYMBOLS, hip_runtime};
pub use host::host_processor;
pub use inventory::{Inventory, PathResult, inventory};
pub use library::{NotOpened, SharedLibrary};
pub use memory::{memory, memory_in};
pub use process_memory::{process_memory, process_memory_in};
pub use reported::{ReportedDevice, confirmed, may_be_reported};
pub use selection::{DeviceIndex, InvalidDeviceIndex, select};
pub use system::System;
pub use testgen_types::DeviceKind;
pub use topology::{KfdGpu, NvidiaModule, PciGpu, Topology, kernel_topology};
pub use vendor::Vendor;
pub use visibility::{Visibility, VisibleEntry, VisibleReader, VisibleVariable, visible_devices};
