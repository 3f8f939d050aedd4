//! Everything at once: tables, JSON and contradictions.

use crate::fake_library::{CudaGpu, H100, Hip, HipGpu, MI300X, ZLUDA, amd};
use crate::machine::Machine;

fn contradictions(machine: &Machine) -> Vec<String> {
    machine
        .inventory()
        .contradictions
        .iter()
        .map(|problem| machine.redact(&problem.to_string()))
        .collect()
}

#[test]
fn an_empty_machine_lists_what_is_missing() {
    let machine = Machine::new();
    insta::assert_snapshot!(machine.redact(&machine.inventory().to_string()));
}

#[test]
fn a_full_machine_is_a_table() {
    let integrated = HipGpu {
        integrated: true,
        ..amd("AMD Radeon Graphics", "gfx1036", 0x0c, 8)
    };
    let machine = Machine::new()
        .rocm(&[
            MI300X,
            integrated,
            amd("AMD Instinct MI50", "gfx906", 5, 16),
        ])
        .cuda(&[H100])
        .kernel_amd(1, 3, 90402)
        .kernel_amd(2, 0x0c, 100306)
        .kernel_amd(3, 5, 90006)
        .kernel_nvidia("0000:41:00.0")
        .variable("HIP_VISIBLE_DEVICES", "0,1,2,oops");
    insta::assert_snapshot!(machine.redact(&machine.inventory().to_string()));
}

#[test]
fn the_json_has_every_field() {
    let machine = Machine::new()
        .rocm(&[MI300X])
        .kernel_amd(1, 3, 90402)
        .variable("ROCR_VISIBLE_DEVICES", "0");
    let json = serde_json::to_string_pretty(&machine.inventory()).expect("an inventory is JSON");
    let json = machine.redact(&json);
    insta::assert_snapshot!(json);
}

#[test]
fn consistent_machines_have_no_contradiction() {
    for machine in [
        Machine::new(),
        Machine::new().rocm(&[MI300X]).kernel_amd(1, 3, 90402),
        Machine::new().cuda(&[H100]).kernel_nvidia("0000:41:00.0"),
        Machine::new().rocm(&[amd("AMD gfx1100 (hip-sim)", "gfx1100", 0, 4)]),
        Machine::new()
            .rocm(&[amd("AMD gfx1100 (hip-sim)", "gfx1100", 0, 4)])
            .kernel_amd(1, 3, 90402),
        Machine::new()
            .rocm(&[amd("AMD gfx1100 (hip-sim)", "gfx1100", 0, 4)])
            .file(
                "sys/class/kfd/kfd/topology/nodes/0/properties",
                "simd_count 0\n",
            ),
        Machine::new()
            .cuda(&[])
            .kernel_nvidia("0000:41:00.0")
            .variable("CUDA_VISIBLE_DEVICES", "-1"),
    ] {
        assert!(
            contradictions(&machine).is_empty(),
            "{:?}",
            contradictions(&machine)
        );
    }
}

#[test]
fn contradictions_name_cause_and_remedy() {
    let broken = Hip {
        gpus: &[],
        status: 100,
        lacking: &[],
        extra: &[],
    };
    let eight = || {
        (1..=8).fold(Machine::new().hip(&broken), |machine, node| {
            machine.kernel_amd(node, node, 90402)
        })
    };
    let renders = || {
        (128..=135).fold(eight().file("dev/kfd", ""), |machine, minor| {
            machine.file(&format!("dev/dri/renderD{minor}"), "")
        })
    };
    let overridden = Machine::new()
        .rocm(&[amd("AMD", "gfx1030", 3, 8)])
        .kernel_amd(1, 3, 100304);
    let rows = [
        (
            "no /dev/kfd",
            eight(),
            "the HIP runtime 0; /dev/kfd does not exist: start the container with --device=/dev/kfd",
        ),
        (
            "no render node",
            eight().file("dev/kfd", ""),
            "/dev/dri/renderD128 does not exist",
        ),
        (
            "device files fine",
            renders(),
            "the HIP runtime 0: see above why",
        ),
        (
            "masked",
            eight().variable("ROCR_VISIBLE_DEVICES", "-1"),
            "the visible-device variables hide devices",
        ),
        (
            "phantom",
            Machine::new()
                .rocm(&[MI300X, MI300X])
                .kernel_amd(1, 3, 90402),
            "lists 2 devices, the kernel 1",
        ),
        (
            "no amdgpu",
            Machine::new().pci("0000:03:00.0", "0x1002", "0x120000", "vfio-pci"),
            "(vfio-pci driver), and the kernel's compute list has none",
        ),
        (
            "no nvidia module",
            Machine::new().pci("0000:41:00.0", "0x10de", "0x030200", "nouveau"),
            "modprobe nvidia",
        ),
        (
            "no libcuda",
            Machine::new().kernel_nvidia("0000:41:00.0"),
            "see above why the CUDA driver found none",
        ),
        (
            "override",
            overridden.variable("HSA_OVERRIDE_GFX_VERSION", "10.3.0"),
            "reports rocm:0 as gfx1030, the kernel as gfx1034: unset HSA_OVERRIDE_GFX_VERSION (`10.3.0`)",
        ),
        (
            "hidden",
            Machine::new().file("sys/class/kfd/kfd/topology/nodes/2/name", ""),
            "1 nodes of the kernel's compute list may not be read",
        ),
        (
            "seen twice",
            Machine::new()
                .rocm(&[MI300X])
                .cuda(&[CudaGpu {
                    pci: "0000:03:00.0",
                    ..ZLUDA
                }])
                .kernel_amd(1, 3, 90402),
            "is the same GPU as rocm:0 of the HIP runtime",
        ),
        (
            "invalid variable",
            Machine::new().variable("CUDA_VISIBLE_DEVICES", "0,zero"),
            "`zero` is neither an index nor a UUID",
        ),
    ];
    for (name, machine, expected) in rows {
        let found = contradictions(&machine);
        assert!(
            found
                .iter()
                .any(|contradiction| contradiction.contains(expected)),
            "{name}: {found:#?}"
        );
    }
}
