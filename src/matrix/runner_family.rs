//! Runners that are equivalent: which of them share a partition, and the tests that they select.

use super::{
    MatrixError,
    settings::{Ci, Runner, Tier},
    shard_job::{ShardJob, jobs},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};
use testgen_base::closed_enum::ClosedEnum;
use testgen_types::{DeviceKind, Precision};

/// Equivalent runners, which share the slices of one partition: together they run everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunnerFamily {
    /// `nightly-rocm-gfx942`, unique.
    pub name: String,
    /// When it runs.
    pub tier: Tier,
    /// The kind of its GPUs.
    pub device: DeviceKind,
    /// The architecture of its GPUs.
    pub family: String,
    /// GPUs for each job.
    pub gpus: NonZeroU32,
    /// The engines that compute; empty for the native one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<String>,
    /// The Python of engines that need one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// An image by digest.
    pub image: Option<String>,
    /// The ID of the group `render`.
    pub render_group: Option<u32>,
    /// The selected tests, as a filter of nextest.
    pub filter: String,
    /// One job for each slice.
    pub jobs: Vec<ShardJob>,
}

impl RunnerFamily {
    /// The requirement of the job: `rocm`, `rocm:8`.
    pub fn requirement(&self) -> String {
        if self.gpus.get() == 1 {
            self.device.to_string()
        } else {
            format!("{}:{}", self.device, self.gpus)
        }
    }
}

/// The properties that runners must have in common to share one partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RunnerKind<'c> {
    tier: Tier,
    device: DeviceKind,
    family: &'c str,
    precisions: Vec<Precision>,
    image: Option<&'c str>,
    render_group: Option<u32>,
    gpus: NonZeroU32,
    python: Option<&'c str>,
}

/// The families of the runners in `ci`, which check `precisions` with `engines`.
pub(super) fn families(
    ci: &Ci,
    precisions: &BTreeSet<Precision>,
    engines: &[String],
) -> Result<Vec<RunnerFamily>, MatrixError> {
    let mut kinds: BTreeMap<RunnerKind<'_>, Vec<&Runner>> = BTreeMap::new();
    for runner in &ci.runner {
        // A tier that is listed twice must not double the slices of the runner.
        for &tier in runner.tiers.iter().collect::<BTreeSet<_>>() {
            kinds
                .entry(RunnerKind::new(runner, tier, precisions))
                .or_default()
                .push(runner);
        }
    }
    let mut families: Vec<RunnerFamily> = Vec::new();
    for (kind, runners) in kinds {
        let plain = format!("{}-{}-{}", kind.tier.as_str(), kind.device, kind.family);
        // Runners of one architecture with different images, precisions, Pythons or numbers of GPUs
        // are different families.
        let taken = families.iter().any(|family| family.name == plain);
        let name = if taken {
            format!("{plain}-{}", runners[0].name)
        } else {
            plain
        };
        let jobs = jobs(ci, &name, kind.device, &runners)?;
        families.push(kind.family(precisions, engines, name, jobs));
    }
    Ok(families)
}

impl<'c> RunnerKind<'c> {
    fn new(runner: &'c Runner, tier: Tier, all: &BTreeSet<Precision>) -> Self {
        let chosen: BTreeSet<Precision> = runner.precisions.iter().copied().collect();
        // A runner that lists every precision is equivalent to one that lists none.
        let precisions = if chosen.is_empty() { all } else { &chosen };
        Self {
            // Labels, weights and timeouts may differ: they do not decide which tests a slice has.
            tier,
            device: runner.device,
            family: &runner.family,
            precisions: precisions.iter().copied().collect(),
            image: runner.image.as_deref(),
            render_group: runner.render_group,
            gpus: runner.gpus,
            python: runner.python.as_deref(),
        }
    }

    fn family(
        self,
        all: &BTreeSet<Precision>,
        engines: &[String],
        name: String,
        jobs: Vec<ShardJob>,
    ) -> RunnerFamily {
        RunnerFamily {
            name,
            tier: self.tier,
            device: self.device,
            family: self.family.to_owned(),
            gpus: self.gpus,
            engines: engines.to_vec(),
            python: self.python.map(str::to_owned),
            image: self.image.map(str::to_owned),
            render_group: self.render_group,
            filter: filter(self.device, all, &self.precisions),
            jobs,
        }
    }
}

/// The tests of a device, without the tests of precisions that are not checked.
fn filter(device: DeviceKind, all: &BTreeSet<Precision>, checked: &[Precision]) -> String {
    let skipped: Vec<&str> = all
        .iter()
        .filter(|precision| !checked.contains(precision))
        .map(|precision| precision.text())
        .collect();
    match skipped.as_slice() {
        [] => format!("test(/::{device}::/)"),
        // The tests of other engines than the native one end with the name of the engine.
        skipped => format!(
            "test(/::{device}::/) - test(/_({})(@|$)/)",
            skipped.join("|")
        ),
    }
}
