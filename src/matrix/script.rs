//! The shell lines of jobs, the same in every CI system.

use super::{MatrixPlan, RunnerFamily};
use testgen_base::text::shell_quote;
use testgen_engine::EngineName;
use testgen_types::DeviceKind;

/// The directory of binaries and of the archive; the cache and the artifacts use it, too.
pub(super) const DIRECTORY: &str = "target/ci";

/// The archive of the suite's test binary.
pub(super) const ARCHIVE: &str = "target/ci/suite.tar.zst";

/// Installs testgen and cargo-nextest below `target/ci`, unless the cache has them.
pub(super) fn install(plan: &MatrixPlan) -> String {
    let nextest = shell_quote(&plan.ci.nextest);
    lines(&[
        &plan.ci.install,
        "test -x target/ci/bin/cargo-nextest \\",
        &format!("  || cargo install --locked cargo-nextest --version {nextest} --root target/ci"),
    ])
}

/// Checks that generated files are up to date and cover every device.
pub(super) fn verify(format: &str) -> String {
    lines(&[
        "target/ci/bin/testgen generate --check",
        &format!("target/ci/bin/testgen matrix --format {format} --check"),
        "mkdir -p reports",
        // Run twice: the first only writes the file for the code host, the second prints the
        // findings and decides.
        "target/ci/bin/testgen verify --format sarif > reports/testgen.sarif || true",
        "target/ci/bin/testgen verify",
    ])
}

/// Runs the whole suite on the CPU, with the engines of testgen.toml; checks of absent devices are
/// reported as ignored. `directory` is the directory of the report.
pub(super) fn run_cpu(plan: &MatrixPlan, directory: &str) -> String {
    let python = plan
        .ci
        .cpu
        .python
        .as_deref()
        .map_or(String::new(), |python| {
            format!(" --python {}", shell_quote(python))
        });
    format!("target/ci/bin/testgen run --require cpu{python} --report {directory}/report.jsonl")
}

/// The ROCm path on a software simulation, which only the native engine can use.
pub(super) fn run_simulated(plan: &MatrixPlan, directory: &str) -> String {
    let engine = if plan.engines.is_empty() {
        ""
    } else {
        " --engine native"
    };
    format!(
        "target/ci/bin/testgen run --device rocm --simulate rocm --require rocm-sim{engine} \\\n  --report {directory}/report.jsonl"
    )
}

/// The engines and their Python, for a suite that runs without testgen.
pub(super) fn engines(names: &[String], python: Option<&str>) -> Vec<String> {
    let names = (!names.is_empty())
        .then(|| format!("export TESTGEN_ENGINES={}", shell_quote(&names.join(","))));
    let python = python.map(|python| {
        format!(
            "export TESTGEN_PYTHON={}{}",
            from_here(python),
            shell_quote(python)
        )
    });
    names.into_iter().chain(python).collect()
}

/// Archives the test binary for machines without Rust.
pub(super) fn archive(plan: &MatrixPlan) -> String {
    let manifest = shell_quote(&format!("{}/Cargo.toml", plan.suite));
    lines(&[
        // The packages are the packages of `testgen run`, so that nothing is built twice.
        &format!(
            "target/ci/bin/cargo-nextest nextest archive --workspace --test conformance --manifest-path {manifest} \\"
        ),
        &format!("  --archive-file {ARCHIVE}"),
    ])
}

/// Prints the GPUs of the machine, and fails unless the required ones are present.
pub(super) fn preflight(family: &RunnerFamily) -> String {
    lines(&[
        // Artifacts lose the permission to execute.
        "chmod +x target/ci/bin/*",
        &format!(
            "target/ci/bin/testgen doctor --devices --format json --require {}",
            shell_quote(&family.requirement())
        ),
    ])
}

/// One slice of the suite, on every GPU of the job.
///
/// `slice` is how the CI system writes `slice:1/4`, and `directory` is the directory of the
/// reports.
pub(super) fn run_slice(family: &RunnerFamily, slice: &str, directory: &str) -> String {
    let mut steps = engines(&family.engines, family.python.as_deref());
    steps.push(format!(
        "export TESTGEN_REQUIRE={}",
        shell_quote(&family.requirement())
    ));
    if family.gpus.get() == 1 {
        steps.push(run_tests(&selected(family, slice), directory, ""));
    } else {
        steps.push(on_every_gpu(family, slice, directory));
    }
    steps.join("\n")
}

/// Each GPU runs the slice at the same time as the others, with its part of the processors, and
/// writes a separate report.
fn on_every_gpu(family: &RunnerFamily, slice: &str, directory: &str) -> String {
    let RunnerFamily { device, gpus, .. } = family;
    let tests = run_tests(
        &selected(family, slice),
        &format!("{directory}/\"gpu-$1\""),
        // Rounded up, so that a GPU has a thread when there are more GPUs than processors.
        &format!(" --test-threads \"$(( ($(nproc) + {gpus} - 1) / {gpus} ))\""),
    );
    lines(&[
        // Each call in the background is a subshell, so that its variables do not reach the other
        // GPUs.
        "test_gpu() {",
        &format!("  export TESTGEN_DEVICE={device}:\"$1\""),
        &tests
            .lines()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n"),
        "}",
        "pids=",
        &format!(
            "for gpu in $(seq 0 {}); do test_gpu \"$gpu\" & pids=\"$pids $!\"; done",
            gpus.get() - 1
        ),
        "status=0",
        // One by one, because `wait` alone succeeds even if a process has failed.
        "for pid in $pids; do wait \"$pid\" || status=1; done",
        // Of all GPUs; each has its status, because another GPU does not replace a missing result.
        &format!(
            "target/ci/bin/testgen report {directory} --format junit --out {directory}/junit.xml || status=1"
        ),
        "test \"$status\" -eq 0",
    ])
}

