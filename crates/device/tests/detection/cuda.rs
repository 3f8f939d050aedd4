//! The CUDA path: the properties read, and what makes a device unusable or unavailable.

use crate::fake_library::{Cuda, CudaGpu, H100, ZLUDA, nvml, nvrtc};
use crate::machine::Machine;
use testgen_device::{
    ComputeFacts, Device, compute_facts_in, cuda_compatibility, cuda_driver, memory_in,
};

const WHOLE: Cuda<'_> = Cuda {
    gpus: &[H100],
    status: 0,
    version: 13000,
    lacking: &[],
};

fn devices(machine: &Machine) -> Vec<Device> {
    cuda_driver(&machine.system()).expect("devices are found")
}

fn unavailable(machine: &Machine) -> String {
    cuda_driver(&machine.system())
        .expect_err("no device is found")
        .to_string()
}

fn problems(machine: &Machine) -> String {
    devices(machine)[0]
        .unusable_by_burn
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[test]
fn the_driver_is_read() {
    let second = CudaGpu {
        name: "NVIDIA A100-SXM4-40GB",
        capability: (8, 0),
        pci: "0000:42:00.0",
        free_gib: 30,
    };
    let machine = Machine::new()
        .cuda(&[H100, second])
        .kernel_nvidia("0000:41:00.0");
    let [first, second] = &devices(&machine)[..] else {
        panic!("two devices")
    };
    assert_eq!(
        (
            first.index,
            first.name.as_str(),
            first.architecture.as_deref()
        ),
        (0, "NVIDIA H100 80GB HBM3", Some("sm_90"))
    );
    assert_eq!(
        (first.total_memory, first.free_memory),
        (Some(80 << 30), Some(78 << 30))
    );
    assert_eq!(
        first.uuid.as_deref(),
        Some("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f")
    );
    assert_eq!(
        (
            first.driver_version.as_deref(),
            first.runtime_version.as_deref()
        ),
        (Some("570.1.2"), Some("13.0"))
    );
    assert_eq!(
        (
            second.index,
            second.architecture.as_deref(),
            second.free_memory
        ),
        (1, Some("sm_80"), Some(30 << 30))
    );
    assert_eq!(
        memory_in(&machine.system(), second),
        Some((30 << 30, 32 << 30))
    );
    let without_address = Device {
        pci_address: None,
        ..second.clone()
    };
    assert_eq!(
        memory_in(&machine.system(), &without_address),
        Some((30 << 30, 32 << 30))
    );
}

#[test]
fn nvml_is_preferred_for_whole_gpus() {
    let machine = Machine::new()
        .cuda(&[H100])
        .library("lib/libnvidia-ml.so.1", &nvml("0000:41:00.0", 80, 55));
    let device = &devices(&machine)[0];
    assert_eq!(
        (device.free_memory, device.driver_version.as_deref()),
        (Some(55 << 30), Some("580.159.04"))
    );
    assert_eq!(
        memory_in(&machine.system(), device),
        Some((55 << 30, 80 << 30))
    );

    let instance = CudaGpu {
        name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        free_gib: 8,
        ..H100
    };
    let machine = Machine::new()
        .cuda(&[instance])
        .library("lib/libnvidia-ml.so.1", &nvml("0000:41:00.0", 80, 55));
    let device = &devices(&machine)[0];
    assert_eq!(
        device.free_memory,
        Some(8 << 30),
        "NVML knows the whole GPU alone"
    );
    assert!(
        device
            .uuid
            .as_ref()
            .is_some_and(|uuid| uuid.starts_with("MIG-"))
    );
}

#[test]
fn size_and_clocks_are_what_driver_and_nvml_report() {
    let machine = Machine::new().cuda(&[H100]);
    let of_driver = ComputeFacts {
        compute_units: Some(132),
        ..ComputeFacts::default()
    };
    let facts = |machine: &Machine| compute_facts_in(&machine.system(), &devices(machine)[0]);
    assert_eq!(facts(&machine), of_driver);
    let machine = machine.library("lib/libnvidia-ml.so.1", &nvml("0000:41:00.0", 80, 55));
    let clocks = ComputeFacts {
        clock_mhz: Some(1755),
        max_clock_mhz: Some(1980),
        ..of_driver
    };
    assert_eq!(facts(&machine), clocks);
    // NVML does not have the GPU.
    let elsewhere = Machine::new()
        .cuda(&[H100])
        .library("lib/libnvidia-ml.so.1", &nvml("0000:42:00.0", 80, 55));
    assert_eq!(facts(&elsewhere), of_driver);
}

#[test]
fn a_complete_installation_has_no_problem() {
    assert_eq!(problems(&Machine::new().cuda(&[H100])), "");
    let elsewhere = Machine::new()
        .cuda_driver(&WHOLE)
        .variable("CUDA_PATH", "/pip/nvidia/cu13");
    let elsewhere = elsewhere
        .library("lib/libnvrtc.so.12", &nvrtc(12080, &[90]))
        .file("pip/nvidia/cu13/include/cuda_runtime.h", "");
    assert_eq!(problems(&elsewhere), "");
}

#[test]
fn a_missing_requirement_makes_a_device_unusable() {
    let driver = || Machine::new().cuda_driver(&WHOLE);
    let rows = [
        (
            "no compiler",
            driver().file("opt/cuda/include/cuda_runtime.h", ""),
            "libnvrtc.so, which compiles",
        ),
        (
            "broken compiler",
            driver()
                .file("opt/cuda/include/cuda_runtime.h", "")
                .file("lib/libnvrtc.so", "x"),
            "does not load",
        ),
        (
            "no toolkit",
            driver().library("lib/libnvrtc.so", &nvrtc(13000, &[90])),
            "CUDA_PATH is not set",
        ),
        (
            "wrong toolkit",
            Machine::new()
                .cuda(&[H100])
                .variable("CUDA_PATH", "/nowhere"),
            "`/nowhere/include` has no cuda_runtime.h",
        ),
        (
            "new compiler",
            Machine::new()
                .cuda(&[H100])
                .library("lib/libnvrtc.so", &nvrtc(13040, &[90])),
            "NVRTC 13.4",
        ),
        (
            "unsuitable compiler",
            Machine::new()
                .cuda(&[H100])
                .library("lib/libnvrtc.so", &nvrtc(11080, &[75, 80])),
            "does not compile for sm_90",
        ),
        (
            "old driver",
            Machine::new().cuda_toolkit().cuda_driver(&Cuda {
                lacking: &["cuMemAllocAsync"],
                ..WHOLE
            }),
            "cuMemAllocAsync",
        ),
    ];
    for (name, machine, expected) in rows {
        assert!(
            problems(&machine).contains(expected),
            "{name}: {}",
            problems(&machine)
        );
    }
}

#[test]
fn missing_headers_of_some_kernels_are_a_warning() {
    let warnings = |machine: &Machine| {
        devices(machine)[0]
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert!(warnings(&Machine::new().cuda(&[H100])).is_empty());
    let bare = || {
        Machine::new()
            .cuda(&[H100])
            .variable("CUDA_PATH", "/pip")
            .file("pip/include/cuda_runtime.h", "")
    };
    let text = warnings(&bare()).join(" ");
    assert!(
        text.contains("crt/mma.h") && text.contains("cccl/cuda/barrier"),
        "{text}"
    );
    assert_eq!(problems(&bare()), "");
    let whole = bare()
        .file("pip/include/crt/mma.h", "")
        .file("pip/include/cuda/barrier", "");
    assert!(warnings(&whole).is_empty());
}

#[test]
fn a_missing_library_and_a_missing_device_have_different_reasons() {
    let with = |status| Machine::new().cuda_driver(&Cuda { status, ..WHOLE });
    let rows = [
        ("no library", Machine::new(), "no libcuda.so"),
        (
            "no library, but a GPU",
            Machine::new().kernel_nvidia("0000:41:00.0"),
            "the kernel lists 1 NVIDIA GPU (0000:41:00.0)",
        ),
        (
            "garbage",
            Machine::new().file("lib/libcuda.so", "garbage"),
            "does not load",
        ),
        (
            "too old",
            Machine::new().cuda_driver(&Cuda {
                lacking: &["cuDeviceGetName"],
                ..WHOLE
            }),
            "too old, it lacks `cuDeviceGetName`",
        ),
        ("no device", with(100), "error 100, CUDA_ERROR_NO_DEVICE"),
        ("stub", with(34), "toolkit's stub"),
        ("mismatch", with(803), "same version of both"),
        ("count of zero", Machine::new().cuda(&[]), "lists no device"),
        (
            "masked",
            Machine::new()
                .cuda(&[])
                .variable("CUDA_VISIBLE_DEVICES", ""),
            "CUDA_VISIBLE_DEVICES=`` (CUDA driver): empty, hides every device",
        ),
        (
            "invalid variable",
            with(100).variable("CUDA_VISIBLE_DEVICES", "abc"),
            "`abc` is neither an index nor a UUID",
        ),
        (
            "AMD only",
            Machine::new().cuda(&[ZLUDA]),
            "which is ROCm, not CUDA",
        ),
    ];
    for (name, machine, expected) in rows {
        assert!(
            unavailable(&machine).contains(expected),
            "{name}: {}",
            unavailable(&machine)
        );
    }
    let rocm_variable = with(100)
        .variable("ROCR_VISIBLE_DEVICES", "-1")
        .variable("HIP_VISIBLE_DEVICES", "-1");
    assert!(
        !unavailable(&rocm_variable).contains("VISIBLE"),
        "{}",
        unavailable(&rocm_variable)
    );
}

#[test]
fn a_translation_layer_is_rocm_with_the_true_architecture() {
    let scale = CudaGpu {
        name: "AMD Radeon Pro W6800 - gfx1030",
        ..ZLUDA
    };
    let machine = Machine::new().cuda(&[scale]);
    let devices = cuda_compatibility(&machine.system()).expect("the translation layer is found");
    assert_eq!(
        (devices[0].architecture.as_deref(), devices[0].free_memory),
        (Some("gfx1030"), Some(23 << 30))
    );
    assert_eq!(
        memory_in(&machine.system(), &devices[0]),
        Some((23 << 30, 25 << 30))
    );
    let nvidia = cuda_compatibility(&Machine::new().cuda(&[H100]).system())
        .expect_err("an H100 is not ROCm")
        .to_string();
    assert!(
        nvidia.contains("`NVIDIA H100 80GB HBM3`) is an NVIDIA GPU, which is CUDA, not ROCm"),
        "{nvidia}"
    );
}
