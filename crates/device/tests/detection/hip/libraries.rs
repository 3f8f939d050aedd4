//! The libraries of HIP: where they are searched, and the symbols and versions they must have.

use super::{WHOLE, devices, problems, unavailable};
use crate::fake_library::{Hip, MI300X, amd, hiprtc};
use crate::machine::Machine;
use testgen_device::{HIP_SYMBOLS, HIPRTC_SYMBOLS};

#[test]
fn libraries_are_found_where_burn_finds_them() {
    let library = WHOLE.build();
    let places = [
        ("ROCM_PATH", "/opt/rocm", "opt/rocm/lib/libamdhip64.so"),
        ("ROCM_PATH", "/opt/rocm", "opt/rocm/libamdhip64.so"),
        ("HIP_PATH", "/usr/hip", "usr/hip/lib/libamdhip64.so"),
        ("HIP_PATH", "/usr/hip", "usr/hip/libamdhip64.so.1"),
        ("UNRELATED", "", "lib/libamdhip64.so.0"),
    ];
    for (variable, value, path) in places {
        let machine = Machine::new()
            .variable(variable, value)
            .library(path, &library);
        assert_eq!(devices(&machine).len(), 1, "{path}");
    }
    let unreachable = Machine::new().library("opt/rocm-7.0/lib/libamdhip64.so", &library);
    assert!(
        unavailable(&unreachable).contains("set ROCM_PATH=/opt/rocm-7.0"),
        "{}",
        unavailable(&unreachable)
    );
}

#[test]
fn rocm_path_comes_before_the_loader() {
    let other = Hip {
        gpus: &[amd("AMD Radeon RX 6800", "gfx1030", 5, 16)],
        status: 0,
        lacking: &[],
        extra: &[],
    };
    let machine = Machine::new()
        .rocm(&[MI300X])
        .variable("ROCM_PATH", "/other")
        .library("other/lib/libamdhip64.so", &other.build());
    assert_eq!(
        devices(&machine)[0].architecture.as_deref(),
        Some("gfx1030")
    );
}

/// Each of the 28 functions, one after the other: burn aborts when one is missing.
#[test]
fn each_missing_symbol_is_named() {
    for symbol in HIP_SYMBOLS
        .iter()
        .filter(|symbol| !["hipGetDeviceCount", "hipSetDevice", "hipMemGetInfo"].contains(symbol))
    {
        let machine = Machine::new()
            .hip(&Hip {
                lacking: &[symbol],
                ..WHOLE
            })
            .hipconfig("echo /opt/rocm");
        let text = if *symbol == "hipGetDevicePropertiesR0600" {
            unavailable(&machine)
        } else {
            problems(&machine)
        };
        assert!(text.contains(symbol), "{symbol}: {text}");
    }
    for symbol in HIPRTC_SYMBOLS {
        let machine = Machine::new()
            .rocm(&[MI300X])
            .library("lib/libhiprtc.so", &hiprtc(&[symbol]));
        assert!(problems(&machine).contains(symbol), "{symbol}");
    }
    assert_eq!(HIP_SYMBOLS.len() + HIPRTC_SYMBOLS.len(), 29);
}

#[test]
fn a_library_that_is_too_old_is_unavailable_and_its_missing_symbols_are_listed() {
    let machine = Machine::new().hip(&Hip {
        lacking: &["hipGetDevicePropertiesR0600", "hipMallocAsync"],
        ..WHOLE
    });
    let reason = unavailable(&machine);
    assert!(
        reason.contains("too old")
            && reason.contains("hipMallocAsync")
            && reason.contains("ROCm 6.2"),
        "{reason}"
    );
}

#[test]
fn without_hiprtc_it_is_unusable() {
    let machine = Machine::new()
        .library("lib/libamdhip64.so", &WHOLE.build())
        .hipconfig("echo /opt/rocm");
    assert!(
        problems(&machine).contains("libhiprtc.so"),
        "{}",
        problems(&machine)
    );
}

#[test]
fn hipconfig_must_print_a_folder_and_nothing_else() {
    assert!(problems(&Machine::new().hip(&WHOLE)).contains("hipconfig is not on PATH"));
    let rows = [
        ("exit 3", "fails"),
        ("echo /opt/rocm; exit 1", "fails"),
        ("true", "prints nothing"),
        ("echo /opt/rocm; echo warning >&2", "`warning`"),
        ("echo /opt/rocm; echo >&2", "writes to standard error"),
        // More than a pipe holds.
        ("printf '%99999s' x >&2", "writes to standard error"),
        ("test \"$1\" = -p && echo /opt/rocm", ""),
    ];
    for (script, expected) in rows {
        let problems = problems(&Machine::new().hip(&WHOLE).hipconfig(script));
        assert!(
            problems.contains(expected) && problems.is_empty() == expected.is_empty(),
            "{script}: {problems}"
        );
    }
}

#[test]
fn files_that_are_not_libraries_are_reported_and_not_loaded() {
    let whole = std::fs::read(WHOLE.build()).expect("the library is read");
    let cut = |length: usize| whole[..length].to_vec();
    for (name, bytes) in [
        ("text", b"not a library".repeat(20)),
        ("empty", Vec::new()),
        ("cut", cut(whole.len() / 3)),
        ("header", cut(64)),
        ("stub", cut(70)),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("garbage"), bytes).expect("the file is written");
        let machine = Machine::new().library("lib/libamdhip64.so", &folder.path().join("garbage"));
        assert!(
            unavailable(&machine).contains("does not load"),
            "{name}: {}",
            unavailable(&machine)
        );
    }
}

#[test]
fn a_broken_library_does_not_hide_a_whole_one() {
    let machine = Machine::new()
        .rocm(&[MI300X])
        .variable("ROCM_PATH", "/broken")
        .file("broken/lib/libamdhip64.so", "garbage");
    assert_eq!(devices(&machine).len(), 1);
}