/// The arguments of nextest for a slice of a family.
fn selected(family: &RunnerFamily, slice: &str) -> String {
    format!("--partition {slice} -E {}", shell_quote(&family.filter))
}

/// The tests of one process, which the arguments `selected` of nextest choose.
pub(super) fn run_tests(selected: &str, directory: &str, options: &str) -> String {
    let which = format!("--archive-file {ARCHIVE} --workspace-remap . {selected}");
    lines(&[
        &format!("mkdir -p {directory}"),
        // Absolute, because tests run in the directory of the suite.
        &format!("export TESTGEN_REPORT=\"$PWD\"/{directory}/report.jsonl"),
        // Tests append to it, and a volume still has the records of the last run.
        "rm -f \"$TESTGEN_REPORT\"",
        "status=0",
        &format!(
            "target/ci/bin/cargo-nextest nextest list {which} --message-format oneline > {directory}/tests.txt"
        ),
        &format!(
            "target/ci/bin/cargo-nextest nextest run {which} --no-fail-fast{options} || status=$?"
        ),
        // nextest exits with 100 when tests failed; the report then decides, because a failure can
        // be expected. Any other exit code is an error.
        "test \"$status\" -eq 0 || test \"$status\" -eq 100",
        // Every test that nextest lists must have an entry.
        &format!("target/ci/bin/testgen report {directory} --tests {directory}/tests.txt \\"),
        &format!("  --format junit --out {directory}/junit.xml"),
    ])
}

/// The directories of merged reports.
pub(super) struct MergeDirectories<'a> {
    /// The reports of all jobs.
    pub(super) reports: &'a str,
    /// The merged ones.
    pub(super) page: &'a str,
    /// The file that receives Markdown.
    pub(super) summary: &'a str,
}

/// One page and one JUnit file from the reports of all machines; the blocking ones decide.
pub(super) fn merge(plan: &MatrixPlan, directories: &MergeDirectories<'_>) -> String {
    let MergeDirectories {
        reports,
        page,
        summary,
    } = directories;
    let mut text = lines(&[
        "chmod +x target/ci/bin/*",
        &format!("mkdir -p {page}"),
        // A red report has exit code 1, and all four files are needed then, too; `decide` sets the
        // job's result.
        &format!("target/ci/bin/testgen report {reports} --out {page}/report.html || true"),
        &format!(
            "target/ci/bin/testgen report {reports} --format json --out {page}/report.json || true"
        ),
        &format!(
            "target/ci/bin/testgen report {reports} --format junit --out {page}/junit.xml || true"
        ),
        &format!("target/ci/bin/testgen report {reports} --format markdown >> {summary} || true"),
    ]);
    if plan.has_device(DeviceKind::Cuda) && plan.has_device(DeviceKind::Rocm) {
        let pair = [DeviceKind::Cuda, DeviceKind::Rocm]
            .map(|device| compared(plan, device))
            .join(",");
        text.push_str(&format!(
            "\nprintf '\\n## CUDA and ROCm\\n\\n' >> {summary}\ntarget/ci/bin/testgen report {reports} --base {reports} --by changes --devices \
             {pair} --format markdown >> {summary} || true"
        ));
    }
    text
}

/// The column of a kind of device that represents it: the first engine, and the first GPU where
/// each is a column.
fn compared(plan: &MatrixPlan, device: DeviceKind) -> String {
    let has_columns = plan
        .families
        .iter()
        .filter(|family| family.device == device)
        .all(|family| family.gpus.get() > 1);
    let index = if has_columns { ":0" } else { "" };
    let engine = plan.engines.first().and_then(EngineName::in_report);
    format!(
        "{device}{index}{}",
        engine.map_or(String::new(), |engine| format!("@{engine}"))
    )
}

/// Evaluates the reports of blocking runners.
pub(super) fn decide(directories: &MergeDirectories<'_>) -> String {
    let MergeDirectories { reports, page, .. } = directories;
    format!(
        "target/ci/bin/testgen report {reports}/blocking --format junit --out {page}/blocking.xml"
    )
}

/// `--device` and the like, for the container of a GPU job.
pub(super) fn container_flags(family: &RunnerFamily) -> String {
    let flags = match family.device {
        DeviceKind::Rocm => {
            let group = family
                .render_group
                .map_or(String::new(), |group| format!(" --group-add {group}"));
            format!(
                "--device=/dev/kfd --device=/dev/dri --group-add video{group} --security-opt seccomp=unconfined"
            )
        }
        DeviceKind::Cuda => "--gpus all".to_owned(),
        DeviceKind::Cpu => return String::new(),
    };
    // Docker's default of 64 MB is small for processes that share memory.
    format!("{flags} --shm-size=16g")
}

pub(super) fn lines(lines: &[&str]) -> String {
    lines.join("\n")
}

fn from_here(python: &str) -> &'static str {
    // Tests run in the directory of the suite.
    if python.contains('/') && !python.starts_with('/') {
        "\"$PWD\"/"
    } else {
        ""
    }
}
