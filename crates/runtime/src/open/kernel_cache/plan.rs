//! The folder of compiled kernels for the GPUs of this machine.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use testgen_device::{DetectionPath, Device};
use testgen_types::{CACHE_VARIABLE, cache_folder};

/// The files that cubecl reads its configuration from, in the working directory or above.
const CONFIG_FILES: &[&str] = &["cubecl.toml", "CubeCL.toml", "burn.toml", "Burn.toml"];

/// Where compiled kernels are kept.
#[derive(Debug, PartialEq, Eq)]
enum CachePlan {
    /// Stored for later processes.
    Stored { kernels: PathBuf },
    /// Not stored: no folder can be written, or the GPUs differ and would share keys.
    InMemory { reason: String },
}

/// Plans for `devices` and configures cubecl. Returns a summary, or the reason for not configuring
/// it.
pub(super) fn apply(devices: &[Device]) -> Result<String, String> {
    let directory =
        std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
    // A file of the user decides alone, and cubecl reads it itself.
    if let Some(file) = user_config(&directory) {
        return Ok(format!(
            "kernel caches are configured by `{}`",
            file.display()
        ));
    }
    let (folder, summary) = match planned(devices) {
        CachePlan::Stored { kernels } => {
            let summary = format!("kernels are cached in `{}`", kernels.display());
            (Some(kernels), summary)
        }
        CachePlan::InMemory { reason } => (None, format!("kernels are not cached: {reason}")),
    };
    match testgen_gpu::store_kernels_in(folder) {
        true => Ok(summary),
        false => Err("cubecl was already in use, its cache is unchanged".to_owned()),
    }
}

/// The folder, if kernels are stored in one that is planned here.
pub(super) fn folder(devices: &[Device]) -> Option<PathBuf> {
    let directory = std::env::current_dir().ok()?;
    match planned(devices) {
        CachePlan::Stored { kernels } if user_config(&directory).is_none() => Some(kernels),
        CachePlan::Stored { .. } | CachePlan::InMemory { .. } => None,
    }
}

fn planned(devices: &[Device]) -> CachePlan {
    // The hash of the kernels' source is part of it, because cargo's hash of a test binary does not
    // change with a file.
    let program = format!("{}-{:08x}", program(), testgen_gpu::SOURCE_HASH as u32);
    plan(
        cache_folder(|name| std::env::var_os(name)).as_deref(),
        &program,
        devices,
    )
}

fn plan(folder: Option<&Path>, program: &str, devices: &[Device]) -> CachePlan {
    let Some(folder) = folder else {
        return CachePlan::InMemory {
            reason: format!("neither {CACHE_VARIABLE} nor XDG_CACHE_HOME nor HOME is set"),
        };
    };
    let keys = match keys(devices) {
        Ok(keys) => keys,
        Err(reason) => return CachePlan::InMemory { reason },
    };
    let kernels = folder.join("kernels").join(&keys).join(program);
    match writable(&kernels) {
        Ok(()) => CachePlan::Stored { kernels },
        Err(error) => CachePlan::InMemory {
            reason: format!("`{}` cannot be written: {error}", folder.display()),
        },
    }
}

/// Creates the folder and tests writing.
fn writable(folder: &Path) -> std::io::Result<()> {
    // cubecl panics on the device thread when it cannot write its kernel cache.
    std::fs::create_dir_all(folder)?;
    // The number of the process, because several start at the same time and would delete each
    // other's file.
    let file = folder.join(format!(".writable-{}", std::process::id()));
    std::fs::write(&file, b"").and_then(|()| std::fs::remove_file(&file))
}

/// One name for all GPUs.
fn keys(devices: &[Device]) -> Result<String, String> {
    // cubecl has one folder per backend and process, so two architectures in one backend would read
    // each other's kernels.
    let hip = keys_of(&[DetectionPath::HipRuntime], devices);
    let cuda = keys_of(
        &[DetectionPath::CudaDriver, DetectionPath::CudaCompatibility],
        devices,
    );
    // Each backend on its own: two backends do not share keys.
    for keys in [&hip, &cuda] {
        if keys.len() > 1 {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            return Err(format!(
                "the GPUs differ ({}), and cubecl's keys do not distinguish them",
                keys.join(", ")
            ));
        }
    }
    Ok(hip.into_iter().chain(cuda).collect::<Vec<_>>().join("+"))
}

fn key(device: &Device) -> String {
    // A simulated device reports a real architecture, but its kernels are compiled for the host.
    let simulated = if device.simulated { "sim-" } else { "" };
    // Under a translation layer kernels are compiled by the CUDA backend.
    let layer = if device.path == DetectionPath::CudaCompatibility {
        "cuda-"
    } else {
        ""
    };
    // A device without a name of its architecture shares kernels with others of that kind only.
    let architecture = device.architecture.as_deref().unwrap_or("unknown");
    let version = device.runtime_version.as_deref().unwrap_or("unknown");
    let text = format!("{simulated}{layer}{architecture}-{version}");
    text.replace(
        |character: char| {
            !character.is_ascii_alphanumeric() && character != '.' && character != '-'
        },
        "_",
    )
}

fn user_config(directory: &Path) -> Option<PathBuf> {
    let candidates = directory
        .ancestors()
        .flat_map(|folder| CONFIG_FILES.iter().map(move |name| folder.join(name)));
    candidates.into_iter().find(|file| file.is_file())
}

/// Identifies the versions of all crates that generate kernels: the hash that cargo appends to the
/// name of a test binary, else the time and size of the file.
fn program() -> String {
    let Ok(path) = std::env::current_exe() else {
        return "unknown".to_owned();
    };
    if let Some(hash) = path.file_stem().and_then(|stem| cargo_hash(stem.to_str()?)) {
        return hash.to_owned();
    }
    // Its values may change with the version of Rust, which costs a new folder and nothing else.
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let facts = std::fs::metadata(&path)
        .ok()
        .map(|facts| (facts.len(), facts.modified().ok()));
    facts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn cargo_hash(stem: &str) -> Option<&str> {
    let (_, hash) = stem.rsplit_once('-')?;
    // A name can have a hyphen without a hash; cargo's hashes have 16 digits.
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

#[cfg(test)]
mod tests;

fn keys_of(paths: &[DetectionPath], devices: &[Device]) -> BTreeSet<String> {
    devices
        .iter()
        .filter(|device| paths.contains(&device.path))
        .map(key)
        .collect()
}
