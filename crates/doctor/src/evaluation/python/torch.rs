//! PyTorch: its version, the vendor that it was built for, and the architectures of its kernels.

use super::package::{absent, broken, install, older};
use crate::{
    facts::{MachineFacts, Python},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::{Device, DeviceKind};

/// The oldest torch that the engine `torch` supports.
const TORCH: (u32, u32) = (2, 4);

/// The version of torch, and whether its build supports a GPU of this machine.
pub(super) fn torch(facts: &MachineFacts, python: &Python) -> DoctorRow {
    let Some(package) = python.packages.get("torch") else {
        return absent(python, "torch");
    };
    if let Some(error) = &package.error {
        return broken(python, "torch", package, error);
    }
    let build = match (&package.hip, &package.cuda) {
        (Some(hip), _) => format!("built for HIP {hip}"),
        (None, Some(cuda)) => format!("built for CUDA {cuda}"),
        (None, None) => "built for the CPU".to_owned(),
    };
    let evidence = format!("{}, {build}", package.version);
    let row = DoctorRow::new(Area::Python, "torch", RowStatus::Ok, evidence);
    if older(&package.version, TORCH) {
        return row.warning(
            "the engine `torch` needs 2.4 or newer",
            install(python, "--upgrade torch"),
        );
    }
    let [rocm, cuda] =
        [DeviceKind::Rocm, DeviceKind::Cuda].map(|kind| gpus(facts, kind).next().is_some());
    // A machine may have GPUs of both vendors; a build supports one.
    let supported = (package.hip.is_some() && rocm) || (package.cuda.is_some() && cuda);
    match (rocm, cuda) {
        (true, _) if !supported => row.warning(
            "this build cannot use the AMD GPU; PyPI has builds for CUDA only",
            reinstall(python, "rocm6.4"),
        ),
        (false, true) if !supported => row.warning(
            "this build cannot use the NVIDIA GPU",
            reinstall(python, "cu128"),
        ),
        _ => row,
    }
}

/// The GPUs that torch can use: a simulation is testgen's alone.
fn gpus(facts: &MachineFacts, kind: DeviceKind) -> impl Iterator<Item = &Device> {
    let devices = facts.inventory.devices.iter();
    devices.filter(move |device| device.kind == kind && !device.simulated)
}

/// The command that replaces torch with a build from PyTorch's `index`.
fn reinstall(python: &Python, index: &str) -> String {
    install(
        python,
        &format!("--force-reinstall torch --index-url https://download.pytorch.org/whl/{index}"),
    )
}

/// A build has kernels for the architectures of its list only; other GPUs fail at the first kernel.
pub(super) fn architectures(facts: &MachineFacts, python: &Python) -> Vec<DoctorRow> {
    let Some(torch) = python.packages.get("torch") else {
        return Vec::new();
    };
    // The list is empty where torch sees no GPU.
    if torch.architectures.is_empty() {
        return Vec::new();
    }
    let kind = match torch.hip {
        Some(_) => DeviceKind::Rocm,
        None => DeviceKind::Cuda,
    };
    gpus(facts, kind)
        .filter_map(|device| {
            let own = device.architecture.as_ref()?;
            let list = &torch.architectures;
            (!list.iter().any(|built| runs_on(built, own))).then(|| {
                let evidence = format!("has kernels for {}, not for {own}", list.join(", "));
                let subject = format!("torch, {}", device.label());
                let row = DoctorRow::new(Area::Python, subject, RowStatus::Warning, evidence);
                let cause = "this build was not compiled for the GPU; its kernels fail, or run for another architecture";
                row.because(cause, other_build(python, own))
            })
        })
        .collect()
}

/// Whether kernels for `built` run on a GPU of the architecture `own`.
fn runs_on(built: &str, own: &str) -> bool {
    let (Some(gpu), Some((kind, number))) = (capability(own), built.split_once('_')) else {
        return built == own;
    };
    match number.parse::<u32>() {
        // Kernels run on GPUs with the same major and no smaller minor version.
        Ok(number) if kind == "sm" => number / 10 == gpu / 10 && number <= gpu,
        // PTX, which the driver compiles for a newer GPU.
        Ok(number) => number <= gpu,
        // `sm_90a` has features of one architecture.
        Err(_) => number.trim_end_matches('a') == gpu.to_string(),
    }
}

/// 90 of `sm_90`; `None` for an AMD GPU.
fn capability(architecture: &str) -> Option<u32> {
    architecture.strip_prefix("sm_")?.parse().ok()
}

/// The command that installs a build for the architecture `own`.
fn other_build(python: &Python, own: &str) -> String {
    match capability(own) {
        // PyTorch's builds for CUDA 12.8 begin with Turing.
        Some(0..75) => reinstall(python, "cu126"),
        Some(_) => reinstall(python, "cu128"),
        None => install(
            python,
            "--upgrade --pre torch --index-url https://download.pytorch.org/whl/nightly/rocm7.0",
        ),
    }
}
