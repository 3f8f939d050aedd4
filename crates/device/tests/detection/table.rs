//! The decision table: the devices, kinds and paths of every kind of machine.

use crate::fake_library::{CudaGpu, H100, Hip, HipGpu, MI300X, ZLUDA, amd};
use crate::machine::Machine;
use testgen_device::{DetectionPath, DeviceKind, cuda_compatibility, cuda_driver, hip_runtime};

const HIP_ON_NVIDIA: HipGpu = HipGpu {
    name: "NVIDIA H100 80GB HBM3",
    arch: "",
    warp: 32,
    integrated: false,
    bus: 0x41,
    free_gib: 78,
};
const SIMULATED: HipGpu = HipGpu {
    name: "AMD gfx1100 (hip-sim)",
    arch: "gfx1100",
    warp: 32,
    integrated: false,
    bus: 0,
    free_gib: 4,
};

/// The devices of a machine as `kind:index path state`, without the host processor.
fn found(machine: &Machine) -> Vec<String> {
    let devices = machine.inventory().devices;
    let gpus = devices
        .iter()
        .filter(|device| device.kind != DeviceKind::Cpu);
    let state = |usable| if usable { "usable" } else { "unusable" };
    gpus.map(|device| {
        format!(
            "{} {} {}",
            device.label(),
            device.path,
            state(device.unusable_by_burn.is_none())
        )
    })
    .collect()
}

#[test]
fn each_machine_has_the_expected_devices() {
    let rows: Vec<(&str, Machine, &[&str])> = vec![
        ("none", Machine::new(), &[]),
        (
            "MI300X",
            Machine::new().rocm(&[MI300X]).kernel_amd(1, 3, 90402),
            &["rocm:0 HIP runtime usable"],
        ),
        (
            "MI300X, no kernel list",
            Machine::new().rocm(&[MI300X]),
            &["rocm:0 HIP runtime usable"],
        ),
        (
            "H100",
            Machine::new().cuda(&[H100]).kernel_nvidia("0000:41:00.0"),
            &["cuda:0 CUDA driver usable"],
        ),
        (
            "H100, no kernel list",
            Machine::new().cuda(&[H100]),
            &["cuda:0 CUDA driver usable"],
        ),
        (
            "both",
            Machine::new().rocm(&[MI300X]).cuda(&[H100]),
            &["rocm:0 HIP runtime usable", "cuda:0 CUDA driver usable"],
        ),
        (
            "ZLUDA",
            Machine::new().cuda(&[ZLUDA]),
            &["rocm:0 CUDA compatibility layer usable"],
        ),
        (
            "ZLUDA beside HIP",
            Machine::new()
                .rocm(&[amd("AMD Radeon RX 7900 XTX", "gfx1100", 3, 23)])
                .cuda(&[ZLUDA]),
            &[
                "rocm:0 HIP runtime usable",
                "rocm:0 CUDA compatibility layer usable",
            ],
        ),
        (
            "H100 and ZLUDA in one driver",
            Machine::new().cuda(&[H100, ZLUDA]),
            &[
                "cuda:0 CUDA driver usable",
                "rocm:1 CUDA compatibility layer usable",
            ],
        ),
        (
            "HIP on the NVIDIA platform",
            Machine::new().rocm(&[HIP_ON_NVIDIA]),
            &[],
        ),
        (
            "HIP on the NVIDIA platform beside CUDA",
            Machine::new().rocm(&[HIP_ON_NVIDIA]).cuda(&[H100]),
            &["cuda:0 CUDA driver usable"],
        ),
        (
            "hip-sim",
            Machine::new().rocm(&[SIMULATED]),
            &["rocm:0 HIP runtime usable"],
        ),
        ("library without device", Machine::new().rocm(&[]), &[]),
        (
            "library with an error",
            Machine::new().hip(&Hip {
                gpus: &[MI300X],
                status: 100,
                lacking: &[],
                extra: &[],
            }),
            &[],
        ),
        (
            "device without library",
            Machine::new().kernel_amd(1, 3, 90402),
            &[],
        ),
        (
            "unsupported gfx",
            Machine::new().rocm(&[amd("AMD Instinct MI50", "gfx906", 3, 16)]),
            &["rocm:0 HIP runtime unusable"],
        ),
    ];
    for (name, machine, expected) in rows {
        assert_eq!(found(&machine), expected, "{name}");
    }
}

