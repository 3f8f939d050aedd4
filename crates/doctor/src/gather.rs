//! Reads the facts of this machine.

mod container;
mod device_files;
mod kernel;
mod python;
mod user;

use crate::facts::{Host, MachineFacts};
use std::{collections::BTreeMap, ffi::OsStr, time::Duration};
use testgen_device::{System, inventory};

/// The variables that change the devices which libraries report.
const VARIABLES: [&str; 4] = [
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
];
/// Also with the number of a GPU at its end.
const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

/// Reads everything; each start of Python may take `limit`. `native` is whether burn computes.
///
/// Opens device files and the libraries of drivers, and imports torch and onnxruntime, if they are
/// installed, in a process each.
pub fn gather(python: Option<&OsStr>, limit: Duration, native: bool) -> MachineFacts {
    let system = System::host();
    let accounts = user::Accounts::read(&system);
    MachineFacts {
        host: Host {
            name: kernel::name(&system),
            kernel: system.read("/proc/sys/kernel/osrelease"),
            container: container::signs(&system),
            wsl: system.path("/dev/dxg").exists(),
            modules: kernel::modules(&system),
            rocm: kernel::rocm(&system),
            memory_limit: container::memory_left(&system),
        },
        user: accounts.user(&system),
        files: device_files::files(&system, &accounts),
        variables: variables(),
        inventory: inventory(&system),
        python: python::python(python, limit),
        native,
    }
}

/// Empty variables have no effect, except lists of devices: an empty one hides every device.
fn variables() -> BTreeMap<String, String> {
    // Not `vars`, which panics at a variable that is not Unicode.
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, value)| {
        VARIABLES.contains(&name.as_str()) || (name.starts_with(OVERRIDE) && !value.is_empty())
    })
    .collect()
}
