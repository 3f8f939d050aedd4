//! The libraries, symbols and headers that burn's CUDA backend needs to compile and launch a
//! kernel.
//!
//! cudarc panics on a missing library or symbol, cubecl-cuda when it finds no toolkit folder. Both
//! panic on cubecl's device thread, and the caller only sees that no answer comes: so they are
//! checked before burn opens the device.

use super::driver::CudaDriver;
use super::{compiler, search};
use crate::device::{Device, DeviceProblem, Unusable};
use crate::library::SharedLibrary;
use crate::system::System;

/// The functions of `libcuda` that cubecl-cuda 0.10 calls on every device.
pub(super) const CUDA_SYMBOLS: &[&str] = &[
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncSetAttribute",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAllocAsync",
    "cuMemAllocHost_v2",
    "cuMemAlloc_v2",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuStreamCreate",
    "cuStreamWaitEvent",
];

const NVRTC_SYMBOLS: &[&str] = &[
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
];

const LIBRARY_REMEDY: &str = "install the CUDA toolkit's NVRTC (pip: nvidia-cuda-nvrtc) and put its folder in LD_LIBRARY_PATH";
const HEADER_REMEDY: &str = "set CUDA_PATH to a CUDA toolkit whose include folder has cuda_runtime.h (with pip, the \
     folder nvidia/cu13 in site-packages)";

/// Sets `unusable_by_burn` and `warnings` of every device.
pub(super) fn assess(
    system: &System,
    driver: &CudaDriver<'_>,
    nvidia: &mut [Device],
    amd: &mut [Device],
) {
    let mut problems: Vec<DeviceProblem> = missing_symbols(driver.library(), CUDA_SYMBOLS)
        .into_iter()
        .collect();
    problems.extend(header_problem(system));
    let compiler = open_compiler(system, &mut problems);
    let warnings = header_warnings(system);
    // A translation layer compiles PTX itself, so the checks of NVRTC's version and architectures
    // do not apply to it.
    for device in amd {
        device.unusable_by_burn = Unusable::from_problems(problems.clone());
        device.warnings.clone_from(&warnings);
    }
    let version = compiler
        .as_ref()
        .and_then(|compiler| version_problem(driver, compiler));
    for device in nvidia {
        let architecture = compiler
            .as_ref()
            .and_then(|compiler| architecture_problem(compiler, device.architecture.as_deref()?));
        let own = version.clone().into_iter().chain(architecture);
        device.unusable_by_burn =
            Unusable::from_problems(problems.iter().cloned().chain(own).collect());
        device.warnings.clone_from(&warnings);
    }
}

fn missing_symbols(library: &SharedLibrary, symbols: &[&str]) -> Option<DeviceProblem> {
    let missing = library.missing(symbols);
    let what = format!(
        "`{}` lacks `{}`, without which burn panics",
        library.path(),
        missing.join("`, `")
    );
    (!missing.is_empty())
        .then(|| DeviceProblem::new(what, "install a driver and a toolkit for CUDA 12 or newer"))
}

fn open_compiler(system: &System, problems: &mut Vec<DeviceProblem>) -> Option<SharedLibrary> {
    match search::open(system, &["nvrtc"]) {
        Ok(library) => {
            problems.extend(missing_symbols(&library, NVRTC_SYMBOLS));
            Some(library)
        }
        Err(not_opened) if not_opened.broken.is_empty() => {
            problems.push(DeviceProblem::new(
                "libnvrtc.so, which compiles the kernels, is not found",
                LIBRARY_REMEDY,
            ));
            None
        }
        Err(not_opened) => {
            problems.push(DeviceProblem::new(
                not_opened.broken.join(", "),
                LIBRARY_REMEDY,
            ));
            None
        }
    }
}

/// NVRTC emits PTX of the version of NVRTC, which an older driver refuses to load.
fn version_problem(driver: &CudaDriver<'_>, compiler: &SharedLibrary) -> Option<DeviceProblem> {
    let (driver_version, version) = (driver.version()?, compiler::version(compiler)?);
    let what = format!(
        "NVRTC {}.{} (`{}`) emits code that the driver, which implements CUDA {}.{}, refuses",
        version.0,
        version.1,
        compiler.path(),
        driver_version.0,
        driver_version.1
    );
    (version > driver_version).then(|| {
        DeviceProblem::new(
            what,
            "update the driver, or put an older NVRTC first in LD_LIBRARY_PATH",
        )
    })
}

fn architecture_problem(compiler: &SharedLibrary, architecture: &str) -> Option<DeviceProblem> {
    let capability: i32 = architecture.strip_prefix("sm_")?.parse().ok()?;
    let supported = compiler::architectures(compiler)?;
    let what = format!(
        "NVRTC (`{}`) does not compile for {architecture}",
        compiler.path()
    );
    (!supported.contains(&capability)).then(|| {
        DeviceProblem::new(
            what,
            "install the NVRTC of a CUDA toolkit that supports this GPU",
        )
    })
}

fn header_problem(system: &System) -> Option<DeviceProblem> {
    let Some(toolkit) = toolkit(system) else {
        return Some(DeviceProblem::new(
            "CUDA_PATH is not set and there is no /usr/local/cuda and no /opt/cuda",
            HEADER_REMEDY,
        ));
    };
    let has_headers = system
        .path(format!("{toolkit}/include/cuda_runtime.h"))
        .exists();
    (!has_headers).then(|| {
        DeviceProblem::new(
            format!("`{toolkit}/include` has no cuda_runtime.h, which every kernel includes"),
            HEADER_REMEDY,
        )
    })
}

/// Headers that only some kernels include.
fn header_warnings(system: &System) -> Vec<DeviceProblem> {
    // Without them these kernels do not compile and the checks that need them fail; the others run.
    // Without the main header the others are missing as well, and one problem is enough.
    let Some(toolkit) = toolkit(system).filter(|_| header_problem(system).is_none()) else {
        return Vec::new();
    };
    let headers = system.path(format!("{toolkit}/include"));
    let lacks = |header: &str, users: &str| {
        format!("`{toolkit}/include` has no {header}: {users} do not compile")
    };
    let mut warnings = Vec::new();
    if !headers.join("crt/mma.h").exists() {
        warnings.push(DeviceProblem::new(
            lacks("crt/mma.h", "tensor-core kernels"),
            "install the whole CUDA toolkit",
        ));
    }
    let barriers = ["cuda/barrier", "cccl/cuda/barrier"];
    if !barriers.iter().any(|header| headers.join(header).exists()) {
        let what = lacks("cccl/cuda/barrier", "kernels with asynchronous copies");
        warnings.push(DeviceProblem::new(
            what,
            "install the whole CUDA toolkit (pip: nvidia-cuda-cccl)",
        ));
    }
    warnings
}

/// The toolkit folder that cubecl-cuda uses (`lib.rs`, `install::cuda_path`).
fn toolkit(system: &System) -> Option<String> {
    if let Some(path) = system.variable("CUDA_PATH") {
        // Even if the folder does not exist: cubecl does not look at other places then either.
        return Some(path.to_owned());
    }
    let folder = ["/usr/local/cuda", "/opt/cuda"]
        .into_iter()
        .find(|path| system.path(path).exists());
    folder
        .or_else(|| system.path("/usr/bin/nvcc").exists().then_some("/usr"))
        .map(str::to_owned)
}
