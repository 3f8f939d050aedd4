//! Shared libraries that imitate drivers. Their answers are compiled in, so that tests need no
//! process environment.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The HIP runtime: `hipGetDeviceCount`, the properties at their real offsets, and every symbol
/// that burn needs.
const HIP: &str = include_str!("fake_library/hip.c");

/// The CUDA driver. Handles are ordinals plus 100, so that one cannot be taken for the other.
const CUDA: &str = include_str!("fake_library/cuda.c");

const NVRTC: &str = include_str!("fake_library/nvrtc.c");

const NVML: &str = include_str!("fake_library/nvml.c");

const PLAIN: &str = "#define STUB(name) int name(void) { return 1; }\nSTUBS\n";

const CUDA_STUBS: &[&str] = &[
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncSetAttribute",
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
const NVRTC_STUBS: &[&str] = &[
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
];
const HIP_DEFINED: &[&str] = &[
    "hipGetDeviceCount",
    "hipSetDevice",
    "hipGetDevicePropertiesR0600",
    "hipMemGetInfo",
];

/// A GPU of the fake HIP runtime.
#[derive(Clone, Copy)]
pub(crate) struct HipGpu {
    pub(crate) name: &'static str,
    pub(crate) arch: &'static str,
    pub(crate) warp: u32,
    pub(crate) integrated: bool,
    pub(crate) bus: u8,
    pub(crate) free_gib: u64,
}

/// A GPU with the wave size of its architecture.
pub(crate) fn amd(name: &'static str, arch: &'static str, bus: u8, free_gib: u64) -> HipGpu {
    let warp = if arch.starts_with("gfx9") { 64 } else { 32 };
    HipGpu {
        name,
        arch,
        warp,
        integrated: false,
        bus,
        free_gib,
    }
}

pub(crate) const MI300X: HipGpu = HipGpu {
    name: "AMD Instinct MI300X",
    arch: "gfx942:sramecc+:xnack-",
    warp: 64,
    integrated: false,
    bus: 3,
    free_gib: 190,
};

/// A GPU of the fake CUDA driver.
#[derive(Clone, Copy)]
pub(crate) struct CudaGpu {
    pub(crate) name: &'static str,
    pub(crate) capability: (u32, u32),
    pub(crate) pci: &'static str,
    pub(crate) free_gib: u64,
}

pub(crate) const H100: CudaGpu = CudaGpu {
    name: "NVIDIA H100 80GB HBM3",
    capability: (9, 0),
    pci: "0000:41:00.0",
    free_gib: 78,
};
pub(crate) const ZLUDA: CudaGpu = CudaGpu {
    name: "AMD Radeon RX 7900 XTX [ZLUDA]",
    capability: (8, 8),
    pci: "0000:03:00.0",
    free_gib: 23,
};

/// The contents of a fake HIP runtime.
pub(crate) struct Hip<'a> {
    pub(crate) gpus: &'a [HipGpu],
    pub(crate) status: u32,
    pub(crate) lacking: &'a [&'a str],
    /// Symbols that a real HIP runtime does not have.
    pub(crate) extra: &'a [&'a str],
}

impl Hip<'_> {
    /// Compiles the library; equal sources are compiled once.
    pub(crate) fn build(&self) -> PathBuf {
        let device = |gpu: &HipGpu| {
            let (bytes, integrated) = (gpu.free_gib << 30, u32::from(gpu.integrated));
            format!(
                "{{\"{}\",\"{}\",{},{integrated},{},{}ul,{bytes}ul,\"00000000000000{:02x}\"}}",
                gpu.name,
                gpu.arch,
                gpu.warp,
                gpu.bus,
                (gpu.free_gib + 2) << 30,
                gpu.bus
            )
        };
        let devices: Vec<String> = std::iter::once("{0}".to_owned())
            .chain(self.gpus.iter().map(device))
            .collect();
        let stubs = testgen_device::HIP_SYMBOLS
            .iter()
            .filter(|symbol| !HIP_DEFINED.contains(symbol) && !self.lacking.contains(symbol))
            .chain(self.extra);
        let without = if self.lacking.contains(&"hipGetDevicePropertiesR0600") {
            "#define WITHOUT_PROPERTIES\n"
        } else {
            ""
        };
        let source = format!("{without}{HIP}")
            .replace("STUBS", &stub_calls(stubs))
            .replace("DEVICES", &devices.join(","));
        compile(&source.replace("STATUS", &self.status.to_string()))
    }
}

