//! The size and the clocks of a GPU, as its driver reports them.

use crate::device::{ComputeFacts, DetectionPath, Device};
use crate::system::System;
use crate::{amdgpu, cuda};

/// The facts about a device of this machine: of NVIDIA's driver and NVML, or the clocks of AMD's
/// kernel driver.
pub fn compute_facts(device: &Device) -> ComputeFacts {
    compute_facts_in(&System::host(), device)
}

/// Like [`compute_facts`], for a device of another machine, which tests use.
pub fn compute_facts_in(system: &System, device: &Device) -> ComputeFacts {
    match device.path {
        DetectionPath::CudaDriver => cuda::compute_facts(system, device),
        DetectionPath::HostProcessor => ComputeFacts::default(),
        // Without their units: a translation layer reports those of a GPU that does not exist, and
        // HIP numbers its attributes differently in each version.
        DetectionPath::HipRuntime | DetectionPath::Engine | DetectionPath::CudaCompatibility => {
            of_amd(system, device)
        }
    }
}

fn of_amd(system: &System, device: &Device) -> ComputeFacts {
    let address = device.pci_address.as_deref();
    let (clock_mhz, max_clock_mhz) = address
        .filter(|_| !device.simulated)
        .map_or((None, None), |address| amdgpu::clocks(system, address));
    ComputeFacts {
        compute_units: None,
        clock_mhz,
        max_clock_mhz,
    }
}
