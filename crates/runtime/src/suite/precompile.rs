//! Compiling GPU kernels in several processes before the first check.
//!
//! cubecl compiles a kernel when it is first launched, in the thread of the device, and compilers
//! such as NVRTC hold locks, so that more threads do not help. Here the test binary starts itself
//! several times. Each process runs checks without launching their kernels
//! ([`testgen_gpu::compile_only`]), so it finds the kernels within seconds, compiles its share of
//! them, and stores them in the cache that the checks read afterwards. A kernel that no process
//! compiled is compiled when a check launches it.

mod jobs;
mod limits;
mod progress;
mod worker;

use super::environment::Environment;
use crate::{
    harness::Harness,
    log::log_verbose,
    open::{kernel_cache_folder, remove_abandoned_locks},
};
use jobs::{CompileUnit, Jobs};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Instant,
};
use testgen_engine::EngineName;
use testgen_types::{DeviceKind, Registration};
pub(super) use worker::{is_worker, run as work};

/// The variable with the largest number of processes; 0 or 1 compiles each kernel when it is first
/// launched.
const PROCESSES_VARIABLE: &str = "TESTGEN_COMPILE_PROCESSES";

/// Compiles the kernels of the GPU checks among `checks` that are not known to be in the cache.
/// Never fails: what is missing afterwards is compiled by the checks. Does nothing where burn does
/// not compute.
pub(super) fn run(
    environment: &Environment,
    harnesses: &[&'static Harness],
    selected: impl Fn(&Harness, Registration) -> bool,
) {
    // Other engines compile in their own processes.
    if !environment.engines.iter().any(EngineName::is_native) {
        return;
    }
    let Some(folder) = kernel_cache_folder() else {
        return;
    };
    // Before the processes start: each would wait 30 seconds for such a lock.
    remove_abandoned_locks(&folder);
    let units: Vec<CompileUnit> = units(environment, harnesses, selected)
        .into_iter()
        // Complete models are left out, so that a second run starts at once.
        .filter(|unit| !unit.marker(&folder, harnesses).exists())
        .collect();
    let processes = limits::processes(
        &units,
        environment,
        std::env::var(PROCESSES_VARIABLE).ok().as_deref(),
    );
    // One process would be no faster than the check that launches the kernels first.
    if units.is_empty() || processes < 2 {
        return;
    }
    compile(&units, processes, &folder, harnesses);
}

/// The harnesses and devices with a check that launches kernels.
fn units(
    environment: &Environment,
    harnesses: &[&'static Harness],
    selected: impl Fn(&Harness, Registration) -> bool,
) -> Vec<CompileUnit> {
    let (mut units, native) = (Vec::new(), EngineName::native());
    for (index, harness) in harnesses.iter().enumerate() {
        for device in [DeviceKind::Cuda, DeviceKind::Rocm] {
            // First, because asking whether a device is available detects it.
            let runs = jobs::compiled_checks(harness, device).any(|check| selected(harness, check));
            if runs
                && environment
                    .devices
                    .unavailable(harness.spec, device, &native, &environment.requirements)
                    .is_none()
            {
                units.push(CompileUnit {
                    harness: index,
                    device,
                });
            }
        }
    }
    units
}

fn compile(units: &[CompileUnit], processes: usize, folder: &Path, harnesses: &[&'static Harness]) {
    let started = Instant::now();
    let jobs = Jobs::new(units, processes);
    progress::show(jobs.progress());
    let jobs = Mutex::new(jobs);
    std::thread::scope(|scope| {
        for _ in 0..processes {
            scope.spawn(|| worker::supervise(&jobs));
        }
    });
    let finished = jobs
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .finished();
    // After all parts: with a marker, later starts skip this step.
    for unit in &finished {
        let marker = unit.marker(folder, harnesses);
        // Only logged: without the marker the next start compiles again, and nothing is wrong.
        if let Err(error) = marker
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&marker, b""))
        {
            log_verbose(
                "kernels",
                format_args!("`{}` cannot be written: {error}", marker.display()),
            );
        }
    }
    progress::end(finished.len(), units.len(), processes, started.elapsed());
}
