//! Contradictions between the libraries, the kernel and the variables; each with its likely cause
//! and remedy.

use super::Inventory;
use crate::device::{DetectionPath, Device, DeviceProblem};
use crate::system::System;
use crate::vendor::Vendor;
use std::fs::OpenOptions;
use std::io::ErrorKind;

/// All contradictions, in a fixed order.
pub(super) fn find(system: &System, inventory: &Inventory) -> Vec<DeviceProblem> {
    let mut found: Vec<DeviceProblem> = inventory
        .visibility
        .errors()
        .map(|variable| DeviceProblem::new(variable.to_string(), "correct or unset the variable"))
        .collect();
    found.extend(fewer_than_the_kernel(system, inventory));
    found.extend(more_than_the_kernel(inventory));
    found.extend(hidden_nodes(inventory));
    found.extend(driver_not_loaded(inventory));
    found.extend(nvidia_without_cuda(inventory));
    found.extend(
        inventory
            .on(DetectionPath::HipRuntime)
            .filter_map(|device| other_architecture(system, inventory, device)),
    );
    found.extend(
        inventory
            .on(DetectionPath::CudaCompatibility)
            .filter_map(|device| seen_twice(inventory, device)),
    );
    found
}

/// The number of HIP devices that are not simulated.
fn real_hip_devices(inventory: &Inventory) -> usize {
    inventory
        .on(DetectionPath::HipRuntime)
        // Only those that are not simulated can be in the kernel's list.
        .filter(|device| !device.simulated)
        .count()
}

fn fewer_than_the_kernel(system: &System, inventory: &Inventory) -> Option<DeviceProblem> {
    let listed = inventory.topology.kfd_gpus().count();
    let visible = real_hip_devices(inventory);
    let masked = inventory
        .visibility
        .on(DetectionPath::HipRuntime)
        .any(|variable| variable.hides_all || !variable.entries.is_empty());
    let what = format!("the kernel lists {listed} AMD compute GPUs, the HIP runtime {visible}");
    // With a simulation, `ROCM_PATH` has its libraries, which list no GPU of the kernel.
    if visible >= listed
        || inventory
            .on(DetectionPath::HipRuntime)
            .any(|device| device.simulated)
    {
        return None;
    }
    if masked {
        return Some(DeviceProblem::new(
            what,
            "the visible-device variables hide devices; check that this is intended",
        ));
    }
    let access = access_problem(system, inventory);
    Some(access.map_or_else(
        || DeviceProblem::new(what.clone(), "see above why the HIP runtime found none"),
        |access| DeviceProblem::new(format!("{what}; {}", access.what), access.remedy),
    ))
}

/// The device files that the ROCm runtime must be able to open for reading and writing.
fn access_problem(system: &System, inventory: &Inventory) -> Option<DeviceProblem> {
    let nodes = inventory
        .topology
        .kfd_gpus()
        .filter_map(|gpu| gpu.render_node.as_ref());
    let files =
        std::iter::once("/dev/kfd".to_owned()).chain(nodes.map(|node| format!("/dev/dri/{node}")));
    files.into_iter().find_map(|file| {
        // Opened and not looked at: besides the mode, access lists and the container decide.
        let error = OpenOptions::new()
            .read(true)
            .write(true)
            .open(system.path(&file))
            .err()?;
        access_remedy(error.kind())
            .map(|(what, remedy)| DeviceProblem::new(format!("{file} {what}"), remedy))
    })
}

fn access_remedy(kind: ErrorKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ErrorKind::NotFound => Some((
            "does not exist",
            "start the container with --device=/dev/kfd --device=/dev/dri",
        )),
        ErrorKind::PermissionDenied => Some((
            "may not be opened by this user",
            "add the user to the groups render and video (usermod -aG render,video), or the container with --group-add",
        )),
        _ => None,
    }
}

fn more_than_the_kernel(inventory: &Inventory) -> Option<DeviceProblem> {
    // A list that is missing contradicts nothing.
    let listed = inventory.topology.kfd.as_ref()?.len();
    let visible = real_hip_devices(inventory);
    let what =
        format!("the HIP runtime lists {visible} devices, the kernel {listed} AMD compute GPUs");
    (visible > listed).then(|| DeviceProblem::new(what, "check which libamdhip64.so is loaded"))
}

