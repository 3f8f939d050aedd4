//! The structures that cross the C boundary, compared with the bindings that burn uses.

use cubecl_hip_sys::hipDeviceProp_tR0600 as Theirs;
use hip_sim::{DeviceProperties as Ours, HipError, SimulatedArchitecture};
use std::mem::offset_of;

#[test]
fn the_properties_of_a_device_have_the_layout_that_burn_reads() {
    assert_eq!(
        (size_of::<Ours>(), align_of::<Ours>()),
        (size_of::<Theirs>(), align_of::<Theirs>())
    );
    let offsets = [
        (offset_of!(Ours, uuid), offset_of!(Theirs, uuid)),
        (
            offset_of!(Ours, total_global_mem),
            offset_of!(Theirs, totalGlobalMem),
        ),
        (
            offset_of!(Ours, shared_mem_per_block),
            offset_of!(Theirs, sharedMemPerBlock),
        ),
        (offset_of!(Ours, warp_size), offset_of!(Theirs, warpSize)),
        (
            offset_of!(Ours, max_threads_per_block),
            offset_of!(Theirs, maxThreadsPerBlock),
        ),
        (
            offset_of!(Ours, max_threads_dim),
            offset_of!(Theirs, maxThreadsDim),
        ),
        (
            offset_of!(Ours, max_grid_size),
            offset_of!(Theirs, maxGridSize),
        ),
        (offset_of!(Ours, major), offset_of!(Theirs, major)),
        (
            offset_of!(Ours, texture_alignment),
            offset_of!(Theirs, textureAlignment),
        ),
        (
            offset_of!(Ours, multi_processor_count),
            offset_of!(Theirs, multiProcessorCount),
        ),
        (offset_of!(Ours, integrated), offset_of!(Theirs, integrated)),
        (
            offset_of!(Ours, compute_mode),
            offset_of!(Theirs, computeMode),
        ),
        (
            offset_of!(Ours, surface_alignment),
            offset_of!(Theirs, surfaceAlignment),
        ),
        (offset_of!(Ours, pci_bus_id), offset_of!(Theirs, pciBusID)),
        (
            offset_of!(Ours, pci_domain_id),
            offset_of!(Theirs, pciDomainID),
        ),
        (
            offset_of!(Ours, shared_mem_per_multiprocessor),
            offset_of!(Theirs, sharedMemPerMultiprocessor),
        ),
        (
            offset_of!(Ours, shared_mem_per_block_optin),
            offset_of!(Theirs, sharedMemPerBlockOptin),
        ),
        (
            offset_of!(Ours, reserved_shared_mem_per_block),
            offset_of!(Theirs, reservedSharedMemPerBlock),
        ),
        (
            offset_of!(Ours, gcn_arch_name),
            offset_of!(Theirs, gcnArchName),
        ),
        (
            offset_of!(Ours, max_shared_memory_per_multi_processor),
            offset_of!(Theirs, maxSharedMemoryPerMultiProcessor),
        ),
        (
            offset_of!(Ours, hdp_flush),
            offset_of!(Theirs, hdpMemFlushCntl),
        ),
        (
            offset_of!(Ours, asic_revision),
            offset_of!(Theirs, asicRevision),
        ),
    ];
    for (index, (ours, theirs)) in offsets.into_iter().enumerate() {
        assert_eq!(ours, theirs, "entry {index} of the list");
    }
}

#[test]
fn statuses_have_the_numbers_of_hip() {
    use cubecl_hip_sys as hip;
    for (ours, theirs) in [
        (HipError::InvalidValue, hip::hipError_t_hipErrorInvalidValue),
        (HipError::OutOfMemory, hip::hipError_t_hipErrorOutOfMemory),
        (
            HipError::NotInitialized,
            hip::hipError_t_hipErrorNotInitialized,
        ),
        (HipError::NoDevice, hip::hipError_t_hipErrorNoDevice),
        (
            HipError::InvalidDevice,
            hip::hipError_t_hipErrorInvalidDevice,
        ),
        (HipError::InvalidImage, hip::hipError_t_hipErrorInvalidImage),
        (
            HipError::NoBinaryForGpu,
            hip::hipError_t_hipErrorNoBinaryForGpu,
        ),
        (HipError::NotFound, hip::hipError_t_hipErrorNotFound),
        (
            HipError::LaunchFailure,
            hip::hipError_t_hipErrorLaunchFailure,
        ),
        (HipError::Unknown, hip::hipError_t_hipErrorUnknown),
    ] {
        assert_eq!(ours as u32, theirs, "{ours:?}");
    }
}

#[test]
fn a_device_reports_its_architecture() {
    for architecture in SimulatedArchitecture::ALL {
        let device = crate::test_device::TestDevice::new(*architecture);
        let properties = device.simulator.properties(0).unwrap();
        let text = |field: &[std::ffi::c_char]| -> String {
            field
                .iter()
                .take_while(|byte| **byte != 0)
                .map(|byte| *byte as u8 as char)
                .collect()
        };
        assert_eq!(
            text(&properties.name),
            format!("AMD {architecture} (hip-sim)")
        );
        assert_eq!(text(&properties.gcn_arch_name), architecture.as_str());
        assert_eq!(properties.warp_size as u32, architecture.wave_size());
        assert_eq!(
            device.simulator.properties(1).unwrap_err(),
            HipError::InvalidDevice
        );
    }
}
