//! The permissions of device files.

use super::container::{AMD_OPTIONS, NVIDIA_OPTIONS};
use crate::{
    facts::{Access, DeviceFile, MachineFacts},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_base::text::shell_quote;

/// Read and write for the group.
const GROUP_BITS: u32 = 0o060;
/// Read and write for all.
const OTHER_BITS: u32 = 0o006;

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let rows: Vec<DoctorRow> = facts
        .files
        .iter()
        .filter_map(|file| row(facts, file))
        .collect();
    if !rows.is_empty() {
        return rows;
    }
    let evidence = "there is no /dev/kfd, /dev/dri/renderD* of AMD or /dev/nvidia*";
    vec![DoctorRow::new(
        Area::DeviceFiles,
        "none",
        RowStatus::Note,
        evidence,
    )]
}

fn row(facts: &MachineFacts, file: &DeviceFile) -> Option<DoctorRow> {
    let new =
        |status, evidence: String| DoctorRow::new(Area::DeviceFiles, &file.path, status, evidence);
    // Without its module, a file that cannot be opened has no effect.
    let status = if driven(facts, file) {
        RowStatus::Failure
    } else {
        RowStatus::Warning
    };
    Some(match &file.access {
        Access::Missing => return missing(facts, file),
        Access::Works => new(
            RowStatus::Ok,
            format!("{}, opens for reading and writing", permissions(file)),
        ),
        Access::Forbidden => {
            let (cause, fix) = forbidden(facts, file);
            new(
                status,
                format!(
                    "{}, may not be opened by {}",
                    permissions(file),
                    user(facts)
                ),
            )
            .because(cause, fix)
        }
        Access::Filtered => new(
            status,
            format!("{}, opening is not permitted", permissions(file)),
        )
        .because(
            "the device filter of the container forbids this device, whatever the permissions are",
            options(file),
        ),
        Access::Failed(error) => new(
            status,
            format!("{}, does not open: {error}", permissions(file)),
        )
        .because(
            "the driver refuses the device",
            "sudo dmesg | grep -i -e amdgpu -e kfd -e nvrm",
        ),
    })
}

fn is_amd(file: &DeviceFile) -> bool {
    !file.path.starts_with("/dev/nvidia")
}

fn driven(facts: &MachineFacts, file: &DeviceFile) -> bool {
    facts
        .module(if is_amd(file) { "amdgpu" } else { "nvidia" })
        .is_some()
}

fn options(file: &DeviceFile) -> &'static str {
    if is_amd(file) {
        AMD_OPTIONS
    } else {
        NVIDIA_OPTIONS
    }
}

/// A missing file of a container is a line about the container.
fn missing(facts: &MachineFacts, file: &DeviceFile) -> Option<DoctorRow> {
    // Only `/dev/kfd` is looked for by its name; all other files are known from a list of what
    // exists.
    let expected = driven(facts, file) && !facts.in_container() && !facts.host.wsl;
    let row = DoctorRow::new(
        Area::DeviceFiles,
        &file.path,
        RowStatus::Failure,
        "does not exist, although amdgpu is loaded",
    );
    let cause = "amdgpu drives no GPU for computing: the kernel was built without CONFIG_HSA_AMD, or the GPU is not supported";
    expected.then(|| {
        row.because(
            cause,
            "sudo dmesg | grep -i -e amdgpu -e kfd; sudo apt install amdgpu-dkms",
        )
    })
}

/// `crw-rw---- root:render`, as `ls` shows it.
fn permissions(file: &DeviceFile) -> String {
    let bits: String = (0..9)
        .rev()
        .zip("rwxrwxrwx".chars())
        .map(|(shift, character)| match file.mode >> shift & 1 {
            1 => character,
            _ => '-',
        })
        .collect();
    let owner = if file.owner == 0 {
        "root".to_owned()
    } else {
        file.owner.to_string()
    };
    // As `ls -l` prints it: `c` is a character device.
    format!("c{bits} {owner}:{}", group_name(file))
}

fn group_name(file: &DeviceFile) -> String {
    name_or_id(&file.group.name, file.group.id)
}

/// An id without an entry in `/etc/passwd` or `/etc/group` has no name.
fn name_or_id(name: &Option<String>, id: u32) -> String {
    name.clone().unwrap_or_else(|| id.to_string())
}

fn user(facts: &MachineFacts) -> String {
    let groups: Vec<String> = facts
        .user
        .groups
        .iter()
        .map(|group| name_or_id(&group.name, group.id))
        .collect();
    format!(
        "{} (groups: {})",
        name_or_id(&facts.user.name, facts.user.id),
        groups.join(", ")
    )
}

