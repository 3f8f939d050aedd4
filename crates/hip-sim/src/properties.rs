//! `hipDeviceProp_tR0600`, in the layout of `hip_runtime_api.h`.
//!
//! Adjacent fields that burn does not read are merged into arrays. `tests/simulation/layout.rs`
//! compares size and offsets with the bindings of cubecl-hip-sys, which burn reads the structure
//! with.

use crate::device_model::{DeviceModel, pci_numbers};
use crate::fault;
use std::ffi::{c_char, c_int, c_uint};

/// The properties that the runtime reports about a device.
#[derive(Debug, Clone)]
#[repr(C)]
#[expect(
    missing_docs,
    reason = "the fields are those of HIP's structure, in snake case"
)]
pub struct DeviceProperties {
    pub name: [c_char; 256],
    pub uuid: [c_char; 16],
    pub luid: [c_char; 8],
    pub luid_device_node_mask: c_uint,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: c_int,
    pub warp_size: c_int,
    pub mem_pitch: usize,
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub clock_rate: c_int,
    pub total_const_mem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub device_overlap: c_int,
    pub multi_processor_count: c_int,
    pub kernel_exec_timeout_enabled: c_int,
    pub integrated: c_int,
    pub can_map_host_memory: c_int,
    pub compute_mode: c_int,
    /// From `maxTexture1D` to `maxSurfaceCubemapLayered`.
    pub textures_and_surfaces: [c_int; 40],
    pub surface_alignment: usize,
    pub concurrent_kernels: c_int,
    pub ecc_enabled: c_int,
    pub pci_bus_id: c_int,
    pub pci_device_id: c_int,
    pub pci_domain_id: c_int,
    /// From `tccDriver` to `localL1CacheSupported`.
    pub caches_and_clocks: [c_int; 11],
    pub shared_mem_per_multiprocessor: usize,
    pub regs_per_multiprocessor: c_int,
    /// From `managedMemory` to `cooperativeMultiDeviceLaunch`.
    pub capabilities: [c_int; 11],
    pub shared_mem_per_block_optin: usize,
    pub page_tables: [c_int; 4],
    pub reserved_shared_mem_per_block: usize,
    /// From `hostRegisterSupported` to `hipReserved`.
    pub reserved: [c_int; 108],
    pub gcn_arch_name: [c_char; 256],
    pub max_shared_memory_per_multi_processor: usize,
    pub clock_instruction_rate: c_int,
    pub arch: c_uint,
    pub hdp_flush: [usize; 2],
    pub cooperative_unmatched: [c_int; 4],
    pub is_large_bar: c_int,
    pub asic_revision: c_int,
}

/// Bytes of shared memory per block, on every simulated architecture.
pub(crate) const SHARED_MEMORY: usize = 65536;
/// The maximum number of threads in a block.
pub(crate) const THREADS_PER_BLOCK: u32 = 1024;

impl DeviceProperties {
    /// The properties of the device `ordinal`, changed by `faults`.
    pub fn new(model: &DeviceModel, ordinal: u32, faults: &fault::Faults) -> Self {
        let (architecture, wave) = fault::reported(faults, ordinal, model.architecture);
        let (major, minor) = model.architecture.version();
        let [domain, bus, device] = pci_numbers(&model.pci_address).unwrap_or_default();
        // SAFETY: the structure consists of integers, for which zero is a valid value.
        let mut properties: Self = unsafe { std::mem::zeroed() };
        write(&mut properties.name, &model.marked_name());
        write(&mut properties.gcn_arch_name, &architecture);
        write(
            &mut properties.uuid,
            &format!("{:016x}", 0x51b0_0000_0000_0000_u64 | u64::from(ordinal)),
        );
        properties.total_global_mem = usize::try_from(model.memory).unwrap_or(usize::MAX);
        properties.shared_mem_per_block = SHARED_MEMORY;
        properties.shared_mem_per_multiprocessor = SHARED_MEMORY;
        properties.max_shared_memory_per_multi_processor = SHARED_MEMORY;
        properties.warp_size = c_int::try_from(wave).unwrap_or(c_int::MAX);
        properties.max_threads_per_block = THREADS_PER_BLOCK.cast_signed();
        properties.max_threads_dim = [THREADS_PER_BLOCK.cast_signed(); 3];
        properties.max_grid_size = [c_int::MAX, 65535, 65535];
        properties.multi_processor_count = 4;
        (properties.major, properties.minor) = (major, minor);
        (properties.texture_alignment, properties.surface_alignment) = (256, 256);
        (
            properties.pci_domain_id,
            properties.pci_bus_id,
            properties.pci_device_id,
        ) = (domain, bus, device);
        properties
    }
}

/// Copies `text`, truncated to leave room for the terminating zero.
fn write(field: &mut [c_char], text: &str) {
    for (place, byte) in field.iter_mut().zip(text.bytes()) {
        *place = byte as c_char;
    }
}
