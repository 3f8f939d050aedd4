//! `testgen doctor --devices`: the devices of this machine, without computing.

use crate::cli::{Out, text_format::TextFormat};
use serde::Serialize;
use std::collections::BTreeSet;
use testgen_base::{cli_error::Error, exit_code::ExitCode};
use testgen_device::{Device, EngineKind, Inventory, System, inventory};
use testgen_types::Requirement;

/// The JSON form; adding a field is compatible, changing one raises the version.
#[derive(Serialize)]
struct Versioned<'a> {
    version: u32,
    #[serde(flatten)]
    inventory: &'a Inventory,
    requirements: Vec<Required>,
}

/// A requirement, and the number of devices that meet it.
#[derive(Debug, Serialize)]
struct Required {
    requirement: String,
    needed: u32,
    found: usize,
    met: bool,
}

/// Prints the devices, and whether each requirement is met by devices that burn can use.
pub(super) fn show(
    required: &[Requirement],
    format: TextFormat,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let inventory = inventory(&System::host());
    let requirements: Vec<Required> = required
        .iter()
        .map(|requirement| compare(requirement, &inventory.devices))
        .collect();
    let met = requirements.iter().all(|required| required.met);
    match format {
        TextFormat::Human => {
            writeln!(out, "{}", inventory.to_string().trim_end())?;
            for Required {
                requirement,
                needed,
                found,
                met,
            } in &requirements
            {
                let status = if *met { "met" } else { "NOT MET" };
                writeln!(
                    out,
                    "\nrequired `{requirement}`: {status}: {found} usable, {needed} needed"
                )?;
            }
        }
        TextFormat::Json => {
            let versioned = Versioned {
                version: 3,
                inventory: &inventory,
                requirements,
            };
            let json = serde_json::to_string_pretty(&versioned)
                .expect("an inventory has string keys only");
            writeln!(out, "{json}")?;
        }
    }
    // Not the exit code of a missing device: nothing kept this command from answering, and the
    // answer is no.
    Ok(if met {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

fn compare(requirement: &Requirement, devices: &[Device]) -> Required {
    // Two paths may find the same device.
    let places: BTreeSet<_> = devices
        .iter()
        .filter(|device| is_usable_as(device, requirement))
        .map(place)
        .collect();
    let (needed, found) = (requirement.count.get(), places.len());
    Required {
        requirement: requirement.to_string(),
        needed,
        found,
        met: found >= needed as usize,
    }
}

fn is_usable_as(device: &Device, requirement: &Requirement) -> bool {
    device.kind == requirement.device
        && device.simulated == requirement.simulated
        && device.unusable_by(EngineKind::Native).is_none()
}

fn place(device: &Device) -> String {
    device
        .pci_address
        .clone()
        .unwrap_or_else(|| format!("{} {}", device.path, device.index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testgen_device::{DetectionPath, DeviceKind, DeviceProblem, Unusable};

    fn device(kind: DeviceKind, path: DetectionPath, index: u32) -> Device {
        Device {
            kind,
            path,
            index,
            name: "a device".to_owned(),
            architecture: None,
            total_memory: None,
            free_memory: None,
            pci_address: Some(format!("0000:0{index}:00.0")),
            uuid: None,
            integrated: false,
            driver_version: None,
            runtime_version: None,
            simulated: false,
            unusable_by_burn: None,
            warnings: Vec::new(),
        }
    }

    fn met(requirement: &str, devices: &[Device]) -> bool {
        compare(&requirement.parse().expect("is a requirement"), devices).met
    }

    #[test]
    fn a_device_on_two_paths_counts_once() {
        let hip = device(DeviceKind::Rocm, DetectionPath::HipRuntime, 0);
        let layer = device(DeviceKind::Rocm, DetectionPath::CudaCompatibility, 0);
        assert!(met("rocm", &[hip.clone(), layer.clone()]));
        assert!(!met("rocm:2", &[hip.clone(), layer]));
        assert!(met(
            "rocm:2",
            &[hip, device(DeviceKind::Rocm, DetectionPath::HipRuntime, 1)]
        ));
    }

    #[test]
    fn unusable_and_simulated_devices_and_other_kinds_do_not_count() {
        let good = device(DeviceKind::Rocm, DetectionPath::HipRuntime, 0);
        let unusable_by_burn =
            Unusable::from_problems(vec![DeviceProblem::new("too old", "update")]);
        let simulated = Device {
            simulated: true,
            ..good.clone()
        };
        assert!(!met(
            "rocm",
            &[Device {
                unusable_by_burn,
                ..good.clone()
            }]
        ));
        assert!(!met("rocm", std::slice::from_ref(&simulated)));
        assert!(met("rocm-sim", &[simulated]));
        assert!(!met("rocm-sim", std::slice::from_ref(&good)));
        assert!(!met("cuda", &[good]));
    }
}