fn hidden_nodes(inventory: &Inventory) -> Option<DeviceProblem> {
    let hidden = inventory.topology.hidden_kfd_nodes;
    let what = format!("{hidden} nodes of the kernel's compute list may not be read");
    (hidden > 0).then(|| {
        DeviceProblem::new(
            what,
            "the container's device filter hides these GPUs; pass their /dev/dri files to the container to use them",
        )
    })
}

fn driver_not_loaded(inventory: &Inventory) -> Option<DeviceProblem> {
    let topology = &inventory.topology;
    let gpu = topology.pci.iter().find(|gpu| gpu.vendor == Vendor::Amd)?;
    let driver = gpu.driver.as_deref().unwrap_or("no");
    let what = format!(
        "the PCI bus has an AMD GPU at {} ({driver} driver), and the kernel's compute list has none",
        gpu.address
    );
    // A hidden node is in the kernel's list as well, and has another remedy.
    let listed = topology.kfd_gpus().count() > 0 || topology.hidden_kfd_nodes > 0;
    (!listed).then(|| {
        DeviceProblem::new(
            what,
            "load the amdgpu driver (modprobe amdgpu), or install one that supports this GPU",
        )
    })
}

fn nvidia_without_cuda(inventory: &Inventory) -> Option<DeviceProblem> {
    let topology = &inventory.topology;
    let visible = inventory.on(DetectionPath::CudaDriver).count();
    let what = format!(
        "the CUDA driver lists no NVIDIA GPU{}",
        topology.kernel_evidence(Vendor::Nvidia)
    );
    let remedy = match &topology.nvidia {
        None => "load the nvidia driver (modprobe nvidia), or start the container with its GPUs",
        Some(_) => "see above why the CUDA driver found none",
    };
    // A variable that hides every device explains it.
    let masked = inventory
        .visibility
        .on(DetectionPath::CudaDriver)
        .any(|variable| variable.hides_all);
    (visible == 0 && topology.has(Vendor::Nvidia) && !masked)
        .then(|| DeviceProblem::new(what, remedy))
}

/// HSA_OVERRIDE_GFX_VERSION makes the ROCm runtime report another architecture than the kernel
/// does.
fn other_architecture(
    system: &System,
    inventory: &Inventory,
    device: &Device,
) -> Option<DeviceProblem> {
    let gpu = inventory
        .topology
        .kfd_gpus()
        .find(|gpu| gpu.pci_address.is_some() && gpu.pci_address == device.pci_address)?;
    let (reported, actual) = (device.architecture.as_ref()?, gpu.architecture.as_ref()?);
    let remedy = match system.variable("HSA_OVERRIDE_GFX_VERSION") {
        Some(value) => {
            format!("unset HSA_OVERRIDE_GFX_VERSION (`{value}`) if the numbers are wrong")
        }
        None => {
            "check that the ROCm runtime and the kernel's driver have matching versions".to_owned()
        }
    };
    let what = format!(
        "the HIP runtime reports {} as {reported}, the kernel as {actual}",
        device.label()
    );
    // A simulation reports the architecture that the user has chosen.
    (reported != actual && !device.simulated).then(|| DeviceProblem::new(what, remedy))
}

fn seen_twice(inventory: &Inventory, device: &Device) -> Option<DeviceProblem> {
    let same =
        |other: &&Device| other.pci_address.is_some() && other.pci_address == device.pci_address;
    let other = inventory.on(DetectionPath::HipRuntime).find(same)?;
    let what = format!(
        "`{}` ({}) is the same GPU as {} of the HIP runtime",
        device.name,
        device.path,
        other.label()
    );
    Some(DeviceProblem::new(
        what,
        "nothing to do: the HIP runtime is preferred",
    ))
}

#[cfg(test)]
mod tests {
    use super::access_remedy;
    use std::io::ErrorKind;

    #[test]
    fn a_missing_file_and_a_forbidden_one_have_different_remedies() {
        assert!(
            access_remedy(ErrorKind::PermissionDenied)
                .is_some_and(|(_, remedy)| remedy.contains("render"))
        );
        assert!(
            access_remedy(ErrorKind::NotFound)
                .is_some_and(|(_, remedy)| remedy.contains("--device=/dev/kfd"))
        );
        assert_eq!(access_remedy(ErrorKind::InvalidInput), None);
    }
}
