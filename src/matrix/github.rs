//! GitHub Actions: one workflow for every change, and one for GPUs that the first calls.
//!
//! Nothing self-hosted runs for a pull request from a fork: the call has the condition, and so has
//! every later job. The GPU workflow is called and has no trigger, so that it uses the archive of
//! the same run.

mod gpu;
mod steps;

use super::{
    File, MatrixPlan, Tier,
    files::header,
    script::{self, MergeDirectories},
    yaml::{Yaml, list, map},
};
use steps::{
    DOWNLOAD, NOT_A_FORK, UPLOAD_SARIF, VERSIONS, always, cache, checkout, concurrency, download,
    run, shell, upload, uses,
};

const WORKFLOW: &str = ".github/workflows/testgen.yml";
const GPU_WORKFLOW: &str = ".github/workflows/testgen-gpu.yml";

/// The tier of this run.
// A run by hand takes everything that the night takes.
const TIER: &str = "${{ github.event_name == 'pull_request' && 'presubmit' || github.event_name == 'push' && 'postsubmit' || 'nightly' }}";

/// The timeout, in minutes, of jobs that only copy files.
const SHORT: u32 = 15;

const MERGED: MergeDirectories<'_> = MergeDirectories {
    reports: "reports",
    page: "page",
    summary: "\"$GITHUB_STEP_SUMMARY\"",
};

/// Both workflows.
pub(super) fn files(plan: &MatrixPlan) -> Vec<File> {
    // Without GPU jobs the second one must not exist.
    let gpu = (!plan.families.is_empty()).then(|| render(&gpu::workflow(plan)));
    vec![
        File {
            path: WORKFLOW,
            text: Some(render(&workflow(plan))),
        },
        File {
            path: GPU_WORKFLOW,
            text: gpu,
        },
    ]
}

/// The text of a workflow, with the version of each action as a comment.
fn render(yaml: &Yaml) -> String {
    let text = VERSIONS
        .into_iter()
        .fold(yaml.render(), |text, (action, version)| {
            text.replace(&format!("{action}\n"), &format!("{action} # {version}\n"))
        });
    format!("{}{text}", header("github"))
}

fn workflow(plan: &MatrixPlan) -> Yaml {
    let mut on = map([
        ("pull_request", map([])),
        ("push", map([("branches", list(["main"]))])),
    ]);
    if plan.has_tier(Tier::Nightly) {
        on = on.with(
            "schedule",
            list([map([("cron", (&plan.ci.nightly).into())])]),
        );
    }
    map([
        ("name", "testgen".into()),
        ("on", on.with("workflow_dispatch", map([]))),
        // Jobs run the code of a change, so their token can only read.
        ("permissions", map([("contents", "read".into())])),
        // Only for pull requests: the next commit does not end a run of the main branch.
        (
            "concurrency",
            concurrency(
                "testgen",
                "${{ github.event_name == 'pull_request' }}".into(),
            ),
        ),
        ("defaults", shell()),
        ("jobs", jobs(plan)),
    ])
}

fn jobs(plan: &MatrixPlan) -> Yaml {
    let mut jobs = map([("testgen-cpu", cpu(plan)), ("testgen-sarif", sarif(plan))]);
    let mut needs = vec!["testgen-cpu"];
    if plan.ci.cpu.simulated_rocm {
        jobs = jobs.with("testgen-rocm-sim", simulated(plan));
        needs.push("testgen-rocm-sim");
    }
    if !plan.families.is_empty() {
        jobs = jobs.with("testgen-gpu", call());
        needs.push("testgen-gpu");
    }
    jobs.with("testgen-report", report(plan, &needs))
}

/// The required job: builds once, tests on the CPU, archives the suite for all other jobs.
fn cpu(plan: &MatrixPlan) -> Yaml {
    let mut steps = vec![checkout()];
    steps.extend(setup(plan));
    steps.push(cache());
    steps.push(run("Install testgen and nextest", &script::install(plan)));
    steps.push(run("Verify what is generated", &script::verify("github")));
    steps.push(run(
        "Test on the CPU",
        &script::run_cpu(plan, "reports/cpu"),
    ));
    steps.push(run("Archive the suite", &script::archive(plan)));
    steps.push(upload(
        "testgen-suite",
        "target/ci/bin\ntarget/ci/suite.tar.zst",
        false,
    ));
    steps.push(always(run("Summary", &summary("reports/cpu"))));
    steps.push(upload("testgen-report-cpu", "reports/cpu/*.jsonl", true));
    steps.push(upload("testgen-sarif", "reports/testgen.sarif", true));
    job(
        "CPU (required)",
        &plan.ci.cpu.label,
        plan.ci.timeout_minutes.get(),
    )
    .with_some(
        "container",
        plan.ci
            .cpu
            .image
            .as_ref()
            .map(|image| map([("image", image.into())])),
    )
    .with("steps", Yaml::List(steps))
}

