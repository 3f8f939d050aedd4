//! The headers and compiler flags that kernels are compiled with.

use crate::fault::{Fault, Faults};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The headers that kernels include, by name.
pub(crate) const HEADERS: &[(&str, &str)] = &[
    (
        "hip_runtime.h",
        include_str!("../include/hip/hip_runtime.h"),
    ),
    ("hip_fp16.h", include_str!("../include/hip/hip_fp16.h")),
    ("hip_bf16.h", include_str!("../include/hip/hip_bf16.h")),
    (
        "hip_sim_launch.h",
        include_str!("../include/hip/hip_sim_launch.h"),
    ),
    (
        "hip_sim_wmma.h",
        include_str!("../include/hip/hip_sim_wmma.h"),
    ),
];

/// No contraction and no reassociation, so that every host computes the same numbers.
// Contraction and reassociation differ from host to host; that integers wrap and pointers may alias
// is as on a GPU.
const FLAGS: &[&str] = &[
    "-std=gnu++17",
    "-shared",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-stack-protector",
    "-fvisibility=hidden",
    "-nodefaultlibs",
];

/// `-O2` takes a third longer to compile than `-O1`, and kernels run twice as fast.
const OPTIMISED: &str = "-O2";
/// For sources from [`LONG`] on, which take three times as long with `-O2`.
const LESS_OPTIMISED: &str = "-O1";
/// Bytes.
const LONG: usize = 100_000;

/// The flags for compiling `text`.
pub(crate) fn flags(text: &str, faults: &Faults) -> Vec<&'static str> {
    let mut flags = FLAGS.to_vec();
    flags.push(if text.len() < LONG {
        OPTIMISED
    } else {
        LESS_OPTIMISED
    });
    // Converts f16 in hardware, with the same results as the compiler's software routines.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("f16c") {
        flags.push("-mf16c");
    }
    for (fault, flag) in [
        (Fault::HalfFlush, "-DHIP_SIM_HALF_FLUSH"),
        (Fault::HalfTruncate, "-DHIP_SIM_HALF_TRUNCATE"),
    ] {
        if faults.any(|other| *other == fault) {
            flags.push(flag);
        }
    }
    flags
}

/// A number that changes whenever this crate would compile a kernel differently.
pub(crate) fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    (
        HEADERS,
        FLAGS,
        OPTIMISED,
        LESS_OPTIMISED,
        LONG,
        // Another translation of the same source is another kernel.
        include_str!("program/rewrite.rs"),
    )
        .hash(&mut hasher);
    hasher.finish()
}
