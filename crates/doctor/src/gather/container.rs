//! The signs of a container, and its memory limit.

use testgen_device::System;

/// Files that container engines create.
const FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
/// Variables that they set.
const VARIABLES: [&str; 4] = [
    "APPTAINER_CONTAINER",
    "KUBERNETES_SERVICE_HOST",
    "SINGULARITY_CONTAINER",
    // The name that systemd defines for all managers of containers.
    "container",
];
/// Parts of the control groups' names that they choose.
const GROUPS: [&str; 5] = ["containerd", "docker", "kubepods", "libpod", "lxc"];

/// The control group of a container.
// With a private namespace a container sees its own group at the root of the mount.
const ROOT: &str = "/sys/fs/cgroup";

/// The signs of a container; empty outside of one.
pub(super) fn signs(system: &System) -> Vec<String> {
    let files = FILES
        .iter()
        .filter(|file| system.path(file).exists())
        .map(|file| (*file).to_owned());
    let set = VARIABLES
        .iter()
        .filter(|name| system.variable(name).is_some_and(|value| !value.is_empty()));
    // With a private namespace of control groups the file has `/` alone, so this sign is not
    // enough.
    let groups = system.read("/proc/1/cgroup").unwrap_or_default();
    let named = GROUPS.iter().filter(|name| groups.contains(**name));
    let variables = set.map(|name| format!("the variable {name}"));
    files
        .chain(variables)
        .chain(named.map(|name| format!("the control group `{name}`")))
        .collect()
}

/// Bytes that the memory limit leaves, or `None` without a limit. Version 2 of control groups
/// first.
pub(super) fn memory_left(system: &System) -> Option<u64> {
    let second = (
        "memory.max",
        "memory.current",
        ("memory.stat", "inactive_file "),
    );
    let first = (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        ("memory/memory.stat", "total_inactive_file "),
    );
    let (limit, used, (statistics, key)) =
        [second, first]
            .into_iter()
            .find_map(|(limit, used, cache)| {
                Some((number(system, limit)?, number(system, used)?, cache))
            })?;
    // Files that were read, such as a checkpoint, are counted as used until their memory is needed.
    let cache = system
        .read(format!("{ROOT}/{statistics}"))
        .and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix(key))?;
            value.trim().parse().ok()
        });
    let used = used.saturating_sub(cache.unwrap_or(0));
    // Version 1 writes a number near 2^63 where there is no limit.
    (limit < 1 << 60).then(|| limit.saturating_sub(used))
}

/// The number in a file of the control group.
fn number(system: &System, file: &str) -> Option<u64> {
    let text = system.read(format!("{ROOT}/{file}"))?;
    // Version 2 writes `max` where there is no limit, which is not a number.
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{memory_left, signs};
    use std::{fs, path::Path};
    use testgen_device::System;

    fn system(files: &[(&str, &str)], variables: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().expect("the temporary directory can be written");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))
                .expect("the directory can be made");
            fs::write(path, text).expect("the file can be written");
        }
        let system = System::fake(root.path(), variables.iter().copied(), []);
        (root, system)
    }

    #[test]
    fn each_sign_is_named() {
        let (_root, host) = system(
            &[("proc/1/cgroup", "0::/init.scope\n")],
            &[("container", "")],
        );
        assert!(signs(&host).is_empty());
        let (_root, podman) = system(&[("run/.containerenv", "")], &[("container", "podman")]);
        assert_eq!(
            signs(&podman),
            ["/run/.containerenv", "the variable container"]
        );
        let (_root, pod) = system(&[("proc/1/cgroup", "0::/kubepods.slice/x\n")], &[]);
        assert_eq!(signs(&pod), ["the control group `kubepods`"]);
    }

    #[test]
    fn limits_of_both_versions_are_read() {
        let (_root, second) = system(
            &[
                ("sys/fs/cgroup/memory.max", "100\n"),
                ("sys/fs/cgroup/memory.current", "40\n"),
            ],
            &[],
        );
        assert_eq!(memory_left(&second), Some(60));
        let statistics = "anon 5\ninactive_file 30\nactive_file 5\ntotal_inactive_file 20\n";
        let (_root, read) = system(
            &[
                ("sys/fs/cgroup/memory.max", "100\n"),
                ("sys/fs/cgroup/memory.current", "40\n"),
                ("sys/fs/cgroup/memory.stat", statistics),
            ],
            &[],
        );
        assert_eq!(memory_left(&read), Some(90));
        let (_root, first) = system(
            &[
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "100"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "40"),
                ("sys/fs/cgroup/memory/memory.stat", statistics),
            ],
            &[],
        );
        assert_eq!(memory_left(&first), Some(80));
        let group = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        let used = ("sys/fs/cgroup/memory/memory.usage_in_bytes", "40");
        let (_root, unlimited) = system(&[(group, "9223372036854771712"), used], &[]);
        assert_eq!(memory_left(&unlimited), None);
        let files = [
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/memory.current", "40\n"),
        ];
        let (_root, unlimited) = system(&files, &[]);
        assert_eq!(memory_left(&unlimited), None);
    }
}
