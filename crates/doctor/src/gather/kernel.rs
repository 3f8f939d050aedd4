//! The operating system, the GPU modules of the kernel, and the version of ROCm.

use crate::facts::KernelModule;
use testgen_device::System;

const MODULES: [&str; 4] = ["amdgpu", "nouveau", "nvidia", "radeon"];

/// The name in `os-release`.
pub(super) fn name(system: &System) -> Option<String> {
    let text = system.read("/etc/os-release")?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    // The file is read by shells as well, so that values with spaces are quoted.
    Some(name.trim_matches('"').to_owned())
}

/// The loaded modules.
pub(super) fn modules(system: &System) -> Vec<KernelModule> {
    let loaded = system.read("/proc/modules").unwrap_or_default();
    MODULES
        .iter()
        .filter(|name| {
            loaded
                .lines()
                // The whole first word: `nvidia_drm` and `nvidia_uvm` begin with `nvidia`, too.
                .any(|line| line.split(' ').next() == Some(**name))
                // A module that is built into the kernel is in `/sys/module` only.
                || system.path(format!("/sys/module/{name}")).is_dir()
        })
        .map(|name| KernelModule {
            name: (*name).to_owned(),
            version: system
                .read(format!("/sys/module/{name}/version"))
                .filter(|version| !version.is_empty()),
        })
        .collect()
}

/// The version of the ROCm in `ROCM_PATH`, else in `/opt/rocm`.
pub(super) fn rocm(system: &System) -> Option<String> {
    let root = system
        .variable("ROCM_PATH")
        .filter(|root| !root.is_empty())
        // Where ROCm's packages install.
        .unwrap_or("/opt/rocm");
    system
        .read(format!("{root}/.info/version"))
        .and_then(|text| text.lines().next().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::{modules, name, rocm};
    use std::fs;
    use testgen_device::System;

    #[test]
    fn modules_are_found_in_both_places() {
        let root = tempfile::tempdir().expect("the temporary directory can be written");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("has a directory"))
                .expect("the directory can be made");
            fs::write(path, text).expect("the file can be written");
        };
        write(
            "proc/modules",
            "nvidia_uvm 1 0 - Live 0x0\namdgpu 1 0 - Live 0x0\n",
        );
        write("sys/module/nouveau/parameters/debug", "");
        write("sys/module/amdgpu/version", "6.12.12\n");
        write(
            "etc/os-release",
            "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
        );
        write("opt/rocm/.info/version", "7.0.1-42\n");
        let system = System::fake(root.path(), [("A", "b")], []);
        let found: Vec<String> = modules(&system)
            .into_iter()
            .map(|module| format!("{} {:?}", module.name, module.version))
            .collect();
        assert_eq!(found, ["amdgpu Some(\"6.12.12\")", "nouveau None"]);
        assert_eq!(
            name(&system).as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
        assert_eq!(rocm(&system).as_deref(), Some("7.0.1-42"));
    }
}
