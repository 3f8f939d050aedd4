//! GitLab CI: a file that `.gitlab-ci.yml` includes. One job for each slice, because runners are
//! chosen by tags.
//!
//! The flags of GPU containers belong into the configuration of the runner, not into the pipeline;
//! docs/ci.md lists them.

use super::{
    File, MatrixPlan, RunnerFamily, ShardJob, Tier,
    files::header,
    script::{self, MergeDirectories},
    yaml::{Yaml, list, map},
};

const PATH: &str = ".gitlab/testgen.yml";

const MERGED: MergeDirectories<'_> = MergeDirectories {
    reports: "reports",
    page: "page",
    summary: "page/summary.md",
};

pub(super) fn file(plan: &MatrixPlan) -> File {
    File {
        path: PATH,
        text: Some(format!("{}{}", header("gitlab"), pipeline(plan).render())),
    }
}

fn pipeline(plan: &MatrixPlan) -> Yaml {
    let mut stages = vec!["testgen-build", "testgen-test"];
    let mut jobs = vec![("testgen-cpu".to_owned(), cpu(plan))];
    if plan.ci.cpu.simulated_rocm {
        jobs.push(("testgen-rocm-sim".to_owned(), simulated(plan)));
    }
    for family in &plan.families {
        jobs.push((template_name(family), template(family)));
        jobs.extend(
            family
                .jobs
                .iter()
                .map(|job| (format!("testgen-{}", job.name), gpu(family, job))),
        );
    }
    stages.push("testgen-report");
    jobs.push(("testgen-report".to_owned(), report(plan)));
    let mut entries = vec![("stages".to_owned(), list(stages))];
    entries.append(&mut jobs);
    Yaml::Map(entries)
}

fn cpu(plan: &MatrixPlan) -> Yaml {
    let mut script: Vec<String> = plan.ci.cpu.setup.clone();
    script.extend([
        script::install(plan),
        script::verify("gitlab"),
        script::run_cpu(plan, "reports/cpu"),
        script::archive(plan),
    ]);
    let after =
        "target/ci/bin/testgen report reports/cpu --format junit --out reports/junit.xml || true";
    base(plan, "testgen-build")
        .with("rules", in_every_pipeline("on_success"))
        .with("cache", cache("pull-push"))
        .with("script", list(script))
        .with("after_script", list([after]))
        .with(
            "artifacts",
            artifacts(
                &["target/ci/bin", script::ARCHIVE, "reports"],
                "reports/junit.xml",
            ),
        )
}

fn simulated(plan: &MatrixPlan) -> Yaml {
    let mut script: Vec<String> = plan.ci.cpu.setup.clone();
    script.push(script::run_simulated(plan, "reports/rocm-sim"));
    let after = "target/ci/bin/testgen report reports/rocm-sim --format junit --out reports/rocm-sim/junit.xml || true";
    base(plan, "testgen-test")
        .with("rules", in_every_pipeline("on_success"))
        .with("needs", list(["testgen-cpu"]))
        // Two jobs that write one cache would overwrite each other's files.
        .with("cache", cache("pull"))
        .with("script", list(script))
        .with("after_script", list([after]))
        .with(
            "artifacts",
            artifacts(&["reports/rocm-sim"], "reports/rocm-sim/junit.xml"),
        )
}

/// The common part of the jobs of a family; `SLICE` and `REPORTS` differ.
fn template(family: &RunnerFamily) -> Yaml {
    let script = [
        script::preflight(family),
        script::run_slice(family, "\"$SLICE\"", "\"$REPORTS\""),
    ];
    map([
        ("stage", "testgen-test".into()),
        ("needs", list(["testgen-cpu"])),
    ])
    .with(
        "rules",
        list([map([("if", condition(family.tier).into())])]),
    )
    .with_some("image", family.image.as_ref())
    .with("script", list(script))
    .with("artifacts", artifacts(&["$REPORTS"], "$REPORTS/junit.xml"))
}

fn gpu(family: &RunnerFamily, job: &ShardJob) -> Yaml {
    let reports = format!(
        "reports/{}/{}",
        if job.blocking { "blocking" } else { "advisory" },
        job.name
    );
    let slice = format!("slice:{}/{}", job.slice, job.slices);
    map([
        ("extends", template_name(family).into()),
        ("tags", list(job.labels.iter())),
        ("timeout", minutes(job.timeout_minutes.get()).into()),
        ("allow_failure", (!job.blocking).into()),
        // GitLab runs the jobs of a resource group one after the other, so that slices do not share
        // the runner's GPUs.
        ("resource_group", format!("testgen-{}", job.runner).into()),
        (
            "variables",
            map([("SLICE", slice.into()), ("REPORTS", reports.into())]),
        ),
    ])
}

fn template_name(family: &RunnerFamily) -> String {
    format!(".testgen-{}", family.name)
}

/// GitLab runs the pipeline of a merge request from a fork in the parent project only when a member
/// asks for it; the condition keeps GPUs out of it even then.
fn condition(tier: Tier) -> &'static str {
    match tier {
        Tier::Presubmit => {
            "$CI_PIPELINE_SOURCE == \"merge_request_event\" && $CI_MERGE_REQUEST_SOURCE_PROJECT_PATH == $CI_PROJECT_PATH"
        }
        Tier::Postsubmit => {
            "$CI_PIPELINE_SOURCE == \"push\" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"
        }
        Tier::Nightly => "$CI_PIPELINE_SOURCE == \"schedule\"",
    }
}

fn report(plan: &MatrixPlan) -> Yaml {
    // The report of the required job is evaluated, too.
    // `mv` fails for `reports/rocm-sim` where there is no simulation, after moving the other one.
    let gather =
        "mkdir -p reports/blocking\nmv reports/cpu reports/rocm-sim reports/blocking/ || true";
    let merge = [
        gather.to_owned(),
        script::merge(plan, &MERGED),
        script::decide(&MERGED),
    ];
    base(plan, "testgen-report")
        // Also after failures: the page then shows what failed.
        .with("rules", in_every_pipeline("always"))
        .with("script", list(merge))
        .with("artifacts", artifacts(&["page"], "page/junit.xml"))
}

/// Without rules, a job is not in the pipelines of merge requests, and GitLab refuses a pipeline in
/// which a GPU job needs an absent one.
fn in_every_pipeline(when: &str) -> Yaml {
    list([map([("when", when.into())])])
}

fn base(plan: &MatrixPlan, stage: &str) -> Yaml {
    map([("stage", stage.into())])
        .with_some("image", plan.ci.cpu.image.as_ref())
        .with("timeout", minutes(plan.ci.timeout_minutes.get()))
}

fn minutes(minutes: u32) -> String {
    format!("{minutes} minutes")
}

fn cache(policy: &str) -> Yaml {
    map([
        ("key", map([("files", list(["Cargo.lock"]))])),
        // Without the registry: cargo keeps it outside of the project, from which GitLab caches.
        ("paths", list(["target"])),
        ("policy", policy.into()),
    ])
}

fn artifacts(paths: &[&str], junit: &str) -> Yaml {
    map([
        // The reports of a failed job show what failed.
        ("when", "always".into()),
        ("paths", list(paths.iter().copied())),
        ("reports", map([("junit", junit.into())])),
    ])
}
