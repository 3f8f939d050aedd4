//! The selection of a device.

use crate::fake_library::{Cuda, CudaGpu, H100, Hip, HipGpu, MI300X, amd};
use crate::machine::Machine;
use testgen_device::{
    Device, DeviceIndex, DeviceKind, DeviceUnavailable, EngineKind, hip_runtime, select,
};

fn rocm(gpus: &[HipGpu]) -> Vec<Device> {
    hip_runtime(&Machine::new().rocm(gpus).system()).expect("devices are found")
}

fn chosen(gpus: &[HipGpu], index: DeviceIndex) -> Result<u32, DeviceUnavailable> {
    chosen_for(EngineKind::Native, gpus, index)
}

fn chosen_for(
    engine: EngineKind,
    gpus: &[HipGpu],
    index: DeviceIndex,
) -> Result<u32, DeviceUnavailable> {
    select(rocm(gpus), index, DeviceKind::Rocm, engine).map(|device| device.index)
}

#[test]
fn an_index_selects_its_device_or_is_an_error() {
    let two = [MI300X, amd("AMD Instinct MI210", "gfx90a", 4, 60)];
    assert_eq!(chosen(&two, DeviceIndex::Index(0)), Ok(0));
    assert_eq!(chosen(&two, DeviceIndex::Index(1)), Ok(1));
    let refused = chosen(&two, DeviceIndex::Index(2))
        .expect_err("there is no third")
        .to_string();
    assert_eq!(
        refused,
        "no usable rocm device: there is no rocm:2; there is rocm:0 (`AMD Instinct MI300X`), rocm:1 (`AMD Instinct MI210`)"
    );
}

#[test]
fn auto_selects_the_usable_device_with_most_free_memory() {
    let small = amd("AMD Radeon RX 6600", "gfx1032", 3, 8);
    let large = amd("AMD Radeon RX 7900 XTX", "gfx1100", 4, 23);
    let unsupported = amd("AMD Instinct MI50", "gfx906", 5, 32);
    assert_eq!(chosen(&[small, large], DeviceIndex::Auto), Ok(1));
    assert_eq!(chosen(&[large, small], DeviceIndex::Auto), Ok(0));
    assert_eq!(
        chosen(&[unsupported, small, large], DeviceIndex::Auto),
        Ok(2)
    );
    let integrated = HipGpu {
        integrated: true,
        ..amd("AMD Radeon Graphics", "gfx1036", 2, 23)
    };
    assert_eq!(
        chosen(&[integrated, large], DeviceIndex::Auto),
        Ok(1),
        "discrete before integrated"
    );
    assert_eq!(chosen(&[large, integrated], DeviceIndex::Auto), Ok(0));
}

#[test]
fn unusable_devices_are_errors_with_their_reasons() {
    let gpus = [
        amd("AMD Instinct MI50", "gfx906", 3, 32),
        amd("AMD Instinct MI355X", "gfx950", 4, 280),
    ];
    let automatic = chosen(&gpus, DeviceIndex::Auto).expect_err("none is usable");
    assert_eq!(automatic.reasons.len(), 2);
    assert!(
        automatic.reasons[1].starts_with(
            "rocm:1 (`AMD Instinct MI355X`) is unusable by burn: burn 0.21 does not support gfx950"
        ),
        "{automatic}"
    );
    let explicit = chosen(&gpus, DeviceIndex::Index(1))
        .expect_err("it is unusable")
        .to_string();
    assert!(
        explicit.contains("rocm:1 (`AMD Instinct MI355X`) is unusable by burn"),
        "{explicit}"
    );
}

/// PyTorch has kernels for GPUs that burn does not know.
#[test]
fn an_engine_that_is_a_process_may_use_what_burn_cannot() {
    let gpus = [
        amd("AMD Instinct MI50", "gfx906", 3, 32),
        amd("AMD Instinct MI355X", "gfx950", 4, 280),
        MI300X,
    ];
    let process = |gpus: &[HipGpu], index| chosen_for(EngineKind::Process, gpus, index);
    assert_eq!(
        process(&gpus, DeviceIndex::Auto),
        Ok(1),
        "the one with most free memory"
    );
    assert_eq!(
        chosen(&gpus, DeviceIndex::Auto),
        Ok(2),
        "the only one that burn can use"
    );
    assert_eq!(process(&gpus, DeviceIndex::Index(0)), Ok(0));
    assert!(
        chosen(&gpus, DeviceIndex::Index(0))
            .is_err_and(|why| why.to_string().contains("burn 0.21"))
    );
    assert!(
        process(&gpus, DeviceIndex::Index(3))
            .is_err_and(|why| why.to_string().contains("there is no rocm:3"))
    );
}

/// Each is something that burn needs and that no engine asks for.
#[test]
fn an_incomplete_installation_concerns_burn_alone() {
    let hip = Hip {
        gpus: &[MI300X],
        status: 0,
        lacking: &["hipMallocAsync"],
        extra: &[],
    };
    let old = Cuda {
        gpus: &[CudaGpu {
            capability: (5, 0),
            ..H100
        }],
        status: 0,
        version: 13000,
        lacking: &[],
    };
    let rows = [
        (
            "hiprtc",
            DeviceKind::Rocm,
            Machine::new().library("lib/libamdhip64.so", &hip.build()),
        ),
        ("hipconfig", DeviceKind::Rocm, Machine::new().hip(&hip)),
        (
            "libnvrtc",
            DeviceKind::Cuda,
            Machine::new().library("lib/libcuda.so", &old.build()),
        ),
        (
            "does not compile for sm_50",
            DeviceKind::Cuda,
            Machine::new().cuda_driver(&old).cuda_toolkit(),
        ),
    ];
    for (lacking, kind, machine) in rows {
        let selected =
            |engine| select(machine.inventory().devices, DeviceIndex::Auto, kind, engine);
        let burn = selected(EngineKind::Native)
            .expect_err("burn cannot use it")
            .to_string();
        assert!(burn.contains(lacking), "{burn}");
        assert_eq!(
            selected(EngineKind::Process).map(|device| device.index),
            Ok(0),
            "{lacking}"
        );
    }
}

#[test]
fn other_kinds_are_ignored() {
    let machine = Machine::new().rocm(&[MI300X]).cuda(&[H100]);
    let all = machine.inventory().devices;
    for kind in [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Rocm] {
        assert_eq!(
            select(all.clone(), DeviceIndex::Auto, kind, EngineKind::Native)
                .map(|device| device.kind),
            Ok(kind)
        );
    }
    let cpu_only = Machine::new().inventory().devices;
    let unavailable = select(
        cpu_only,
        DeviceIndex::Auto,
        DeviceKind::Rocm,
        EngineKind::Native,
    )
    .expect_err("there is none");
    assert_eq!(unavailable.kind, DeviceKind::Rocm);
}

#[test]
fn an_index_is_printed_as_it_is_parsed() {
    for text in ["auto", "0", "17"] {
        assert_eq!(
            text.parse::<DeviceIndex>().map(|index| index.to_string()),
            Ok(text.to_owned())
        );
    }
    for text in ["", "-1", "+1", "1.0", "Auto", "99999999999", "gpu"] {
        assert!(text.parse::<DeviceIndex>().is_err(), "{text}");
    }
}

#[test]
fn reasons_are_joined() {
    let merged = DeviceUnavailable::new(DeviceKind::Rocm, "one")
        .and(DeviceUnavailable::new(DeviceKind::Rocm, "two"))
        .and(DeviceUnavailable::new(DeviceKind::Cuda, "one"));
    assert_eq!(merged.to_string(), "no usable rocm device: one; two");
}
