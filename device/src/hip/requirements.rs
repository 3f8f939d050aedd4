//! What burn's ROCm backend needs, so that opening it cannot abort the process.
//!
//! A missing library or symbol panics inside an `extern "C"` wrapper of cubecl-hip-sys (`dynamic.rs`), which aborts.
//! An architecture that cubecl does not know has wave size 0 there and fails an assertion (cubecl-hip `runtime.rs`).

use super::{PATH, config, search};
use crate::library::SharedLibrary;
use crate::{Problem, System};

/// What cubecl-hip 0.10 calls in `libamdhip64`.
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
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipModuleLoadData",
    "hipSetDevice",
    "hipSetDeviceFlags",
    "hipStreamCreateWithFlags",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
];

/// What cubecl-hip 0.10 calls in `libhiprtc`.
pub const HIPRTC_SYMBOLS: &[&str] = &[
    "hiprtcCompileProgram",
    "hiprtcCreateProgram",
    "hiprtcGetCode",
    "hiprtcGetCodeSize",
    "hiprtcGetProgramLog",
    "hiprtcGetProgramLogSize",
];

/// The architectures that cubecl knows, and the wave size that it insists on.
const WAVE_SIZES: &[(&str, u32)] = &[("gfx10", 32), ("gfx11", 32), ("gfx12", 32), ("gfx94", 64)];
const EXACT_WAVE_SIZES: &[(&str, u32)] = &[("gfx908", 64), ("gfx90a", 64)];

/// Problems of the installation, which concern every device of it, and warnings, which concern every real one.
pub(super) fn problems(system: &System, hip: &SharedLibrary) -> (Vec<Problem>, Vec<Problem>) {
    let mut problems = Vec::new();
    problems.extend(missing_symbols(hip, HIP_SYMBOLS));
    match search::open(system, "hiprtc") {
        Ok(hiprtc) => problems.extend(missing_symbols(&hiprtc, HIPRTC_SYMBOLS)),
        Err(not_opened) if not_opened.broken.is_empty() => {
            problems.push(Problem::new(
                "libhiprtc.so, which compiles the kernels, is not found",
                "install ROCm's hiprtc, or set ROCM_PATH",
            ));
        }
        Err(not_opened) => problems.push(Problem::new(not_opened.broken.join(", "), "reinstall ROCm's hiprtc")),
    }
    let warning = match config::include_prefix(system) {
        Ok(prefix) => header_warning(system, &prefix),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    (problems, warning.into_iter().collect())
}

/// Whether the compiler brings the headers itself differs between versions of ROCm, so this is no verdict.
fn header_warning(system: &System, prefix: &str) -> Option<Problem> {
    let absent = !system.path(format!("{prefix}/include/hip/hip_runtime.h")).exists();
    let what = format!("`{prefix}/include` (from hipconfig) has no hip/hip_runtime.h: kernels may not compile");
    absent.then(|| Problem::new(what, "install ROCm's HIP headers (hip-dev)"))
}

fn missing_symbols(library: &SharedLibrary, symbols: &[&str]) -> Option<Problem> {
    let missing = library.missing(symbols);
    let what = format!("`{}` lacks `{}`, without which burn aborts", library.path(), missing.join("`, `"));
    (!missing.is_empty()).then(|| Problem::new(what, "install ROCm 6.2 or newer"))
}

/// The problem of one device, when cubecl would not accept what it is.
pub(super) fn architecture_problem(architecture: Option<&str>, warp_size: u32) -> Option<Problem> {
    let Some(architecture) = architecture else {
        return Some(Problem::new(format!("{PATH} gives no gfx architecture"), "install ROCm 6.2 or newer"));
    };
    let exact = EXACT_WAVE_SIZES.iter().find(|(name, _)| *name == architecture);
    let family = WAVE_SIZES.iter().find(|(family, _)| architecture.starts_with(family));
    match exact.or(family) {
        None => Some(Problem::new(
            format!("burn 0.21 does not support {architecture}, and panics on it"),
            "use a GPU of gfx10*, gfx11*, gfx12*, gfx908, gfx90a or gfx94*",
        )),
        Some((_, size)) if *size != warp_size => Some(Problem::new(
            format!("the runtime says wave size {warp_size} for {architecture}, burn insists on {size}"),
            "unset HSA_OVERRIDE_GFX_VERSION, or set it to the GPU's own family",
        )),
        Some(_) => None,
    }
}
