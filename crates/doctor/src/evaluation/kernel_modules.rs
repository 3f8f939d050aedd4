//! The modules of the kernel that drive GPUs.

use crate::{
    facts::MachineFacts,
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::{PciGpu, Vendor};

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    vec![
        row(facts, "amdgpu", Vendor::Amd, "AMD"),
        row(facts, "nvidia", Vendor::Nvidia, "NVIDIA"),
    ]
}

fn row(facts: &MachineFacts, module: &str, vendor: Vendor, vendor_name: &str) -> DoctorRow {
    let new =
        |status, evidence: String| DoctorRow::new(Area::KernelModules, module, status, evidence);
    if let Some(loaded) = facts.module(module) {
        let version = loaded
            .version
            .as_ref()
            .map_or("the kernel's own".to_owned(), |version| {
                format!("version {version}")
            });
        return new(RowStatus::Ok, format!("loaded, {version}"));
    }
    let gpus: Vec<&PciGpu> = facts
        .inventory
        .topology
        .pci
        .iter()
        .filter(|gpu| gpu.vendor == vendor)
        .collect();
    let Some(gpu) = gpus
        .iter()
        // A GPU of a virtual machine is not for this system, so any other one says more.
        .find(|gpu| gpu.driver.as_deref() != Some("vfio-pci"))
        .or(gpus.first())
    else {
        return new(
            RowStatus::Note,
            format!("not loaded; the PCI bus has no GPU of {vendor_name}"),
        );
    };
    let found = format!("not loaded; the GPU of {vendor_name} at {}", gpu.address);
    match gpu.driver.as_deref() {
        Some("vfio-pci") => new(
            RowStatus::Note,
            format!("{found} is passed through to a virtual machine (vfio-pci)"),
        ),
        Some(other) => new(
            RowStatus::Warning,
            format!("{found} has the driver `{other}`"),
        )
        .because(
            format!("`{other}` has no compute interface that {vendor_name}'s libraries use"),
            load(facts, module),
        ),
        None => new(RowStatus::Failure, format!("{found} has no driver")).because(
            "the driver is not installed, was not loaded, or does not support this GPU or kernel",
            load(facts, module),
        ),
    }
}

/// A container has the kernel of its host.
fn load(facts: &MachineFacts, module: &str) -> String {
    let place = if facts.in_container() {
        "on the host: "
    } else {
        ""
    };
    // `dkms status` lists a module that was not built for the running kernel, `dmesg` has the
    // reason of a module that refused the GPU.
    format!(
        "{place}sudo modprobe {module}; if that fails: dkms status; sudo dmesg | grep -i {module}"
    )
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, empty, in_container, row},
        row::RowStatus,
    };

    #[test]
    fn a_gpu_without_its_module_is_a_failure() {
        let mut facts = amd_host();
        facts.host.modules.clear();
        facts.inventory.topology.pci[0].driver = None;
        let found = rows(&facts);
        let amdgpu = row(&found, "amdgpu");
        assert_eq!(amdgpu.status, RowStatus::Failure);
        assert!(
            amdgpu.evidence.contains("0000:03:00.0 has no driver"),
            "{}",
            amdgpu.evidence
        );
        assert!(
            amdgpu
                .fix
                .as_ref()
                .is_some_and(|fix| fix.starts_with("sudo modprobe amdgpu"))
        );
        let found = rows(&in_container(facts));
        assert!(
            row(&found, "amdgpu")
                .fix
                .as_ref()
                .is_some_and(|fix| fix.starts_with("on the host: "))
        );
    }

    #[test]
    fn other_drivers_are_named() {
        let mut facts = amd_host();
        facts.host.modules.clear();
        for (driver, status) in [
            ("vfio-pci", RowStatus::Note),
            ("radeon", RowStatus::Warning),
        ] {
            facts.inventory.topology.pci[0].driver = Some(driver.to_owned());
            let found = rows(&facts);
            assert_eq!(row(&found, "amdgpu").status, status);
            assert!(row(&found, "amdgpu").evidence.contains(driver));
        }
    }

    #[test]
    fn loaded_modules_have_their_version_and_absent_hardware_is_a_note() {
        let found = rows(&amd_host());
        assert_eq!(row(&found, "amdgpu").evidence, "loaded, version 6.12.12");
        assert!(
            rows(&empty())
                .iter()
                .all(|row| row.status == RowStatus::Note)
        );
    }
}
