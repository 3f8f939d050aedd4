//! The libraries, symbols and programs that burn's ROCm backend needs, so that opening it cannot
//! abort the process.
//!
//! A missing library or symbol panics inside an `extern "C"` wrapper of cubecl-hip-sys
//! (`dynamic.rs`), which aborts the process. An unknown architecture gets wave size 0 in cubecl and
//! fails an assertion (cubecl-hip `runtime.rs`).

use super::{config, search};
use crate::device::{DetectionPath, DeviceProblem};
use crate::library::SharedLibrary;
use crate::system::System;

/// The functions of `libamdhip64` that cubecl-hip 0.10 calls, and the one that copies between devices.
pub const HIP_SYMBOLS: &[&str] = &[
    "hipEventCreateWithFlags",
    "hipEventDestroy",
    "hipEventRecord",
    "hipEventSynchronize",
    "hipFreeAsync",
    "hipFreeHost",
    "hipGetDeviceCount",
    "hipGetDevicePropertiesR0600",
    "hipHostMalloc",
    "hipMallocAsync",
    "hipMemGetInfo",
    "hipMemcpy2DAsync",
    "hipMemcpyDtoHAsync",
    "hipMemcpyHtoDAsync",
    "hipMemcpyPeer",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipModuleLoadData",
    "hipSetDevice",
    "hipSetDeviceFlags",
    "hipStreamCreateWithFlags",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
];

/// The functions of `libhiprtc` that cubecl-hip 0.10 calls.
pub const HIPRTC_SYMBOLS: &[&str] = &[
    "hiprtcCompileProgram",
    "hiprtcCreateProgram",
    "hiprtcGetCode",
    "hiprtcGetCodeSize",
    "hiprtcGetProgramLog",
    "hiprtcGetProgramLogSize",
];

/// The architecture families that cubecl knows, and the wave size that it requires.
const WAVE_SIZES: &[(&str, u32)] = &[("gfx10", 32), ("gfx11", 32), ("gfx12", 32), ("gfx94", 64)];
/// Of gfx90x cubecl knows only these two.
// gfx900, gfx906 and gfx90c must not match by prefix.
const EXACT_WAVE_SIZES: &[(&str, u32)] = &[("gfx908", 64), ("gfx90a", 64)];

/// The ROCm runtime reports this architecture for every GPU, whatever the silicon is.
const ARCHITECTURE_OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

/// The state of the installation, which concerns all its devices.
pub(super) struct HipInstallation {
    /// Reasons why burn cannot use any of them.
    pub(super) problems: Vec<DeviceProblem>,
    /// Limitations of every real device.
    pub(super) warnings: Vec<DeviceProblem>,
}

/// Checks libraries, symbols, `hipconfig` and variables.
pub(super) fn of_installation(system: &System, hip: &SharedLibrary) -> HipInstallation {
    let mut problems = Vec::new();
    problems.extend(missing_symbols(hip, HIP_SYMBOLS));
    match search::open(system, "hiprtc") {
        Ok(hiprtc) => problems.extend(missing_symbols(&hiprtc, HIPRTC_SYMBOLS)),
        // A library that is there and does not open needs another help than one that is missing.
        Err(not_opened) if not_opened.broken.is_empty() => {
            problems.push(DeviceProblem::new(
                "libhiprtc.so, which compiles the kernels, is not found",
                "install ROCm's hiprtc, or set ROCM_PATH",
            ));
        }
        Err(not_opened) => problems.push(DeviceProblem::new(
            not_opened.broken.join(", "),
            "reinstall ROCm's hiprtc",
        )),
    }
    let header = match config::include_prefix(system) {
        Ok(prefix) => header_warning(system, &prefix),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    HipInstallation {
        problems,
        warnings: header.into_iter().chain(override_warning(system)).collect(),
    }
}

/// Kernels that are compiled for another architecture may not load, or may compute wrong numbers.
fn override_warning(system: &System) -> Option<DeviceProblem> {
    let value = system
        .variable(ARCHITECTURE_OVERRIDE)
        .filter(|value| !value.is_empty())?;
    let what = format!(
        "{ARCHITECTURE_OVERRIDE}=`{value}` replaces the architecture that the ROCm runtime reports"
    );
    Some(DeviceProblem::new(
        what,
        "unset it unless this GPU needs it, and first of all when numbers are wrong",
    ))
}

/// A warning only: some versions of ROCm have the headers built into the compiler.
fn header_warning(system: &System, prefix: &str) -> Option<DeviceProblem> {
    let absent = !system
        .path(format!("{prefix}/include/hip/hip_runtime.h"))
        .exists();
    let what = format!(
        "`{prefix}/include` (from hipconfig) has no hip/hip_runtime.h: kernels may not compile"
    );
    absent.then(|| DeviceProblem::new(what, "install ROCm's HIP headers (hip-dev)"))
}

fn missing_symbols(library: &SharedLibrary, symbols: &[&str]) -> Option<DeviceProblem> {
    let missing = library.missing(symbols);
    let what = format!(
        "`{}` lacks `{}`, without which burn aborts",
        library.path(),
        missing.join("`, `")
    );
    (!missing.is_empty()).then(|| DeviceProblem::new(what, "install ROCm 6.2 or newer"))
}

/// The problem of one device whose architecture cubecl does not accept.
pub(super) fn architecture_problem(
    architecture: Option<&str>,
    warp_size: u32,
) -> Option<DeviceProblem> {
    let Some(architecture) = architecture else {
        return Some(DeviceProblem::new(
            format!("{} reports no gfx architecture", DetectionPath::HipRuntime),
            "install ROCm 6.2 or newer",
        ));
    };
    let exact = EXACT_WAVE_SIZES
        .iter()
        .find(|(name, _)| *name == architecture);
    let family = WAVE_SIZES
        .iter()
        .find(|(family, _)| architecture.starts_with(family));
    match exact.or(family) {
        None => Some(DeviceProblem::new(
            format!("burn 0.21 does not support {architecture}, and panics on it"),
            "use a GPU of gfx10*, gfx11*, gfx12*, gfx908, gfx90a or gfx94*",
        )),
        Some((_, size)) if *size != warp_size => Some(DeviceProblem::new(
            format!(
                "the runtime reports wave size {warp_size} for {architecture}, burn requires {size}"
            ),
            "unset HSA_OVERRIDE_GFX_VERSION, or set it to the GPU's own family",
        )),
        Some(_) => None,
    }
}
