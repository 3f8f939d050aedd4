//! The plan: one job on the CPU, one on the simulation, and the families of GPU jobs.
//!
//! Does not own: the checks of the section (`setting_checks.rs`), and how runners become families
//! and slices (`runner_family.rs`, `shard_job.rs`).

use super::{
    MatrixError,
    runner_family::{RunnerFamily, families},
    setting_checks::{check_cpu, check_runner, check_runner_names},
    settings::{Ci, Tier},
};
use crate::spec::LoadedSpec;
use std::collections::BTreeSet;
use testgen_engine::EngineName;
use testgen_types::{DeviceKind, Precision};

/// The plan that all formats are rendered from.
#[derive(Debug, Clone)]
pub struct MatrixPlan {
    /// The section, checked.
    pub ci: Ci,
    /// The directory of the suite, as the command line of jobs names it.
    pub suite: String,
    /// The number of specs.
    pub specs: usize,
    /// The engines of testgen.toml; empty for the native one alone.
    pub engines: Vec<EngineName>,
    /// The GPU jobs.
    pub families: Vec<RunnerFamily>,
}

impl MatrixPlan {
    /// Plans the jobs for `specs`, which `engines` compute. The simulated device is one of the
    /// native engine.
    ///
    /// # Errors
    ///
    /// When the section has an invalid value, or names something that no spec has.
    pub fn new(
        mut ci: Ci,
        suite: String,
        specs: &[LoadedSpec],
        engines: Vec<EngineName>,
    ) -> Result<Self, MatrixError> {
        check_cpu(&ci.cpu)?;
        ci.cpu.simulated_rocm &= engines.is_empty() || engines.iter().any(EngineName::is_native);
        let precisions: BTreeSet<Precision> = specs
            .iter()
            .flat_map(|loaded| loaded.spec.precisions.iter().copied())
            .collect();
        let devices: BTreeSet<DeviceKind> = specs
            .iter()
            .flat_map(|loaded| loaded.spec.devices.iter().copied())
            .collect();
        for runner in &ci.runner {
            check_runner(runner, &devices, &precisions)?;
        }
        check_runner_names(&ci.runner)?;
        let names: Vec<String> = engines.iter().map(EngineName::to_string).collect();
        let families = families(&ci, &precisions, &names)?;
        Ok(Self {
            ci,
            suite,
            specs: specs.len(),
            engines,
            families,
        })
    }

    /// The tiers in which GPU jobs run.
    pub fn has_tier(&self, tier: Tier) -> bool {
        self.families.iter().any(|family| family.tier == tier)
    }

    /// Whether GPU jobs of this kind run.
    pub fn has_device(&self, device: DeviceKind) -> bool {
        self.families.iter().any(|family| family.device == device)
    }
}
