//! The libraries through which devices are found.

use crate::{
    facts::{Access, MachineFacts},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_base::text::Count;
use testgen_device::{DetectionPath, PathResult, Vendor};

/// docs/hardware.md has the repositories that these packages come from.
const INSTALL_HIP: &str = "sudo apt install rocm-hip-runtime-dev";
const INSTALL_CUDA: &str = "sudo apt install nvidia-driver";

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let mut rows = vec![rocm(facts)];
    let paths = facts
        .inventory
        .paths
        .iter()
        .filter(|path| path.path != DetectionPath::HostProcessor);
    rows.extend(paths.map(|path| row(facts, path)));
    rows
}

fn rocm(facts: &MachineFacts) -> DoctorRow {
    let (status, evidence) = match &facts.host.rocm {
        Some(version) => (RowStatus::Ok, format!("version {version}")),
        None => (
            RowStatus::Note,
            "no .info/version in ROCM_PATH or /opt/rocm".to_owned(),
        ),
    };
    DoctorRow::new(Area::Libraries, "ROCm", status, evidence)
}

fn row(facts: &MachineFacts, path: &PathResult) -> DoctorRow {
    let subject = path.path.as_str();
    let Some(absence) = &path.absence else {
        let version = facts
            .inventory
            .on(path.path)
            .find_map(|device| device.runtime_version.clone());
        let version = version.map_or_else(String::new, |version| format!("version {version}, "));
        let evidence = format!("{version}{}", Count(path.found, "device"));
        return DoctorRow::new(Area::Libraries, subject, RowStatus::Ok, evidence);
    };
    let evidence = absence
        // The subject of the line names the path already.
        .strip_prefix(&format!("{}: ", path.path))
        .unwrap_or(absence)
        .to_owned();
    let row = DoctorRow::new(Area::Libraries, subject, RowStatus::Note, evidence);
    match accessible(facts, path.path) {
        None => row,
        Some(vendor) => {
            let cause = format!(
                "the kernel drives a GPU of {vendor} and its files open, so that the library is the problem"
            );
            row.failure(cause, fix(path.path, absence))
        }
    }
}

/// Whether a file whose path begins with `name` can be opened.
fn opens(facts: &MachineFacts, name: &str) -> bool {
    let mut files = facts.files.iter();
    files.any(|file| file.path.starts_with(name) && file.access == Access::Works)
}

/// The vendor of a GPU that only this library can keep from being used: driven, accessible and not
/// hidden by a variable.
fn accessible(facts: &MachineFacts, path: DetectionPath) -> Option<&'static str> {
    let masked = facts
        .inventory
        .visibility
        .on(path)
        .any(|variable| variable.hides_all);
    let topology = &facts.inventory.topology;
    match path {
        _ if masked => None,
        // An engine may bring its own HIP runtime, as PyTorch's wheels do.
        DetectionPath::HipRuntime if !facts.native => None,
        DetectionPath::HipRuntime => {
            let listed = topology.kfd.as_ref().is_some_and(|gpus| !gpus.is_empty());
            (listed && opens(facts, "/dev/kfd") && opens(facts, "/dev/dri/renderD"))
                .then_some("AMD")
        }
        DetectionPath::CudaDriver => {
            (topology.has(Vendor::Nvidia) && opens(facts, "/dev/nvidiactl")).then_some("NVIDIA")
        }
        // Nothing needs it where HIP or CUDA work.
        DetectionPath::HostProcessor | DetectionPath::Engine | DetectionPath::CudaCompatibility => {
            None
        }
    }
}

