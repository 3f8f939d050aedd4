//! The device files of GPUs: their permissions, and whether they open.

use super::user::Accounts;
use crate::facts::{Access, DeviceFile};
use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};
use testgen_device::System;

const KFD: &str = "/dev/kfd";

/// The files, sorted; `/dev/kfd` in any case.
pub(super) fn files(system: &System, accounts: &Accounts) -> Vec<DeviceFile> {
    let render = system
        .list("/dev/dri")
        .into_iter()
        .filter(|name| name.starts_with("renderD") && may_be_amd(system, name));
    // The absence of `/dev/kfd` has a meaning.
    let nvidia = system
        .list("/dev")
        .into_iter()
        .filter(|name| is_nvidia(name));
    let paths = render
        .map(|name| format!("/dev/dri/{name}"))
        .chain(nvidia.map(|name| format!("/dev/{name}")));
    std::iter::once(KFD.to_owned())
        .chain(paths)
        .map(|path| file(&system.path(&path), path, accounts))
        .collect()
}

/// Whether a render node is AMD's, or of a vendor that is not known: Intel's GPUs and nvidia-drm
/// have such files, too, which no engine opens.
fn may_be_amd(system: &System, node: &str) -> bool {
    let vendor = system.read(format!("/sys/class/drm/{node}/device/vendor"));
    vendor.is_none_or(|vendor| vendor == "0x1002")
}

/// `nvidia0`, `nvidiactl` and `nvidia-uvm`; the other files are for displays and administration.
fn is_nvidia(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("nvidia") else {
        return false;
    };
    ["ctl", "-uvm"].contains(&rest)
        || (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(unix)]
fn file(location: &Path, path: String, accounts: &Accounts) -> DeviceFile {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    match fs::metadata(location) {
        Ok(metadata) => DeviceFile {
            path,
            mode: metadata.permissions().mode() & 0o777,
            owner: metadata.uid(),
            group: accounts.group(metadata.gid()),
            access: access(location),
        },
        Err(error) => absent(path, accounts, &error),
    }
}

#[cfg(not(unix))]
fn file(location: &Path, path: String, accounts: &Accounts) -> DeviceFile {
    match fs::metadata(location) {
        Ok(_) => DeviceFile {
            access: access(location),
            ..absent(path, accounts, &io::Error::other("unknown"))
        },
        Err(error) => absent(path, accounts, &error),
    }
}

fn absent(path: String, accounts: &Accounts, error: &io::Error) -> DeviceFile {
    DeviceFile {
        path,
        mode: 0,
        owner: 0,
        group: accounts.group(0),
        access: classify(error),
    }
}

/// Opens the file as the drivers' libraries do, and closes it.
fn access(location: &Path) -> Access {
    // The mode alone does not show what a container or a security module forbids.
    match OpenOptions::new().read(true).write(true).open(location) {
        Ok(_) => Access::Works,
        Err(error) => classify(&error),
    }
}

/// The standard library has one kind for both refusals, whose causes differ.
fn classify(error: &io::Error) -> Access {
    // The device filter of a container answers EPERM, the permissions of a file EACCES.
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EPERM) {
        return Access::Filtered;
    }
    match error.kind() {
        io::ErrorKind::NotFound => Access::Missing,
        io::ErrorKind::PermissionDenied => Access::Forbidden,
        _ => Access::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Accounts, classify, files};
    use crate::facts::Access;
    use std::{fs, io};
    use testgen_device::System;

    #[test]
    fn files_of_both_vendors_are_listed_and_others_are_not() {
        let root = tempfile::tempdir().expect("the temporary directory can be written");
        fs::create_dir_all(root.path().join("dev/dri")).expect("the directory can be made");
        for name in [
            "dri/renderD129",
            "dri/renderD128",
            "dri/renderD130",
            "dri/card0",
            "nvidia0",
            "nvidiactl",
            "nvidia-modeset",
            "nvidia-uvm",
            "nvme0",
        ] {
            fs::write(root.path().join("dev").join(name), "").expect("the file can be written");
        }
        for (node, vendor) in [("renderD128", "0x1002"), ("renderD130", "0x8086")] {
            let device = root.path().join("sys/class/drm").join(node).join("device");
            fs::create_dir_all(&device).expect("the directory can be made");
            fs::write(device.join("vendor"), format!("{vendor}\n"))
                .expect("the file can be written");
        }
        let system = System::fake(root.path(), [("A", "b")], []);
        let found = files(&system, &Accounts::read(&system));
        let shown: Vec<String> = found
            .iter()
            .map(|file| format!("{} {:?}", file.path, file.access))
            .collect();
        let expected = [
            "/dev/kfd Missing",
            "/dev/dri/renderD128 Works",
            "/dev/dri/renderD129 Works",
            "/dev/nvidia-uvm Works",
            "/dev/nvidiactl Works",
            "/dev/nvidia0 Works",
        ];
        assert_eq!(shown, expected);
        assert_eq!(found[1].mode & 0o600, 0o600);
    }

    #[test]
    fn the_filter_of_a_container_is_not_a_permission_of_the_file() {
        assert_eq!(
            classify(&io::Error::from_raw_os_error(libc::EPERM)),
            Access::Filtered
        );
        assert_eq!(
            classify(&io::Error::from_raw_os_error(libc::EACCES)),
            Access::Forbidden
        );
        assert_eq!(
            classify(&io::Error::from_raw_os_error(libc::ENOENT)),
            Access::Missing
        );
        assert!(matches!(
            classify(&io::Error::from_raw_os_error(libc::EIO)),
            Access::Failed(_)
        ));
    }
}