/// `libhiprtc` without the symbols in `lacking`.
pub(crate) fn hiprtc(lacking: &[&str]) -> PathBuf {
    let symbols = testgen_device::HIPRTC_SYMBOLS
        .iter()
        .filter(|symbol| !lacking.contains(symbol));
    compile(&PLAIN.replace("STUBS", &stub_calls(symbols)))
}

/// The contents of a fake CUDA driver.
pub(crate) struct Cuda<'a> {
    pub(crate) gpus: &'a [CudaGpu],
    pub(crate) status: u32,
    pub(crate) version: u32,
    pub(crate) lacking: &'a [&'a str],
}

impl Cuda<'_> {
    /// Compiles the library; equal sources are compiled once.
    pub(crate) fn build(&self) -> PathBuf {
        let device = |gpu: &CudaGpu| {
            let (major, minor) = gpu.capability;
            format!(
                "{{\"{}\",{major},{minor},0,\"{}\",{}ul,{}ul}}",
                gpu.name,
                gpu.pci,
                (gpu.free_gib + 2) << 30,
                gpu.free_gib << 30
            )
        };
        let devices: Vec<String> = std::iter::once("{0}".to_owned())
            .chain(self.gpus.iter().map(device))
            .collect();
        let stubs = CUDA_STUBS
            .iter()
            .filter(|symbol| !self.lacking.contains(symbol));
        let mut source = CUDA
            .replace("STUBS", &stub_calls(stubs))
            .replace("DEVICES", &devices.join(","));
        for symbol in self.lacking {
            source = source.replace(
                &format!("int {symbol}("),
                &format!("static int absent_{symbol}("),
            );
        }
        compile(
            &source
                .replace("STATUS", &self.status.to_string())
                .replace("VERSION", &self.version.to_string()),
        )
    }
}

/// `libnvrtc` of a version, such as 13000, for some compute capabilities.
pub(crate) fn nvrtc(version: u32, architectures: &[u32]) -> PathBuf {
    let list: Vec<String> = architectures.iter().map(u32::to_string).collect();
    let source = NVRTC
        .replace("STUBS", &stub_calls(NVRTC_STUBS.iter()))
        .replace("ARCHITECTURES", &list.join(","));
    compile(&source.replace("VERSION", &version.to_string()))
}

/// `libnvidia-ml` with one GPU.
pub(crate) fn nvml(address: &str, total_gib: u64, free_gib: u64) -> PathBuf {
    nvml_with(address, [total_gib, free_gib], &[])
}

/// `libnvidia-ml` with one GPU, on which processes run: their ids and the bytes of each.
pub(crate) fn nvml_with(
    address: &str,
    [total_gib, free_gib]: [u64; 2],
    processes: &[(u32, u64)],
) -> PathBuf {
    let bytes = |gibibytes: u64| format!("{}ull", gibibytes << 30);
    let processes: String = processes
        .iter()
        .map(|(pid, used)| format!("{{{pid}, {used}ull, {{0, 0}}}},"))
        .collect();
    compile(
        &NVML
            .replace("ADDRESS", &format!("\"{address}\""))
            .replace("TOTAL", &bytes(total_gib))
            .replace("FREE", &bytes(free_gib))
            .replace("PROCESSES", &processes),
    )
}

fn stub_calls<'a>(symbols: impl Iterator<Item = &'a &'a str>) -> String {
    symbols.map(|symbol| format!("STUB({symbol})\n")).collect()
}

/// The compiled library of a source, from a cache that outlives the process: nextest runs each test
/// in a process of its own.
fn compile(source: &str) -> PathBuf {
    let mut hasher = std::hash::DefaultHasher::new();
    source.hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-libraries");
    let library = folder.join(format!("{:016x}.so", hasher.finish()));
    if !library.exists() {
        std::fs::create_dir_all(&folder).expect("the cache folder is made");
        let work = tempfile::tempdir_in(&folder).expect("a temporary folder");
        let compiled = compile_in(work.path(), source);
        std::fs::rename(compiled, &library).expect("the library moves into the cache");
    }
    library
}

fn compile_in(folder: &Path, source: &str) -> PathBuf {
    let (input, output) = (folder.join("fake.c"), folder.join("fake.so"));
    std::fs::write(&input, source).expect("the source is written");
    let mut command = Command::new("cc");
    let run = command
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(&output)
        .arg(&input)
        .output()
        .expect("a C compiler (cc)");
    assert!(
        run.status.success(),
        "{}\n{source}",
        String::from_utf8_lossy(&run.stderr)
    );
    output
}
