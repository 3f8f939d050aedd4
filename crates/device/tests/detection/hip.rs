//! The HIP path: the properties read, and what makes a device unusable or unavailable.

mod libraries;

use crate::fake_library::{Hip, HipGpu, MI300X, amd};
use crate::machine::Machine;
use testgen_device::{Device, hip_runtime, memory_in};

const WHOLE: Hip<'_> = Hip {
    gpus: &[MI300X],
    status: 0,
    lacking: &[],
    extra: &[],
};

fn devices(machine: &Machine) -> Vec<Device> {
    hip_runtime(&machine.system()).expect("devices are found")
}

fn unavailable(machine: &Machine) -> String {
    hip_runtime(&machine.system())
        .expect_err("no device is found")
        .to_string()
}

/// The problems of the first device; empty when it is usable.
fn problems(machine: &Machine) -> String {
    devices(machine)[0]
        .unusable_by_burn
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[test]
fn the_properties_are_read_at_their_offsets() {
    let integrated = HipGpu {
        integrated: true,
        ..amd("AMD Radeon Graphics", "gfx1036", 0x0c, 8)
    };
    let machine = Machine::new().rocm(&[MI300X, integrated]);
    let [first, second] = &devices(&machine)[..] else {
        panic!("two devices")
    };
    assert_eq!(
        (
            first.index,
            first.name.as_str(),
            first.architecture.as_deref()
        ),
        (0, "AMD Instinct MI300X", Some("gfx942"))
    );
    assert_eq!(
        (first.total_memory, first.free_memory),
        (Some(192 << 30), Some(190 << 30))
    );
    assert_eq!(
        (first.pci_address.as_deref(), first.uuid.as_deref()),
        (Some("0000:03:00.0"), Some("GPU-0000000000000003"))
    );
    assert_eq!(
        (first.integrated, first.runtime_version.as_deref()),
        (false, Some("7.0.51831"))
    );
    assert_eq!(
        (second.index, second.integrated, second.free_memory),
        (1, true, Some(8 << 30))
    );
    assert_eq!(
        memory_in(&machine.system(), second),
        Some((8 << 30, 10 << 30))
    );
}

#[test]
fn a_complete_installation_has_no_problem() {
    for arch in [
        "gfx1030", "gfx1100", "gfx1201", "gfx908", "gfx90a", "gfx940", "gfx942",
    ] {
        assert_eq!(
            problems(&Machine::new().rocm(&[amd("AMD", arch, 3, 16)])),
            "",
            "{arch}"
        );
    }
}

#[test]
fn what_burn_does_not_support_is_unusable() {
    for arch in [
        "gfx950",
        "gfx906",
        "gfx900",
        "gfx803",
        "gfx90c",
        "gfx9-4-generic",
    ] {
        let problems = problems(&Machine::new().rocm(&[amd("AMD", arch, 3, 16)]));
        assert!(
            problems.contains(&format!("does not support {arch}")),
            "{arch}: {problems}"
        );
    }
    assert!(
        problems(&Machine::new().rocm(&[amd("AMD", "", 3, 16)])).contains("no gfx architecture")
    );
    let odd = HipGpu {
        warp: 64,
        ..amd("AMD", "gfx1100", 3, 16)
    };
    assert!(problems(&Machine::new().rocm(&[odd])).contains("wave size 64"));
}

#[test]
fn a_missing_library_and_a_missing_device_have_different_reasons() {
    let rows = [
        ("no library", Machine::new(), "no libamdhip64.so"),
        (
            "no library, but a GPU",
            Machine::new().kernel_amd(1, 3, 90402),
            "the kernel lists 1 AMD GPU (gfx942 at 0000:03:00.0)",
        ),
        (
            "no device",
            Machine::new().rocm(&[]),
            "there is no AMD GPU on this machine",
        ),
        (
            "no device, but a GPU",
            Machine::new().rocm(&[]).kernel_amd(1, 3, 90402),
            "groups render and video",
        ),
        (
            "an error",
            Machine::new().hip(&Hip {
                status: 100,
                ..WHOLE
            }),
            "error 100, hipErrorNoDevice",
        ),
        (
            "NVIDIA only",
            Machine::new().rocm(&[HipGpu {
                name: "NVIDIA A100",
                arch: "",
                ..MI300X
            }]),
            "HIP on the NVIDIA platform",
        ),
    ];
    for (name, machine, expected) in rows {
        assert!(
            unavailable(&machine).contains(expected),
            "{name}: {}",
            unavailable(&machine)
        );
    }
}

#[test]
fn a_variable_is_mentioned_only_when_it_can_be_the_cause() {
    let rows = [
        ("ROCR_VISIBLE_DEVICES", "", true),
        ("ROCR_VISIBLE_DEVICES", "-1", true),
        ("ROCR_VISIBLE_DEVICES", "nonsense", true),
        ("ROCR_VISIBLE_DEVICES", "GPU-deadbeefdeadbeef", true),
        ("HIP_VISIBLE_DEVICES", "7", true),
        ("HIP_VISIBLE_DEVICES", "-1", true),
        ("HIP_VISIBLE_DEVICES", "", false),
        ("CUDA_VISIBLE_DEVICES", "-1", true),
    ];
    for (name, value, mentioned) in rows {
        let reason = unavailable(
            &Machine::new()
                .rocm(&[])
                .variable(name, value)
                .kernel_amd(1, 3, 90402),
        );
        assert_eq!(
            reason.contains(&format!("{name}=`{value}`")),
            mentioned,
            "{reason}"
        );
    }
    let overruled = Machine::new()
        .rocm(&[])
        .variable("HIP_VISIBLE_DEVICES", "0")
        .variable("CUDA_VISIBLE_DEVICES", "-1");
    assert!(
        !unavailable(&overruled).contains("CUDA_VISIBLE_DEVICES"),
        "{}",
        unavailable(&overruled)
    );
    let unfiltered = Machine::new()
        .rocm(&[MI300X, MI300X])
        .variable("HIP_VISIBLE_DEVICES", "0");
    assert_eq!(
        devices(&unfiltered).len(),
        2,
        "what the library lists is not filtered again"
    );
}

#[test]
fn missing_headers_are_a_warning_except_on_a_simulation() {
    let warned = |gpu: HipGpu| {
        let machine = Machine::new()
            .hip(&Hip {
                gpus: &[gpu],
                ..WHOLE
            })
            .hipconfig("echo /elsewhere");
        devices(&machine)[0]
            .warnings
            .iter()
            .any(|warning| warning.what.contains("`/elsewhere/include`"))
    };
    assert!(warned(MI300X));
    assert!(!warned(amd("AMD gfx1100 (hip-sim)", "gfx1100", 0, 4)));
    assert!(
        devices(&Machine::new().rocm(&[MI300X]))[0]
            .warnings
            .is_empty()
    );
}

#[test]
fn an_overridden_architecture_is_a_warning_except_on_a_simulation() {
    let warned = |gpu: HipGpu, value: &str| {
        let machine = Machine::new()
            .rocm(&[gpu])
            .variable("HSA_OVERRIDE_GFX_VERSION", value);
        let device = &devices(&machine)[0];
        assert!(device.unusable_by_burn.is_none());
        device.warnings.iter().any(|warning| {
            warning
                .what
                .contains(&format!("HSA_OVERRIDE_GFX_VERSION=`{value}`"))
        })
    };
    assert!(warned(MI300X, "11.0.0"));
    assert!(!warned(MI300X, ""));
    assert!(!warned(
        amd("AMD gfx1100 (hip-sim)", "gfx1100", 0, 4),
        "11.0.0"
    ));
}