/// Cause and fix of a file whose permissions forbid opening.
fn forbidden(facts: &MachineFacts, file: &DeviceFile) -> (String, String) {
    let group = group_name(file);
    let is_member = facts
        .user
        .groups
        .iter()
        .any(|member| member.id == file.group.id);
    let group_may = file.mode & GROUP_BITS == GROUP_BITS;
    // The user may open it, so its permissions are not the reason.
    if file.mode & OTHER_BITS == OTHER_BITS || is_member && group_may {
        return (
            "a security module forbids it".to_owned(),
            "sudo dmesg | grep -i -e apparmor -e selinux".to_owned(),
        );
    }
    if !group_may {
        return (
            format!("the group `{group}` may not read and write the file"),
            permit(file),
        );
    }
    // The number counts: a name can belong to another group in the image.
    if facts.in_container() {
        let cause = format!(
            "the process is not in the group {} of the file",
            file.group.id
        );
        return (
            cause,
            format!("docker run --group-add {} ...", file.group.id),
        );
    }
    // A process gets the groups of its account only at login.
    if facts.user.account_groups.contains(&group) {
        return (
            format!("the user is in `{group}`, and this session is older than that"),
            format!("newgrp {}, or log in again", shell_quote(&group)),
        );
    }
    let name = facts
        .user
        .name
        .as_deref()
        .map_or_else(|| "\"$USER\"".to_owned(), shell_quote);
    let fix = format!(
        "sudo usermod --append --groups {} {name}; then log in again",
        shell_quote(&group)
    );
    (format!("the user is not in the group `{group}`"), fix)
}

/// The command that sets other permissions of a device file.
fn permit(file: &DeviceFile) -> String {
    // udev does not create the files of NVIDIA; `nvidia-modprobe` sets the permissions that
    // the options of the module have, 0666 by default.
    if !is_amd(file) {
        let options = "options nvidia NVreg_DeviceFileMode=0666";
        return format!(
            "echo '{options}' | sudo tee /etc/modprobe.d/zz-testgen.conf; then restart the machine"
        );
    }
    let device = file
        .path
        .trim_start_matches("/dev/")
        .trim_start_matches("dri/");
    let rule = format!("KERNEL==\"{device}\", GROUP=\"render\", MODE=\"0660\"");
    format!(
        "echo '{rule}' | sudo tee /etc/udev/rules.d/70-testgen.rules && sudo udevadm control --reload && \
         sudo udevadm trigger"
    )
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, empty, file, in_container, row},
        facts::{Access, MachineFacts},
        row::{DoctorRow, RowStatus},
    };

    fn kfd(change: impl FnOnce(&mut MachineFacts)) -> DoctorRow {
        let mut facts = amd_host();
        facts.files[0] = file("/dev/kfd", Access::Forbidden);
        change(&mut facts);
        row(&rows(&facts), "/dev/kfd").clone()
    }

    fn fix(row: &DoctorRow) -> &str {
        row.fix.as_deref().expect("has a fix")
    }

    #[test]
    fn no_permission_is_a_failure_with_the_command_that_adds_the_group() {
        let found = kfd(|_| ());
        assert_eq!(found.status, RowStatus::Failure);
        assert_eq!(
            found.evidence,
            "crw-rw---- root:render, may not be opened by ada (groups: ada, video)"
        );
        assert_eq!(
            fix(&found),
            "sudo usermod --append --groups render ada; then log in again"
        );
    }

    #[test]
    fn the_fix_depends_on_the_cause() {
        let session = kfd(|facts| facts.user.account_groups.push("render".to_owned()));
        assert!(fix(&session).starts_with("newgrp render"), "{session:?}");
        let container = kfd(|facts| *facts = in_container(facts.clone()));
        assert_eq!(fix(&container), "docker run --group-add 109 ...");
        let mode = kfd(|facts| facts.files[0].mode = 0o600);
        assert!(
            fix(&mode).contains("KERNEL==\"kfd\", GROUP=\"render\", MODE=\"0660\""),
            "{mode:?}"
        );
        let member = kfd(|facts| facts.user.groups.push(facts.files[0].group.clone()));
        assert!(fix(&member).contains("apparmor"), "{member:?}");
        let filter = kfd(|facts| facts.files[0].access = Access::Filtered);
        assert!(fix(&filter).contains("--device=/dev/kfd"), "{filter:?}");
        for row in [session, container, mode, member, filter] {
            assert_eq!(row.status, RowStatus::Failure, "{row:?}");
        }
    }

    #[test]
    fn files_of_nvidia_get_their_permissions_from_the_module() {
        let mut facts = amd_host();
        facts.files[0] = file("/dev/nvidia0", Access::Forbidden);
        facts.files[0].mode = 0o600;
        let rows = rows(&facts);
        let fix = fix(row(&rows, "/dev/nvidia0"));
        assert!(
            fix.contains("NVreg_DeviceFileMode") && !fix.contains("udev"),
            "{fix}"
        );
    }

    #[test]
    fn without_the_module_a_file_is_not_used() {
        assert_eq!(
            kfd(|facts| facts.host.modules.clear()).status,
            RowStatus::Warning
        );
    }

    #[test]
    fn a_driver_without_compute_interface_is_a_failure_outside_of_containers() {
        let found = kfd(|facts| facts.files[0].access = Access::Missing);
        assert_eq!(found.status, RowStatus::Failure);
        let mut facts = in_container(amd_host());
        facts.files = vec![file("/dev/kfd", Access::Missing)];
        assert_eq!(rows(&facts).len(), 1);
        assert_eq!(rows(&facts)[0].subject, "none");
    }

    #[test]
    fn a_machine_without_gpus_has_a_note() {
        let rows = rows(&empty());
        assert_eq!((rows.len(), rows[0].status), (1, RowStatus::Note));
    }
}
