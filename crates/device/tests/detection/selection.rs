//! The selection of a device.

use crate::fake_library::{H100, HipGpu, MI300X, amd};
use crate::machine::Machine;
use testgen_device::{Device, DeviceIndex, DeviceKind, DeviceUnavailable, hip_runtime, select};

fn rocm(gpus: &[HipGpu]) -> Vec<Device> {
    hip_runtime(&Machine::new().rocm(gpus).system()).expect("devices are found")
}

fn chosen(gpus: &[HipGpu], index: DeviceIndex) -> Result<u32, DeviceUnavailable> {
    select(rocm(gpus), index, DeviceKind::Rocm).map(|device| device.index)
}

#[test]
fn an_index_selects_its_device_or_is_an_error() {
    let two = [MI300X, amd("AMD Instinct MI210", "gfx90a", 4, 60)];
    assert_eq!(chosen(&two, DeviceIndex::Index(0)), Ok(0));
    assert_eq!(chosen(&two, DeviceIndex::Index(1)), Ok(1));
    let refused = chosen(&two, DeviceIndex::Index(2)).expect_err("there is no third").to_string();
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
    assert_eq!(chosen(&[unsupported, small, large], DeviceIndex::Auto), Ok(2));
    let integrated = HipGpu { integrated: true, ..amd("AMD Radeon Graphics", "gfx1036", 2, 23) };
    assert_eq!(chosen(&[integrated, large], DeviceIndex::Auto), Ok(1), "discrete before integrated");
    assert_eq!(chosen(&[large, integrated], DeviceIndex::Auto), Ok(0));
}

#[test]
fn unusable_devices_are_errors_with_their_reasons() {
    let gpus = [amd("AMD Instinct MI50", "gfx906", 3, 32), amd("AMD Instinct MI355X", "gfx950", 4, 280)];
    let automatic = chosen(&gpus, DeviceIndex::Auto).expect_err("none is usable");
    assert_eq!(automatic.reasons.len(), 2);
    assert!(
        automatic.reasons[1]
            .starts_with("rocm:1 (`AMD Instinct MI355X`) is unusable: burn 0.21 does not support gfx950"),
        "{automatic}"
    );
    let explicit = chosen(&gpus, DeviceIndex::Index(1)).expect_err("it is unusable").to_string();
    assert!(explicit.contains("rocm:1 (`AMD Instinct MI355X`) is unusable"), "{explicit}");
}

#[test]
fn other_kinds_are_ignored() {
    let machine = Machine::new().rocm(&[MI300X]).cuda(&[H100]);
    let all = machine.inventory().devices;
    for kind in [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Rocm] {
        assert_eq!(select(all.clone(), DeviceIndex::Auto, kind).map(|device| device.kind), Ok(kind));
    }
    let cpu_only = Machine::new().inventory().devices;
    let unavailable = select(cpu_only, DeviceIndex::Auto, DeviceKind::Rocm).expect_err("there is none");
    assert_eq!(unavailable.kind, DeviceKind::Rocm);
}

#[test]
fn an_index_is_printed_as_it_is_parsed() {
    for text in ["auto", "0", "17"] {
        assert_eq!(text.parse::<DeviceIndex>().map(|index| index.to_string()), Ok(text.to_owned()));
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