/// The central guarantee of the crate, over many names.
#[test]
fn an_amd_gpu_is_never_cuda_and_an_nvidia_gpu_never_rocm() {
    let amd_names = [
        "AMD Instinct MI300X",
        "AMD Radeon Graphics",
        "Instinct MI210",
        "MI300X",
        "gfx1100 [compat]",
        "Radeon VII",
    ];
    let nvidia_names = [
        "NVIDIA H100 80GB HBM3",
        "Tesla V100-SXM2-16GB",
        "GeForce GTX 1080",
        "Quadro P4000",
        "NVIDIA GB200",
    ];
    for name in amd_names {
        let machine = Machine::new().cuda(&[CudaGpu {
            name,
            pci: "0000:03:00.0",
            ..ZLUDA
        }]);
        assert!(cuda_driver(&machine.system()).is_err(), "{name}");
        assert_eq!(
            cuda_compatibility(&machine.system()).expect(name)[0].kind,
            DeviceKind::Rocm,
            "{name}"
        );
    }
    for name in nvidia_names {
        let machine = Machine::new()
            .cuda(&[CudaGpu { name, ..H100 }])
            .rocm(&[HipGpu {
                name,
                ..HIP_ON_NVIDIA
            }]);
        assert!(cuda_compatibility(&machine.system()).is_err(), "{name}");
        assert!(hip_runtime(&machine.system()).is_err(), "{name}");
        assert_eq!(
            cuda_driver(&machine.system()).expect(name)[0].kind,
            DeviceKind::Cuda,
            "{name}"
        );
    }
}

#[test]
fn the_pci_bus_takes_precedence_over_the_name() {
    let misnamed = CudaGpu {
        name: "NVIDIA GeForce RTX 4090",
        pci: "0000:03:00.0",
        ..ZLUDA
    };
    let machine = Machine::new().cuda(&[misnamed]).kernel_amd(1, 3, 110000);
    let devices = cuda_compatibility(&machine.system()).expect("the kernel lists it as AMD's");
    assert_eq!(
        (devices[0].kind, devices[0].architecture.as_deref()),
        (DeviceKind::Rocm, Some("gfx1100"))
    );
    assert!(cuda_driver(&machine.system()).is_err());

    let nameless = CudaGpu {
        name: "Graphics Device",
        pci: "0000:99:00.0",
        ..ZLUDA
    };
    let machine = Machine::new().cuda(&[nameless]).kernel_amd(1, 3, 110000);
    assert!(
        cuda_driver(&machine.system()).is_err(),
        "with AMD GPUs alone, a nameless device is not called CUDA"
    );
    assert!(cuda_compatibility(&machine.system()).is_err());
    assert!(cuda_driver(&Machine::new().cuda(&[nameless]).system()).is_ok());

    let nameless = HipGpu {
        name: "Graphics Device",
        arch: "gfx1100",
        ..HIP_ON_NVIDIA
    };
    let machine = Machine::new()
        .rocm(&[nameless])
        .kernel_nvidia("0000:41:00.0");
    assert!(
        hip_runtime(&machine.system()).is_err(),
        "an NVIDIA GPU by its address"
    );
    assert!(
        hip_runtime(
            &Machine::new()
                .rocm(&[HipGpu {
                    arch: "",
                    ..nameless
                }])
                .system()
        )
        .is_err(),
        "neither name nor architecture is AMD's"
    );
    assert!(
        hip_runtime(&Machine::new().rocm(&[nameless]).system()).is_ok(),
        "the architecture is AMD's"
    );

    let inconsistent = CudaGpu {
        pci: "0000:41:00.0",
        ..ZLUDA
    };
    let machine = Machine::new()
        .cuda(&[inconsistent])
        .kernel_nvidia("0000:41:00.0");
    assert!(cuda_driver(&machine.system()).is_err());
    assert!(cuda_compatibility(&machine.system()).is_err());
}

#[test]
fn a_simulated_device_is_marked() {
    let devices =
        hip_runtime(&Machine::new().rocm(&[SIMULATED]).system()).expect("hip-sim is found");
    assert!(devices[0].simulated);
    assert_eq!(
        (devices[0].path, devices[0].pci_address.as_deref()),
        (DetectionPath::HipRuntime, None)
    );
    let real = hip_runtime(&Machine::new().rocm(&[MI300X]).system()).expect("the MI300X is found");
    assert!(!real[0].simulated);
    let simulator = Hip {
        gpus: &[MI300X],
        status: 0,
        lacking: &[],
        extra: &["hipSimVersion"],
    };
    let nameless = hip_runtime(&Machine::new().hip(&simulator).system()).expect("hip-sim is found");
    assert!(
        nameless[0].simulated,
        "the library exports the mark, whatever the name is"
    );
}
