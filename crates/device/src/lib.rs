//! Detects the processors that a suite can run on: the host, NVIDIA GPUs (CUDA) and AMD GPUs
//! (ROCm).
//!
//! Owns: every foreign call that detection needs, the visible-device variables, the kernel's own
//! GPU list as a cross-check, the selection of one device, whether burn's backend can open it, and
//! whether the kernel confirms a device that an engine reports. Does not own: anything of burn; the
//! known-answer kernel that proves a device is in `testgen-runtime`.
//!
//! Libraries are opened at run time, exactly as burn 0.21's backends open them, and nothing is
//! linked. No function here panics: a device that is present but would abort or fail in burn has
//! [`Device::unusable_by_burn`] set, and a device that is not found is a [`DeviceUnavailable`] that
//! says where detection looked, what it found and what to do. Foreign calls, and therefore
//! `unsafe`, are in `library.rs`, `hip/functions.rs`, `cuda/driver.rs`, `cuda/compiler.rs` and
//! `cuda/management.rs`.

mod compute_facts;
mod cuda;
mod device;
mod device_unavailable;
mod fresh_thread;
mod hip;
mod host;
mod inventory;
mod library;
mod memory;
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
pub use hip::{HIP_SYMBOLS, HIPRTC_SYMBOLS, hip_runtime};
pub use host::host_processor;
pub use inventory::{Inventory, PathResult, inventory};
pub use library::{NotOpened, SharedLibrary};
pub use memory::{memory, memory_in};
pub use reported::{ReportedDevice, confirmed, may_be_reported};
pub use selection::{DeviceIndex, InvalidDeviceIndex, select};
pub use system::System;
pub use testgen_types::DeviceKind;
pub use topology::{KfdGpu, NvidiaModule, PciGpu, Topology, kernel_topology};
pub use vendor::Vendor;
pub use visibility::{Visibility, VisibleEntry, VisibleReader, VisibleVariable, visible_devices};
