//! The plan: one job on the CPU, one on the simulation, and for each tier and family of GPU the
//! slices of a partition.

use super::{
    MatrixError,
    settings::{Ci, CpuSettings, Runner, Tier},
    shards::share,
    slurm_options::Slurm,
};
use crate::spec::LoadedSpec;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};
use testgen_base::closed_enum::ClosedEnum;
use testgen_engine::EngineName;
use testgen_types::{DeviceKind, Precision, excerpt};

/// The most jobs that one matrix of GitHub Actions has.
const MOST_JOBS: usize = 256;

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
        for (index, runner) in ci.runner.iter().enumerate() {
            check_runner(runner, &devices, &precisions)?;
            if ci.runner[..index]
                .iter()
                .any(|other| other.name == runner.name)
            {
                let what = format!("two runners are called `{}`", runner.name);
                return Err(MatrixError::setting(
                    "runner",
                    what,
                    "give each a name of its own",
                ));
            }
        }
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

fn check_cpu(cpu: &CpuSettings) -> Result<(), MatrixError> {
    if !cpu.label.starts_with("ubuntu-") {
        let what = format!("`{}` is not a hosted Linux runner", cpu.label);
        let help = "this job runs for changes from forks, too, and nothing self-hosted may; write `ubuntu-24.04`";
        return Err(MatrixError::setting("cpu.label", what, help));
    }
    cpu.slurm.check("cpu.slurm")?;
    check_image("cpu.image", cpu.image.as_deref())
}

fn check_runner(
    runner: &Runner,
    devices: &BTreeSet<DeviceKind>,
    precisions: &BTreeSet<Precision>,
) -> Result<(), MatrixError> {
    for (name, text) in [("name", &runner.name), ("family", &runner.family)] {
        if !is_word(text) {
            let help = "use up to 40 lower-case letters, digits, `-` and `_`";
            return Err(MatrixError::setting(
                format!("runner.{name}"),
                format!("`{text}` is not a valid name"),
                help,
            ));
        }
    }
    let name = &runner.name;
    if runner.device == DeviceKind::Cpu {
        return wrong(
            "device",
            "`cpu` has its own job".to_owned(),
            "write `cuda` or `rocm`",
        );
    }
    if !devices.contains(&runner.device) {
        let what = format!(
            "runner `{name}` is for {}, which no spec names",
            runner.device
        );
        return wrong(
            "device",
            what,
            "add the device to a spec, or remove the runner",
        );
    }
    if let Some(precision) = runner
        .precisions
        .iter()
        .find(|precision| !precision.applies_on(runner.device))
    {
        return wrong(
            "precisions",
            format!("{} computes nothing in `{precision}`", runner.device),
            "remove it",
        );
    }
    if let Some(precision) = runner
        .precisions
        .iter()
        .find(|precision| !precisions.contains(precision))
    {
        return wrong(
            "precisions",
            format!("no spec names `{precision}`"),
            "remove it, or add it to a spec",
        );
    }
    if runner.labels.is_empty() || runner.labels.iter().any(|label| label.trim().is_empty()) {
        return wrong(
            "labels",
            format!("runner `{name}` has none"),
            "write what the CI system knows it by",
        );
    }
    if runner.tiers.is_empty() {
        let help = "write at least one of `presubmit`, `postsubmit`, `nightly`";
        return wrong("tiers", format!("runner `{name}` never runs"), help);
    }
    let selector = &runner.node_selector;
    if let Some((key, value)) = selector
        .iter()
        .find(|(key, value)| !is_label_key(key) || !is_label(value))
    {
        let help = "write a label of Kubernetes: [PREFIX/]NAME, of up to 253 and 63 letters, digits, `-`, `_` and `.`";
        return wrong(
            "node_selector",
            format!(
                "`{}` = `{}` is not a label of a node",
                excerpt(key),
                excerpt(value)
            ),
            help,
        );
    }
    runner.slurm.check("runner.slurm")?;
    check_image("runner.image", runner.image.as_deref())
}

fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').unwrap_or(("", text));
    !name.is_empty()
        && is_label(name)
        && prefix.len() <= 253
        && prefix.chars().all(is_label_character)
}

/// A label's value, which may be empty, or the name in its key.
fn is_label(text: &str) -> bool {
    text.len() <= 63 && text.chars().all(is_label_character)
}

fn is_label_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 40
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
}

/// Requires a digest, because a tag can refer to another image later.
fn check_image(key: &str, image: Option<&str>) -> Result<(), MatrixError> {
    let Some(image) = image else { return Ok(()) };
    let digest = image
        .split_once("@sha256:")
        .map_or("", |(_, digest)| digest);
    if digest.len() == 64 && digest.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
        return Ok(());
    }
    let help =
        "write `NAME@sha256:DIGEST`; `docker buildx imagetools inspect NAME:TAG` shows the digest";
    Err(MatrixError::setting(
        key,
        format!("`{image}` does not name its digest"),
        help,
    ))
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

fn families(
    ci: &Ci,
    precisions: &BTreeSet<Precision>,
    engines: &[String],
) -> Result<Vec<RunnerFamily>, MatrixError> {
    let mut kinds: BTreeMap<RunnerKind<'_>, Vec<&Runner>> = BTreeMap::new();
    for runner in &ci.runner {
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
        let precisions = if chosen.is_empty() { all } else { &chosen };
        Self {
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

/// The slices of a partition, the slices of one runner one after the other.
fn jobs(
    ci: &Ci,
    family: &str,
    device: DeviceKind,
    runners: &[&Runner],
) -> Result<Vec<ShardJob>, MatrixError> {
    let weights: Vec<NonZeroU32> = runners.iter().map(|runner| runner.weight).collect();
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

fn wrong<T>(key: &str, what: String, help: &str) -> Result<T, MatrixError> {
    Err(MatrixError::setting(format!("runner.{key}"), what, help))
}
