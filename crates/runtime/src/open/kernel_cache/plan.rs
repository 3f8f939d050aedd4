//! The cache folders for the GPUs of this machine, and cubecl's configuration.

use super::tuned_kernels::TunedKernels;
use cubecl::config::cache::CacheConfig;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use testgen_device::{DetectionPath, Device};

/// The variable that names the folder of the caches.
const CACHE_VARIABLE: &str = "TESTGEN_CACHE";
/// The files that cubecl reads its configuration from, in the working directory or above.
const CONFIG_FILES: &[&str] = &["cubecl.toml", "CubeCL.toml", "burn.toml", "Burn.toml"];

/// The location of both caches.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// Stored for later processes.
    Stored { kernels: PathBuf, autotune: PathBuf },
    /// Not stored: no folder can be written, or the GPUs differ and would share keys.
    InMemory { reason: String },
}

/// Plans for `devices` and configures cubecl. Returns a summary, or the reason for not configuring it.
pub(super) fn apply(devices: &[Device]) -> Result<String, String> {
    let directory = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
    if let Some(file) = user_config(&directory) {
        return Ok(format!("kernel caches are configured by `{}`", file.display()));
    }
    let (tuned, unreadable) =
        TunedKernels::from_environment().map_or_else(|why| (None, Some(why)), |tuned| (tuned, None));
    let plan = plan(cache_folder(|name| std::env::var_os(name)).as_deref(), &program(), devices, tuned.as_ref());
    let summary = match &plan {
        Plan::Stored { kernels, autotune } => {
            let started = tuned.map(|tuned| match tuned.copy_to(autotune) {
                Ok(()) => format!("the autotuner starts with {tuned}"),
                Err(error) => format!("{tuned} are not used: {error}"),
            });
            let cached = format!("kernels are cached in `{}`", kernels.display());
            [Some(cached), started, unreadable].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        Plan::InMemory { reason } => format!("kernels are not cached: {reason}"),
    };
    // `set` panics when cubecl has read its configuration before.
    let set = catch_unwind(|| CubeClRuntimeConfig::set(config(plan)));
    set.map(|()| summary).map_err(|_| "cubecl was already in use, its caches are unchanged".to_owned())
}

fn config(plan: Plan) -> CubeClRuntimeConfig {
    // `set` replaces the configuration that cubecl would read itself, and with it its own variables
    // (`CUBECL_DEBUG_LOG`, ...).
    let mut config = CubeClRuntimeConfig::default().override_from_env();
    match plan {
        Plan::Stored { kernels, autotune } => {
            config.compilation.cache = Some(CacheConfig::File(kernels));
            config.autotune.cache = CacheConfig::File(autotune);
        }
        Plan::InMemory { .. } => {
            config.compilation.cache = None;
            // The autotuner's file cannot be switched off; with a path that cannot be created, results stay in memory.
            config.autotune.cache = CacheConfig::File(PathBuf::from("/dev/null/testgen"));
        }
    }
    config
}

fn plan(folder: Option<&Path>, program: &str, devices: &[Device], tuned: Option<&TunedKernels>) -> Plan {
    let Some(folder) = folder else {
        return Plan::InMemory { reason: format!("neither {CACHE_VARIABLE} nor XDG_CACHE_HOME nor HOME is set") };
    };
    let keys = match keys(devices) {
        Ok(keys) => keys,
        Err(reason) => return Plan::InMemory { reason },
    };
    let kernels = folder.join("kernels").join(&keys).join(program);
    let digest = tuned.map(|tuned| format!("-{}", tuned.digest)).unwrap_or_default();
    let autotune = folder.join("autotune").join(keys + &digest);
    match writable(&kernels).and_then(|()| writable(&autotune)) {
        Ok(()) => Plan::Stored { kernels, autotune },
        Err(error) => Plan::InMemory { reason: format!("`{}` cannot be written: {error}", folder.display()) },
    }
}

/// Creates the folder and tests writing: cubecl panics on the device thread when it cannot write its kernel cache.
fn writable(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join(format!(".writable-{}", std::process::id()));
    std::fs::write(&file, b"").and_then(|()| std::fs::remove_file(&file))
}

/// One name for all GPUs. cubecl has one folder per backend and process, so two architectures in one backend would read
/// each other's kernels.
fn keys(devices: &[Device]) -> Result<String, String> {
    let on = |paths: &[DetectionPath]| -> BTreeSet<String> {
        devices.iter().filter(|device| paths.contains(&device.path)).map(key).collect()
    };
    let hip = on(&[DetectionPath::HipRuntime]);
    let cuda = on(&[DetectionPath::CudaDriver, DetectionPath::CudaCompatibility]);
    for keys in [&hip, &cuda] {
        if keys.len() > 1 {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            return Err(format!("the GPUs differ ({}), and cubecl's keys do not distinguish them", keys.join(", ")));
        }
    }
    Ok(hip.into_iter().chain(cuda).collect::<Vec<_>>().join("+"))
}

fn key(device: &Device) -> String {
    // A simulated device reports a real architecture, but its kernels are compiled for the host.
    let simulated = if device.simulated { "sim-" } else { "" };
    let layer = if device.path == DetectionPath::CudaCompatibility { "cuda-" } else { "" };
    let architecture = device.architecture.as_deref().unwrap_or("unknown");
    let version = device.runtime_version.as_deref().unwrap_or("unknown");
    let text = format!("{simulated}{layer}{architecture}-{version}");
    text.replace(|character: char| !character.is_ascii_alphanumeric() && character != '.' && character != '-', "_")
}

fn user_config(directory: &Path) -> Option<PathBuf> {
    let candidates = directory.ancestors().flat_map(|folder| CONFIG_FILES.iter().map(move |name| folder.join(name)));
    candidates.into_iter().find(|file| file.is_file())
}

fn cache_folder(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
    path(CACHE_VARIABLE)
        .or_else(|| absolute("XDG_CACHE_HOME").map(|folder| folder.join("testgen")))
        .or_else(|| absolute("HOME").map(|folder| folder.join(".cache").join("testgen")))
}

/// Identifies the versions of all crates that generate kernels: the hash that cargo appends to the name of a test
/// binary, else the time and size of the file.
fn program() -> String {
    let Ok(path) = std::env::current_exe() else { return "unknown".to_owned() };
    if let Some(hash) = path.file_stem().and_then(|stem| cargo_hash(stem.to_str()?)) {
        return hash.to_owned();
    }
    // Its values may change with the version of Rust, which costs a new folder and nothing else.
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let facts = std::fs::metadata(&path).ok().map(|facts| (facts.len(), facts.modified().ok()));
    facts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn cargo_hash(stem: &str) -> Option<&str> {
    let (_, hash) = stem.rsplit_once('-')?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

#[cfg(test)]
mod tests;
