//! The `ci` section of testgen.toml: the machines that run the suite, and when.

use super::slurm_options::Slurm;
use crate::settings::{SettingsError, SettingsFile};
use serde::Deserialize;
use std::{collections::BTreeMap, num::NonZeroU32};
use testgen_types::{DeviceKind, Precision};

/// Machines and schedules. Everything has a default except the runners, of which there are none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ci {
    /// Minutes after which a job is stopped.
    pub timeout_minutes: NonZeroU32,
    /// The command that puts the testgen binary into `target/ci/bin`.
    pub install: String,
    /// The version of cargo-nextest, which runs the archived suite on machines without Rust.
    pub nextest: String,
    /// The schedule of the nightly tier, as a cron expression in UTC.
    pub nightly: String,
    /// Slices of the suite for each family of a device; without, the sum of the weights of its
    /// runners.
    pub shards: BTreeMap<DeviceKind, NonZeroU32>,
    /// The job that every change must pass.
    pub cpu: CpuSettings,
    /// The machines with GPUs.
    pub runner: Vec<Runner>,
}

/// The key of testgen.toml.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CiSection {
    ci: Ci,
}

impl Ci {
    /// The section of `file`.
    ///
    /// # Errors
    ///
    /// When a value of it is invalid.
    pub fn from_settings(file: &SettingsFile) -> Result<Self, SettingsError> {
        file.section::<CiSection>().map(|section| section.ci)
    }
}

/// The job that every change must pass: builds once, tests on the CPU, archives the suite for the
/// others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuSettings {
    /// A label of a hosted runner; changes from forks run there.
    pub label: String,
    /// An image by digest; without, the runner itself.
    pub image: Option<String>,
    /// Shell lines before anything else.
    pub setup: Vec<String>,
    /// The Python of engines that need one; without, `python3`.
    pub python: Option<String>,
    /// Whether a second job runs the ROCm path on a software simulation (docs/hip-sim.md); it needs
    /// a C++ compiler.
    pub simulated_rocm: bool,
    /// Options and modules of the jobs without GPUs on a Slurm cluster.
    pub slurm: Slurm,
}

/// A machine with GPUs, or several alike.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// Its name, which is part of the names of jobs and artifacts.
    pub name: String,
    /// The kind of its GPUs.
    pub device: DeviceKind,
    /// The architecture of its GPUs: `gfx942`, `sm_90`.
    pub family: String,
    /// The labels by which the CI system chooses it.
    pub labels: Vec<String>,
    /// The number of slices that it runs for each slice of a runner of weight 1.
    #[serde(default = "one")]
    pub weight: NonZeroU32,
    /// The number of GPUs that must be present. Each of them runs every check of a job and is a
    /// column of the report.
    #[serde(default = "one")]
    pub gpus: NonZeroU32,
    /// The Python of engines that need one, on the machine or in the image; without, `python3`.
    #[serde(default)]
    pub python: Option<String>,
    /// An image by digest; without, the machine itself.
    #[serde(default)]
    pub image: Option<String>,
    /// When it runs.
    pub tiers: Vec<Tier>,
    /// The precisions that it checks; by default the precisions of the specs.
    #[serde(default)]
    pub precisions: Vec<Precision>,
    /// Minutes after which a job is stopped; by default the minutes of the section.
    #[serde(default)]
    pub timeout_minutes: Option<NonZeroU32>,
    /// Whether a failure stops the change.
    #[serde(default = "yes")]
    pub blocking: bool,
    /// The ID of the group `render` on the machine; images often lack the group.
    #[serde(default)]
    pub render_group: Option<u32>,
    /// Labels of Kubernetes nodes.
    #[serde(default)]
    pub node_selector: BTreeMap<String, String>,
    /// Options and modules of its jobs on a Slurm cluster.
    #[serde(default)]
    pub slurm: Slurm,
}

/// When a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// For every change, before it is merged; never for a change from a fork.
    Presubmit,
    /// For every commit on the main branch.
    Postsubmit,
    /// Once a day.
    Nightly,
}

impl Tier {
    /// Every tier.
    pub const ALL: &[Self] = &[Self::Presubmit, Self::Postsubmit, Self::Nightly];

    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Presubmit => "presubmit",
            Self::Postsubmit => "postsubmit",
            Self::Nightly => "nightly",
        }
    }
}

impl Default for Ci {
    fn default() -> Self {
        Self {
            timeout_minutes: NonZeroU32::new(60).expect("60 is not 0"),
            install: "cargo install --locked testgen --root target/ci".to_owned(),
            nextest: "0.9.151".to_owned(),
            // Not on the full hour, when GitHub delays scheduled runs.
            nightly: "17 3 * * *".to_owned(),
            shards: BTreeMap::new(),
            cpu: CpuSettings::default(),
            runner: Vec::new(),
        }
    }
}

impl Default for CpuSettings {
    fn default() -> Self {
        Self {
            label: "ubuntu-24.04".to_owned(),
            image: None,
            setup: Vec::new(),
            python: None,
            simulated_rocm: true,
            slurm: Slurm::default(),
        }
    }
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn yes() -> bool {
    true
}