fn fix(path: DetectionPath, absence: &str) -> String {
    // Detection found the library in a folder that no variable names.
    if let Some((_, root)) = absence.split_once("; set ROCM_PATH=") {
        // The folder ends before the next part of the message.
        let end = root.find([';', ',', ' ']).unwrap_or(root.len());
        return format!("export ROCM_PATH={}", &root[..end]);
    }
    // Another problem than an absent library is not fixed by installing it again.
    let installed = absence.contains("is installed and");
    let fix = match path {
        DetectionPath::HipRuntime if installed => "sudo dmesg | grep -i -e amdgpu -e kfd; rocminfo",
        DetectionPath::HipRuntime => INSTALL_HIP,
        _ if installed => "nvidia-smi; sudo dmesg | grep -i nvrm",
        _ => INSTALL_CUDA,
    };
    fix.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{INSTALL_HIP, rows};
    use crate::{
        evaluation::samples::{amd_host, empty, row, with_variables},
        facts::Access,
        row::RowStatus,
    };
    use tempfile::TempDir;
    use testgen_device::{DetectionPath, System, inventory};

    /// The reason comes from real detection, because its wording decides the fix.
    fn absence() -> String {
        absence_in(&tempfile::tempdir().expect("the temporary directory can be written"))
    }

    fn absence_in(root: &TempDir) -> String {
        let found = inventory(&System::fake(
            root.path(),
            [("A", "b")],
            [root.path().join("lib")],
        ));
        let hip = found
            .paths
            .into_iter()
            .find(|path| path.path == DetectionPath::HipRuntime);
        hip.and_then(|path| path.absence)
            .expect("there is no library")
    }

    #[test]
    fn a_library_that_is_missing_beside_a_driven_gpu_is_a_failure() {
        let mut facts = amd_host();
        facts.inventory.paths[0].absence = Some(absence());
        let found = rows(&facts);
        let hip = row(&found, "HIP runtime");
        assert_eq!(hip.status, RowStatus::Failure);
        assert!(
            hip.evidence.starts_with("no libamdhip64.so in ROCM_PATH"),
            "{}",
            hip.evidence
        );
        assert_eq!(hip.fix.as_deref(), Some(INSTALL_HIP));
        facts.inventory.paths[0].absence =
            Some("HIP runtime: `/x` is installed and lists no device".to_owned());
        assert!(
            row(&rows(&facts), "HIP runtime")
                .fix
                .as_ref()
                .is_some_and(|fix| fix.contains("rocminfo"))
        );
    }

    #[test]
    fn a_library_that_no_variable_names_is_not_installed_again() {
        let root = tempfile::tempdir().expect("the temporary directory can be written");
        let folder = root.path().join("opt/rocm-6.2/lib");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(folder.join("libamdhip64.so"), "").expect("the file can be written");
        let mut facts = amd_host();
        let evidence = "; the kernel lists an AMD GPU";
        facts.inventory.paths[0].absence = Some(absence_in(&root) + evidence);
        let fix = row(&rows(&facts), "HIP runtime").fix.clone();
        assert_eq!(fix.as_deref(), Some("export ROCM_PATH=/opt/rocm-6.2"));
    }

    #[test]
    fn the_hip_runtime_of_this_process_is_not_needed_by_an_engine() {
        let mut facts = amd_host();
        facts.inventory.paths[0].absence = Some(absence());
        facts.native = false;
        assert_eq!(row(&rows(&facts), "HIP runtime").status, RowStatus::Note);
    }

    #[test]
    fn a_library_cannot_be_the_problem_of_a_gpu_that_is_hidden() {
        let mut facts = amd_host();
        facts.inventory.paths[0].absence = Some(absence());
        let masked = with_variables(facts.clone(), &[("ROCR_VISIBLE_DEVICES", "-1")]);
        assert_eq!(row(&rows(&masked), "HIP runtime").status, RowStatus::Note);
        facts.files[0].access = Access::Forbidden;
        assert_eq!(row(&rows(&facts), "HIP runtime").status, RowStatus::Note);
    }

    #[test]
    fn versions_are_shown_and_absent_vendors_are_notes() {
        let found = rows(&amd_host());
        assert_eq!(
            row(&found, "HIP runtime").evidence,
            "version 7.0.51831, 1 device"
        );
        assert_eq!(row(&found, "ROCm").evidence, "version 7.0.1");
        assert!(
            rows(&empty())
                .iter()
                .all(|row| row.status == RowStatus::Note)
        );
    }
}
