//! The folders for the GPUs of this machine, and handing them to cubecl.

use super::choices::Choices;
use cubecl::config::cache::CacheConfig;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use testgen_device::{DetectionPath, Device};

/// The variable that names the folder for caches.
const CACHE_VARIABLE: &str = "TESTGEN_CACHE";
/// Files that cubecl reads its configuration from, in the working directory or above.
const CONFIG_FILES: &[&str] = &["cubecl.toml", "CubeCL.toml", "burn.toml", "Burn.toml"];

/// Where both caches go.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// Kept for the next process.
    Kept { kernels: PathBuf, autotune: PathBuf },
    /// Not kept: no folder can be written, or the GPUs differ and would share keys.
    Dropped { why: String },
}

/// Plans for `devices` and configures cubecl; says what was done, or why nothing was.
pub(super) fn apply(devices: &[Device]) -> Result<String, String> {
    let directory = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
    if let Some(file) = own_config(&directory) {
        return Ok(format!("kernel caches as `{}` says", file.display()));
    }
    let (choices, unread) = Choices::named().map_or_else(|why| (None, Some(why)), |choices| (choices, None));
    let plan = plan(cache_folder(|name| std::env::var_os(name)).as_deref(), &program(), devices, choices.as_ref());
    let told = match &plan {
        Plan::Kept { kernels, autotune } => {
            let begun = choices.map(|choices| match choices.begin(autotune) {
                Ok(()) => format!("the autotuner begins with {choices}"),
                Err(error) => format!("{choices} are not used: {error}"),
            });
            let cached = format!("kernels are cached in `{}`", kernels.display());
            [Some(cached), begun, unread].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        Plan::Dropped { why } => format!("kernels are not cached: {why}"),
    };
    let set = catch_unwind(|| CubeClRuntimeConfig::set(config(plan)));
    set.map(|()| told).map_err(|_| "cubecl was in use before, its caches stay as they are".to_owned())
}

fn config(plan: Plan) -> CubeClRuntimeConfig {
    let mut config = CubeClRuntimeConfig::default().override_from_env();
    match plan {
        Plan::Kept { kernels, autotune } => {
            config.compilation.cache = Some(CacheConfig::File(kernels));
            config.autotune.cache = CacheConfig::File(autotune);
        }
        Plan::Dropped { .. } => {
            config.compilation.cache = None;
            // The autotuner has no switch for its file; one that cannot be made leaves its results in memory.
            config.autotune.cache = CacheConfig::File(PathBuf::from("/dev/null/testgen"));
        }
    }
    config
}

fn plan(folder: Option<&Path>, program: &str, devices: &[Device], choices: Option<&Choices>) -> Plan {
    let Some(folder) = folder else {
        return Plan::Dropped { why: format!("neither {CACHE_VARIABLE} nor XDG_CACHE_HOME nor HOME is set") };
    };
    let keys = match keys(devices) {
        Ok(keys) => keys,
        Err(why) => return Plan::Dropped { why },
    };
    let kernels = folder.join("kernels").join(&keys).join(program);
    let begun_with = choices.map(|choices| format!("-{}", choices.digest)).unwrap_or_default();
    let autotune = folder.join("autotune").join(keys + &begun_with);
    match writable(&kernels).and_then(|()| writable(&autotune)) {
        Ok(()) => Plan::Kept { kernels, autotune },
        Err(error) => Plan::Dropped { why: format!("`{}` cannot be written: {error}", folder.display()) },
    }
}

/// Makes the folder and writes to it: cubecl panics on the device thread when it cannot write its cache of kernels.
fn writable(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join(format!(".writable-{}", std::process::id()));
    std::fs::write(&file, b"").and_then(|()| std::fs::remove_file(&file))
}

/// One name for all GPUs. cubecl has one folder for each backend in a process, so two kinds of GPU behind one backend
/// would read each other's kernels.
fn keys(devices: &[Device]) -> Result<String, String> {
    let on = |paths: &[DetectionPath]| -> BTreeSet<String> {
        devices.iter().filter(|device| paths.contains(&device.path)).map(key).collect()
    };
    let hip = on(&[DetectionPath::HipRuntime]);
    let cuda = on(&[DetectionPath::CudaDriver, DetectionPath::CudaCompatibility]);
    for keys in [&hip, &cuda] {
        if keys.len() > 1 {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            return Err(format!("the GPUs differ ({}), and cubecl's keys do not tell them apart", keys.join(", ")));
        }
    }
    Ok(hip.into_iter().chain(cuda).collect::<Vec<_>>().join("+"))
}

fn key(device: &Device) -> String {
    let simulated = if device.simulated { "sim-" } else { "" };
    let layer = if device.path == DetectionPath::CudaCompatibility { "cuda-" } else { "" };
    let architecture = device.architecture.as_deref().unwrap_or("unknown");
    let version = device.runtime_version.as_deref().unwrap_or("unknown");
    let text = format!("{simulated}{layer}{architecture}-{version}");
    text.replace(|character: char| !character.is_ascii_alphanumeric() && character != '.' && character != '-', "_")
}

fn own_config(directory: &Path) -> Option<PathBuf> {
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

/// What stands for the versions of all crates that write kernels: the hash that cargo puts behind the name of a test
/// binary, else the time and size of the file.
fn program() -> String {
    let Ok(path) = std::env::current_exe() else { return "unknown".to_owned() };
    if let Some(hash) = path.file_stem().and_then(|stem| cargo_hash(stem.to_str()?)) {
        return hash.to_owned();
    }
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
