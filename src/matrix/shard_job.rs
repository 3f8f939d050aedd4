//! The jobs of a family: the slices of a partition, and the runner of each.

use super::{
    MatrixError,
    settings::{Ci, Runner},
    shards::share,
    slurm_options::Slurm,
};
use serde::Serialize;
use std::{collections::BTreeMap, num::NonZeroU32};
use testgen_types::DeviceKind;

/// The most jobs that one matrix of GitHub Actions has.
const MOST_JOBS: usize = 256;

/// One slice on one runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShardJob {
    /// `nightly-rocm-gfx942-mi300x-1of2`; part of the names of its artifacts.
    pub name: String,
    /// The runner.
    pub runner: String,
    /// The labels by which the CI system chooses it.
    pub labels: Vec<String>,
    /// Counted from 1.
    pub slice: u32,
    /// The number of slices.
    pub slices: u32,
    /// Minutes after which it is stopped.
    pub timeout_minutes: NonZeroU32,
    /// Whether a failure stops the change.
    pub blocking: bool,
    /// Labels of Kubernetes nodes.
    pub node_selector: BTreeMap<String, String>,
    /// Options and modules of Slurm.
    #[serde(skip_serializing_if = "Slurm::is_empty")]
    pub slurm: Slurm,
}

/// The slices of a partition, the slices of one runner one after the other.
pub(super) fn jobs(
    ci: &Ci,
    family: &str,
    device: DeviceKind,
    runners: &[&Runner],
) -> Result<Vec<ShardJob>, MatrixError> {
    let weights: Vec<NonZeroU32> = runners.iter().map(|runner| runner.weight).collect();
    // A saturated sum is above the limit below, which refuses it.
    let sum = weights
        .iter()
        .map(|weight| weight.get())
        .fold(0, u32::saturating_add);
    let slices = ci.shards.get(&device).map_or(sum, |shards| shards.get());
    if (slices as usize) < runners.len() || slices as usize > MOST_JOBS {
        let what = format!(
            "{slices} slices for the {} runners of `{family}`",
            runners.len()
        );
        let help = format!("there must be at least one for each runner, and at most {MOST_JOBS}");
        return Err(MatrixError::setting(format!("shards.{device}"), what, help));
    }
    let mut jobs = Vec::new();
    for (runner, part) in runners.iter().zip(share(slices, &weights)) {
        for _ in 0..part {
            // Counted over all runners, which share one partition.
            jobs.push(job(ci, family, runner, jobs.len() as u32 + 1, slices));
        }
    }
    Ok(jobs)
}

fn job(ci: &Ci, family: &str, runner: &Runner, slice: u32, slices: u32) -> ShardJob {
    ShardJob {
        name: format!("{family}-{}-{slice}of{slices}", runner.name),
        runner: runner.name.clone(),
        labels: runner.labels.clone(),
        slice,
        slices,
        timeout_minutes: runner.timeout_minutes.unwrap_or(ci.timeout_minutes),
        blocking: runner.blocking,
        node_selector: runner.node_selector.clone(),
        slurm: runner.slurm.clone(),
    }
}
