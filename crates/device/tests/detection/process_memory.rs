//! The memory that drivers report of one process, and when nothing is known.

use crate::fake_library::{H100, MI300X, amd, nvml_with};
use crate::machine::Machine;
use testgen_device::{Device, cuda_driver, hip_runtime, process_memory_in};

const OURS: u32 = 4711;
const MIB: u64 = 1 << 20;

/// The bytes of the process on an NVIDIA GPU that runs `processes`.
fn on_nvidia(machine: Machine, processes: &[(u32, u64)]) -> Option<u64> {
    let library = nvml_with("0000:41:00.0", [80, 55], processes);
    let machine = machine
        .cuda(&[H100])
        .library("lib/libnvidia-ml.so.1", &library);
    let devices = cuda_driver(&machine.system()).expect("a device is found");
    process_memory_in(&machine.system(), &devices[0], OURS)
}

/// The bytes of the process on the first AMD GPU.
fn on_amd(machine: &Machine) -> Option<u64> {
    let devices = hip_runtime(&machine.system()).expect("a device is found");
    process_memory_in(&machine.system(), &devices[0], OURS)
}

fn process(machine: Machine, pid: u32) -> Machine {
    machine.file(&format!("proc/{pid}/stat"), "")
}

#[test]
fn nvml_reports_the_bytes_of_each_process() {
    let all = [(12, 700 * MIB), (OURS, 518 * MIB)];
    let host = || Machine::new().without_namespaces();
    assert_eq!(on_nvidia(host(), &all), Some(518 * MIB));
    // Once for each instance of the GPU.
    let instances = [(OURS, 100 * MIB), (12, MIB), (OURS, 18 * MIB)];
    assert_eq!(on_nvidia(host(), &instances), Some(118 * MIB));
    assert_eq!(on_nvidia(host(), &[(12, MIB)]), None);
    let unknown = [(OURS, u64::MAX)];
    assert_eq!(on_nvidia(host(), &unknown), None);
}

#[test]
fn ids_of_another_namespace_are_not_taken_for_this_one() {
    let all = [(12, 700 * MIB), (OURS, 518 * MIB)];
    let container = || process(Machine::new(), OURS);
    // The driver translates ids, and this container runs both.
    assert_eq!(on_nvidia(process(container(), 12), &all), Some(518 * MIB));
    // It does not: the other id is the one that this process has outside of the container.
    assert_eq!(on_nvidia(container(), &all), None);
    let elsewhere = container().link("proc/self/ns/pid", "pid:[4026532262]");
    assert_eq!(on_nvidia(elsewhere, &all), None);
}

#[test]
fn the_compute_driver_of_amd_counts_each_process() {
    let counted = |machine: Machine| {
        machine
            .rocm(&[MI300X])
            .kernel_amd(1, 3, 90402)
            .file("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "36542\n")
            .file("sys/class/kfd/kfd/proc/4711/vram_36542", "543162368\n")
            .file("sys/class/kfd/kfd/proc/4711/vram_7", "1\n")
    };
    assert_eq!(
        on_amd(&counted(Machine::new().without_namespaces())),
        Some(543_162_368)
    );
    assert_eq!(on_amd(&counted(Machine::new())), None, "of a container");
}

#[test]
fn partitions_of_one_gpu_share_an_address() {
    let machine = Machine::new()
        .without_namespaces()
        .rocm(&[MI300X])
        .kernel_amd(1, 3, 90402)
        .kernel_amd(2, 3, 90402)
        .file("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "5\n")
        .file("sys/class/kfd/kfd/proc/4711/vram_5", "1024\n");
    assert_eq!(on_amd(&machine), None);
}

/// A descriptor of the process, for a client of a GPU.
fn opened(machine: Machine, file: u32, client: u32, (address, memory): (&str, &str)) -> Machine {
    let text = format!(
        "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-client-id:\t{client}\n\
         drm-pdev:\t{address}\ndrm-memory-vram:\t{memory}\ndrm-memory-gtt:\t64 KiB\n"
    );
    machine.file(&format!("proc/4711/fdinfo/{file}"), &text)
}

#[test]
fn open_files_of_amd_count_each_client_once() {
    let gpus = [MI300X, amd("AMD Radeon PRO W7900", "gfx1100", 4, 46)];
    let machine = Machine::new()
        .rocm(&gpus)
        .file("proc/4711/fdinfo/0", "pos:\t0\n");
    assert_eq!(on_amd(&machine), None);
    let (ours, other) = ("0000:03:00.0", "0000:04:00.0");
    let machine = opened(machine, 5, 1, (ours, "2048 KiB"));
    let machine = opened(machine, 6, 1, (ours, "2048 KiB"));
    let machine = opened(machine, 7, 2, (ours, "1 MiB"));
    let machine = opened(machine, 8, 3, (other, "512 MiB"));
    assert_eq!(on_amd(&machine), Some(3 * MIB));
}

#[test]
fn a_simulated_device_and_the_host_have_no_driver_that_reports() {
    let machine = Machine::new()
        .without_namespaces()
        .rocm(&[MI300X])
        .kernel_amd(1, 3, 90402)
        .file("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "5\n")
        .file("sys/class/kfd/kfd/proc/4711/vram_5", "1024\n");
    let devices = hip_runtime(&machine.system()).expect("a device is found");
    let simulated = Device {
        simulated: true,
        ..devices[0].clone()
    };
    let bytes = |device: &Device| process_memory_in(&machine.system(), device, OURS);
    assert_eq!((bytes(&devices[0]), bytes(&simulated)), (Some(1024), None));
    assert_eq!(
        bytes(&testgen_device::host_processor(&machine.system())),
        None
    );
}
