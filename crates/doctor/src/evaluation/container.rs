//! The operating system, and whether a container lacks device files of a GPU that its kernel
//! drives.

use crate::{
    facts::{Access, MachineFacts},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::Vendor;

/// The options that AMD documents; docs/hardware.md explains them.
pub(super) const AMD_OPTIONS: &str = "docker run --device=/dev/kfd --device=/dev/dri --group-add video --group-add \"$(getent group render | cut -d: -f3)\" ...";

pub(super) const NVIDIA_OPTIONS: &str = "docker run --gpus all ...";

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let host = &facts.host;
    let name = host.name.as_deref().unwrap_or("unknown");
    let kernel = host.kernel.as_deref().unwrap_or("unknown");
    let mut rows = vec![DoctorRow::new(
        Area::System,
        "operating system",
        RowStatus::Ok,
        format!("{name}, kernel {kernel}"),
    )];
    if host.wsl {
        rows.push(DoctorRow::new(
            Area::System,
            "Windows Subsystem for Linux",
            RowStatus::Note,
            "GPUs have the file /dev/dxg in place of /dev/kfd",
        ));
    }
    if !facts.in_container() {
        rows.push(DoctorRow::new(
            Area::System,
            "container",
            RowStatus::Ok,
            "no sign of one",
        ));
        return rows;
    }
    let signs = host.container.join(", ");
    rows.push(DoctorRow::new(
        Area::System,
        "container",
        RowStatus::Note,
        format!("this is a container: {signs}"),
    ));
    rows.extend(amd(facts));
    rows.extend(nvidia(facts));
    rows
}

/// Without any file the container was not meant to have the GPU; with some of them it was, and
/// cannot use it.
fn lacking(
    subject: &str,
    vendor: &str,
    lacks: &[&str],
    complete_absence: bool,
    fix: &str,
) -> Option<DoctorRow> {
    let status = if complete_absence {
        RowStatus::Warning
    } else {
        RowStatus::Failure
    };
    let evidence = format!(
        "the kernel drives a GPU of {vendor}, and the container has no {}",
        lacks.join(" and no ")
    );
    let cause = "the container was started without these device files";
    (!lacks.is_empty())
        .then(|| DoctorRow::new(Area::System, subject, status, evidence).because(cause, fix))
}

fn amd(facts: &MachineFacts) -> Option<DoctorRow> {
    // A container has the kernel of its host: modules and topology are the host's, device files are
    // not.
    let driven = facts.module("amdgpu").is_some() || facts.inventory.topology.has(Vendor::Amd);
    // WSL has another file.
    if !driven || facts.host.wsl {
        return None;
    }
    let files = [
        // ROCm submits work through the first file and maps memory of the GPU through the second.
        ("/dev/kfd", "/dev/kfd"),
        ("/dev/dri/renderD", "/dev/dri/renderD*"),
    ];
    let lacks: Vec<&str> = files
        .iter()
        .filter(|(prefix, _)| !has_file(facts, |path| path.starts_with(prefix)))
        .map(|(_, shown)| *shown)
        .collect();
    lacking(
        "container, AMD",
        "AMD",
        &lacks,
        lacks.len() == files.len(),
        AMD_OPTIONS,
    )
}

fn nvidia(facts: &MachineFacts) -> Option<DoctorRow> {
    facts.module("nvidia")?;
    // The files of single GPUs can be restricted on purpose; CUDA needs these two for any of them.
    let files = ["/dev/nvidiactl", "/dev/nvidia-uvm"];
    let lacks: Vec<&str> = files
        .into_iter()
        .filter(|name| !has_file(facts, |path| path == *name))
        .collect();
    lacking(
        "container, NVIDIA",
        "NVIDIA",
        &lacks,
        lacks.len() == files.len(),
        NVIDIA_OPTIONS,
    )
}

fn has_file(facts: &MachineFacts, is_it: impl Fn(&str) -> bool) -> bool {
    facts
        .files
        .iter()
        .any(|file| is_it(&file.path) && file.access != Access::Missing)
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, empty, file, in_container, row},
        facts::{Access, KernelModule},
        row::RowStatus,
    };

    #[test]
    fn a_container_without_device_files_is_a_warning_with_the_options() {
        let mut facts = in_container(amd_host());
        facts.files = vec![file("/dev/kfd", Access::Missing)];
        let rows = rows(&facts);
        let found = row(&rows, "container, AMD");
        assert_eq!(found.status, RowStatus::Warning);
        assert!(
            found
                .evidence
                .ends_with("no /dev/kfd and no /dev/dri/renderD*"),
            "{}",
            found.evidence
        );
        assert!(
            found
                .fix
                .as_ref()
                .is_some_and(|fix| fix.contains("--device=/dev/kfd --device=/dev/dri"))
        );
    }

    #[test]
    fn a_container_with_one_of_two_files_cannot_use_the_gpu() {
        let mut facts = in_container(amd_host());
        facts.files.retain(|file| file.path == "/dev/kfd");
        let rows = rows(&facts);
        let found = row(&rows, "container, AMD");
        assert_eq!(found.status, RowStatus::Failure);
        assert!(
            found
                .evidence
                .ends_with("the container has no /dev/dri/renderD*"),
            "{}",
            found.evidence
        );
    }

    #[test]
    fn files_of_nvidia_have_their_own_options() {
        let mut facts = in_container(empty());
        facts.host.modules = vec![KernelModule {
            name: "nvidia".to_owned(),
            version: None,
        }];
        let found = rows(&facts);
        let nvidia = row(&found, "container, NVIDIA");
        assert_eq!(
            (nvidia.status, nvidia.fix.as_deref()),
            (RowStatus::Warning, Some("docker run --gpus all ..."))
        );
        facts.files = vec![file("/dev/nvidiactl", Access::Works)];
        assert_eq!(
            row(&rows(&facts), "container, NVIDIA").status,
            RowStatus::Failure
        );
        facts.files.push(file("/dev/nvidia-uvm", Access::Works));
        assert!(
            rows(&facts)
                .iter()
                .all(|row| row.status < RowStatus::Warning)
        );
    }

    #[test]
    fn complete_containers_and_hosts_have_no_such_line() {
        for facts in [in_container(amd_host()), amd_host()] {
            assert!(
                rows(&facts)
                    .iter()
                    .all(|row| row.status < RowStatus::Warning)
            );
        }
    }
}
