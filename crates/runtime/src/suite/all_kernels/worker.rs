//! A process that computes products with one kernel. It ends after a crash, because the device may
//! be unusable then.

use super::protocol::{KernelResult, KernelTask, PREFIX, WorkerAnswer};
use crate::{
    detect,
    open::{DeviceExecutor, OpenDevice, device_panic_messages, device_panics, open},
};
use std::io::{Write, stdin, stdout};
use testgen_device::DeviceIndex;
use testgen_engine::EngineName;
use testgen_gpu::{GpuDevice, Product};
use testgen_kernels::{Candidate, CandidateResult, examine};
use testgen_nn::device::BackendDevice;

/// The variable that turns a suite into a worker.
pub(super) const WORKER_VARIABLE: &str = "TESTGEN_KERNELS_WORKER";

pub(super) fn is_requested() -> bool {
    std::env::var_os(WORKER_VARIABLE).is_some()
}

/// Reads the task, computes its products in order, and answers each.
pub(super) fn run() -> Result<(), String> {
    let task: KernelTask =
        serde_json::from_reader(stdin().lock()).map_err(|error| format!("the task: {error}"))?;
    let device = detect::detect(
        task.device,
        DeviceIndex::Index(task.index),
        &EngineName::native(),
    )
    .map_err(|error| error.to_string())?;
    let device = gpu(&open(device).map_err(|error| error.to_string())?)?;
    let candidate = Candidate::all()
        .into_iter()
        .nth(task.kernel)
        .ok_or("there is no such kernel")?;
    for (number, product) in &task.products {
        // Before the kernel runs, because afterwards the process may be gone.
        answer(&WorkerAnswer::Started(*number))?;
        let finding = examined(&candidate, product, device);
        let crashed = matches!(finding, CandidateResult::Crashed { .. });
        answer(&WorkerAnswer::Found(KernelResult::new(
            task.kernel,
            *number,
            finding,
        )))?;
        if crashed {
            break;
        }
    }
    Ok(())
}

fn examined(candidate: &Candidate, product: &Product, device: GpuDevice) -> CandidateResult {
    let panics = device_panics();
    let finding = examine(candidate, product, device);
    // A panic on the device's thread does not reach this one; the result then contains what was in
    // memory.
    match device_panic_messages(panics) {
        messages if messages.is_empty() => finding,
        messages => CandidateResult::Crashed {
            why: messages.join("; "),
        },
    }
}

/// The device in the terms of its backend.
pub(super) fn gpu(device: &OpenDevice) -> Result<GpuDevice, String> {
    match &device.executor {
        DeviceExecutor::Native(BackendDevice::Gpu(device)) => Ok(*device),
        DeviceExecutor::Native(BackendDevice::Cpu(_)) => {
            Err("the CPU has no kernels to choose from".to_owned())
        }
        DeviceExecutor::Engine { .. } => {
            Err("the kernels of an engine cannot be chosen".to_owned())
        }
    }
}

fn answer(answer: &WorkerAnswer) -> Result<(), String> {
    let text = serde_json::to_string(answer).map_err(|error| error.to_string())?;
    let mut out = stdout().lock();
    // Flushed, because the process may end in the next kernel.
    writeln!(out, "{PREFIX}{text}")
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())
}
