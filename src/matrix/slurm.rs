//! Slurm: a script that submits the jobs of a tier: one on the CPU, an array of slices for each
//! runner, and one that merges the reports.
//!
//! The project is in a directory that all nodes share. Owns: the order of submission. Does not own:
//! what a job does when it starts (`job`).

mod job;

use super::{
    File, MatrixPlan, RunnerFamily, ShardJob, Tier,
    files::header,
    script::{self, MergeDirectories},
};
use job::{ATTEMPT, Container, SlurmJob};

const PATH: &str = "slurm/testgen.sh";

/// In the directory of one submission, which `RUN` names.
const MERGED: MergeDirectories<'_> = MergeDirectories {
    reports: "\"$RUN\"/reports",
    page: "\"$RUN\"/page",
    summary: "\"$RUN\"/page/summary.md",
};

const START: &str = include_str!("slurm/start.sh");
const END: &str = include_str!("slurm/end.sh");
const RESULT: &str = include_str!("slurm/result.sh");

pub(super) fn file(plan: &MatrixPlan) -> File {
    let mut parts = vec![START.to_owned(), cpu(plan).submission()];
    if plan.ci.cpu.simulated_rocm {
        parts.push(simulated(plan).submission());
    }
    for tier in Tier::ALL.iter().filter(|tier| plan.has_tier(**tier)) {
        let families = plan.families.iter().filter(|family| family.tier == *tier);
        let arrays: Vec<String> = families
            .flat_map(arrays)
            .map(|job| job.submission())
            .collect();
        parts.push(format!(
            "if test \"$tier\" = {}; then\n\n{}\nfi\n",
            tier.as_str(),
            arrays.join("\n")
        ));
    }
    parts.push(report(plan).submission());
    parts.push(END.to_owned());
    File {
        path: PATH,
        text: Some(format!("{}{}", header("slurm"), parts.join("\n"))),
    }
}

/// Builds and archives the suite for all others, which start only when it has succeeded.
fn cpu(plan: &MatrixPlan) -> SlurmJob<'_> {
    let mut steps = plan.ci.cpu.setup.clone();
    steps.extend([
        script::install(plan),
        script::verify("slurm"),
        script::run_cpu(plan, ATTEMPT),
        script::archive(plan),
    ]);
    // A job whose node failed starts again, with another attempt's directory.
    let options = vec!["--requeue".to_owned()];
    SlurmJob {
        name: "testgen-cpu".to_owned(),
        options,
        results: Some("blocking/cpu".to_owned()),
        steps,
        ..on_cpu(plan)
    }
}

fn simulated(plan: &MatrixPlan) -> SlurmJob<'_> {
    let mut steps = plan.ci.cpu.setup.clone();
    steps.push(script::run_simulated(plan, ATTEMPT));
    let results = Some("blocking/rocm-sim".to_owned());
    SlurmJob {
        name: "testgen-rocm-sim".to_owned(),
        options: after_cpu(),
        results,
        steps,
        ..on_cpu(plan)
    }
}

/// Runs after all others, whether they succeeded or not, and decides.
fn report(plan: &MatrixPlan) -> SlurmJob<'_> {
    let steps = vec![
        // A job that Slurm starts again would append to the summary of its first attempt.
        "rm -rf \"$RUN\"/page".to_owned(),
        script::merge(plan, &MERGED),
        "status=0".to_owned(),
        format!("{} || status=1", script::decide(&MERGED)),
        RESULT.trim_end().to_owned(),
    ];
    let options = vec![
        "--requeue".to_owned(),
        "--dependency=afterany:\"$(IFS=:; echo \"${jobs[*]}\")\"".to_owned(),
    ];
    SlurmJob {
        name: "testgen-report".to_owned(),
        options,
        results: None,
        steps,
        ..on_cpu(plan)
    }
}

fn on_cpu(plan: &MatrixPlan) -> SlurmJob<'_> {
    SlurmJob {
        name: String::new(),
        minutes: plan.ci.timeout_minutes.get(),
        options: Vec::new(),
        slices: None,
        slurm: &plan.ci.cpu.slurm,
        container: plan
            .ci
            .cpu
            .image
            .as_deref()
            .map(|image| Container { image, flag: None }),
        results: None,
        steps: Vec::new(),
    }
}

/// One array for each runner; its indices are the runner's slices.
fn arrays(family: &RunnerFamily) -> impl Iterator<Item = SlurmJob<'_>> {
    family
        .jobs
        .chunk_by(|a, b| a.runner == b.runner)
        .map(|jobs| array(family, jobs))
}

fn array<'p>(family: &'p RunnerFamily, jobs: &'p [ShardJob]) -> SlurmJob<'p> {
    // The slices of a runner are consecutive, so an array of indices can name them.
    let (first, last) = (&jobs[0], &jobs[jobs.len() - 1]);
    let kind = if first.blocking {
        "blocking"
    } else {
        "advisory"
    };
    let slice = format!("slice:\"$SLURM_ARRAY_TASK_ID\"/{}", first.slices);
    let mut options = after_cpu();
    options.push(format!("--array={}-{}", first.slice, last.slice));
    options.push(format!("--gpus={}", family.gpus));
    SlurmJob {
        name: format!("{}-{}", family.name, first.runner),
        minutes: first.timeout_minutes.get(),
        options,
        slices: Some((first.slice, last.slice, first.slices)),
        slurm: &first.slurm,
        container: family.image.as_deref().map(|image| Container {
            image,
            flag: Some(family.device),
        }),
        results: Some(format!("{kind}/{}-{}", family.name, first.runner)),
        steps: vec![
            script::preflight(family),
            script::run_slice(family, &slice, ATTEMPT),
        ],
    }
}

/// Without the second option, jobs whose dependency has failed would wait without end.
fn after_cpu() -> Vec<String> {
    let options = [
        "--requeue",
        "--dependency=afterok:\"${jobs[0]}\"",
        "--kill-on-invalid-dep=yes",
    ];
    options.map(str::to_owned).to_vec()
}
