//! The workflow for GPUs: one job for each tier and family, one matrix entry for each slice.

use super::steps::{NOT_A_FORK, UPLOAD, checkout, concurrency, download, run, shell, uses};
use crate::matrix::{
    MatrixPlan, RunnerFamily, ShardJob, script,
    yaml::{Yaml, list, map},
};

/// The workflow that `testgen.yml` calls with a tier. Its jobs belong to the run of the caller: a
/// newer commit of a pull request cancels that run and them with it.
pub(super) fn workflow(plan: &MatrixPlan) -> Yaml {
    let tier = map([
        ("description", "presubmit, postsubmit or nightly".into()),
        ("required", true.into()),
        ("type", "string".into()),
    ]);
    let jobs = plan
        .families
        .iter()
        .map(|family| (family.name.clone(), job(family)))
        .collect();
    map([
        ("name", "testgen-gpu".into()),
        (
            "on",
            map([("workflow_call", map([("inputs", map([("tier", tier)]))]))]),
        ),
        ("permissions", map([("contents", "read".into())])),
        ("concurrency", concurrency("testgen-gpu", false.into())),
        ("defaults", shell()),
        ("jobs", Yaml::Map(jobs)),
    ])
}

fn job(family: &RunnerFamily) -> Yaml {
    let strategy = map([
        // The result of one slice says nothing about the others.
        ("fail-fast", false.into()),
        (
            "matrix",
            map([(
                "include",
                Yaml::List(family.jobs.iter().map(entry).collect()),
            )]),
        ),
    ]);
    map([
        (
            "name",
            format!(
                "{} ${{{{ matrix.runner }}}} ${{{{ matrix.slice }}}}",
                family.name
            )
            .into(),
        ),
        (
            "if",
            format!(
                "inputs.tier == '{}' && ({NOT_A_FORK})",
                family.tier.as_str()
            )
            .into(),
        ),
        ("strategy", strategy),
        ("runs-on", "${{ matrix.labels }}".into()),
        ("timeout-minutes", "${{ matrix.minutes }}".into()),
        (
            "continue-on-error",
            "${{ matrix.kind == 'advisory' }}".into(),
        ),
    ])
    .with_some("container", container(family))
    .with("steps", steps(family))
}

fn entry(job: &ShardJob) -> Yaml {
    map([
        ("runner", (&job.runner).into()),
        ("labels", list(job.labels.iter())),
        ("slice", format!("{}/{}", job.slice, job.slices).into()),
        ("artifact", (&job.name).into()),
        ("minutes", job.timeout_minutes.get().into()),
        (
            "kind",
            // The name of the artifact begins with it, and the last job downloads both kinds into
            // different folders.
            if job.blocking { "report" } else { "advisory" }.into(),
        ),
    ])
}

fn container(family: &RunnerFamily) -> Option<Yaml> {
    let image = family.image.as_ref()?;
    Some(map([
        ("image", image.into()),
        ("options", script::container_flags(family).into()),
    ]))
}

fn steps(family: &RunnerFamily) -> Yaml {
    let artifact = map([
        (
            "name",
            "testgen-${{ matrix.kind }}-${{ matrix.artifact }}".into(),
        ),
        ("path", "reports/**/*.jsonl\nreports/junit.xml\n".into()),
        ("if-no-files-found", "error".into()),
    ]);
    list([
        checkout(),
        download("testgen-suite", script::DIRECTORY),
        run("Preflight", &script::preflight(family)),
        run(
            "Test",
            &script::run_slice(family, "\"slice:${{ matrix.slice }}\"", "reports"),
        ),
        // Also after failed checks, because the step would be skipped then by default.
        uses(UPLOAD, artifact).with("if", "!cancelled()"),
    ])
}