/// The only job with write permission; it runs no code of the change.
fn sarif(plan: &MatrixPlan) -> Yaml {
    let fetch = map([("name", "testgen-sarif".into()), ("path", "reports".into())]);
    let show = map([
        ("sarif_file", "reports/testgen.sarif".into()),
        ("category", "testgen-verify".into()),
    ]);
    map([
        ("name", "Findings".into()),
        ("needs", list(["testgen-cpu"])),
        // Findings make the job before this one fail, so they are shown after a failure, too.
        ("if", format!("!cancelled() && ({NOT_A_FORK})").into()),
        ("runs-on", (&plan.ci.cpu.label).into()),
        ("timeout-minutes", SHORT.into()),
        (
            "permissions",
            map([
                ("contents", "read".into()),
                ("security-events", "write".into()),
            ]),
        ),
        (
            "steps",
            list([uses(DOWNLOAD, fetch), uses(UPLOAD_SARIF, show)]),
        ),
    ])
}

fn simulated(plan: &MatrixPlan) -> Yaml {
    let mut steps = vec![checkout()];
    steps.extend(setup(plan));
    steps.push(cache());
    steps.push(download("testgen-suite", script::DIRECTORY));
    // Artifacts lose the permission to execute.
    steps.push(run(
        "Test ROCm on a simulation",
        &format!(
            "chmod +x target/ci/bin/*\n{}",
            script::run_simulated(plan, "reports/rocm-sim")
        ),
    ));
    steps.push(always(run("Summary", &summary("reports/rocm-sim"))));
    steps.push(upload(
        "testgen-report-rocm-sim",
        "reports/rocm-sim/*.jsonl",
        true,
    ));
    job(
        "ROCm, simulated",
        &plan.ci.cpu.label,
        plan.ci.timeout_minutes.get(),
    )
    .with("needs", list(["testgen-cpu"]))
    .with_some(
        "container",
        plan.ci
            .cpu
            .image
            .as_ref()
            .map(|image| map([("image", image.into())])),
    )
    .with("steps", Yaml::List(steps))
}

fn call() -> Yaml {
    map([
        ("name", "GPU".into()),
        ("needs", list(["testgen-cpu"])),
        ("if", NOT_A_FORK.into()),
        ("uses", format!("./{GPU_WORKFLOW}").into()),
        ("with", map([("tier", TIER.into())])),
    ])
}

/// Merges the reports of all machines; the reports of blocking runners decide.
fn report(plan: &MatrixPlan, needs: &[&str]) -> Yaml {
    let steps = [
        // The report reads the expected failures of the specs and of testgen.toml.
        checkout(),
        download("testgen-suite", script::DIRECTORY),
        download_reports("testgen-report-*", "reports/blocking"),
        download_reports("testgen-advisory-*", "reports/advisory"),
        run("Merge", &script::merge(plan, &MERGED)),
        // Before the decision, which ends the job if the report is red.
        upload("testgen-page", "page", false),
        run("Decide", &script::decide(&MERGED)),
    ];
    map([
        ("name", "Report".into()),
        ("needs", list(needs.iter().copied())),
        // Also after failures: the page then shows what failed.
        ("if", "!cancelled()".into()),
        ("runs-on", (&plan.ci.cpu.label).into()),
        ("timeout-minutes", SHORT.into()),
        ("steps", list(steps)),
    ])
}

fn job(name: &str, label: &str, minutes: u32) -> Yaml {
    map([
        ("name", name.into()),
        ("runs-on", label.into()),
        ("timeout-minutes", minutes.into()),
    ])
}

fn summary(directory: &str) -> String {
    format!(
        // A red report has exit code 1; the step that ran the tests has decided the job's result.
        "target/ci/bin/testgen report {directory} --format markdown >> \"$GITHUB_STEP_SUMMARY\" || true"
    )
}

fn setup(plan: &MatrixPlan) -> Option<Yaml> {
    (!plan.ci.cpu.setup.is_empty()).then(|| run("Set up", &plan.ci.cpu.setup.join("\n")))
}

fn download_reports(pattern: &str, path: &str) -> Yaml {
    uses(
        DOWNLOAD,
        map([("pattern", pattern.into()), ("path", path.into())]),
    )
}
