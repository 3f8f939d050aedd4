//! `testgen matrix --format slurm` on a cluster: slurmctld, munged and three nodes on this machine.
//! nextest and the suite are fakes; submission, arrays, dependencies, the failure of a node and the
//! merged report are not.

mod cluster;

use crate::{
    project::Project,
    runners::{ONE, fifty},
    seeded::line,
    watchdog::wait_for,
};
use cluster::Cluster;
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};

/// One runner with four slices; its jobs need a GPU each.
const SETTINGS: &str = "\
[ci]
install = \"true\"
shards = { rocm = 4 }
cpu = { simulated_rocm = false }

[[ci.runner]]
name = \"mi300x\"
device = \"rocm\"
family = \"gfx942\"
labels = [\"mi300x\"]
tiers = [\"nightly\"]
slurm = { options = [\"--partition=gpu\"] }
";

/// The tests of the suite.
const TESTS: usize = 12;

/// Lists or runs a slice. The second slice stops on its first node after a record; with `cancel`
/// the third one ends without a result.
const NEXTEST: &str = r#"#!/usr/bin/env bash
set -euo pipefail
test "$2" != archive || exit 0
slice=$(sed -E 's/.*slice:([0-9]+)\/([0-9]+).*/\1 \2/' <<< "$*")
read -r slice slices <<< "$slice"
if test "$2:$slice" = run:3 && test -f cancel; then scancel "${SLURM_ARRAY_JOB_ID}_$slice"; sleep 600; fi
for test in $(seq TESTS); do
  test $(((test - 1) % slices + 1)) -eq "$slice" || continue
  if test "$2" = list; then echo "conformance encoder_only::bert_$test::rocm::finite_f32"; continue; fi
  sed "s/NUMBER/$test/" record.jsonl >> "$TESTGEN_REPORT"
  if test "$slice" = 2 && test -z "${SLURM_RESTART_COUNT:-}" && ! test -f cancel; then
    echo "$SLURMD_NODENAME" > node.new
    mv node.new node
    sleep 600
  fi
done
"#;

/// The commands of jobs that need a suite or a GPU do nothing; `report` is that of the binary.
const TESTGEN: &str = r#"#!/usr/bin/env bash
set -euo pipefail
case "$1" in
  report) exec "BINARY" "$@" ;;
  run) cp cpu.jsonl "${@: -1}" ;;
esac
"#;

fn project() -> Project {
    let project = Project::with_bert();
    project.write("testgen.toml", SETTINGS);
    let on = |name: &str| format!("\"device_name\":\"{name}\",");
    project.write(
        "record.jsonl",
        line(
            "bert_NUMBER",
            "rocm",
            "finite",
            "f32",
            "pass",
            &on("AMD Instinct MI300X"),
        ),
    );
    project.write(
        "cpu.jsonl",
        line(
            "bert",
            "cpu",
            "finite",
            "f32",
            "pass",
            &on("A host processor"),
        ),
    );
    let programs = [
        (
            "testgen",
            TESTGEN.replace("BINARY", env!("CARGO_BIN_EXE_testgen")),
        ),
        (
            "cargo-nextest",
            NEXTEST.replace("TESTS", &TESTS.to_string()),
        ),
    ];
    for (name, text) in programs {
        project.script(format!("target/ci/bin/{name}"), text);
    }
    project
        .run(&["matrix", "--format", "slurm", "--write"])
        .expect_code(0);
    project
}

/// Submits the nightly tier and waits for the result.
fn submit(cluster: &Cluster, project: &Project) -> Child {
    let mut command = cluster.command("bash");
    command
        .args(["slurm/testgen.sh", "nightly", "--wait"])
        .current_dir(project.path(""));
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts")
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_slice_on_a_failed_node_is_run_again_and_no_record_is_lost_or_doubled() {
    let Some(mut cluster) = Cluster::start(["n1", "n2", "n3"]) else {
        return;
    };
    let project = project();
    let running = submit(&cluster, &project);
    let failed = wait_for_node(&project);
    cluster.fail(&failed);
    let output = running.wait_with_output().expect("bash ends");
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output),
        cluster.log()
    );
    let run = run_of(&output);
    let report: Value =
        serde_json::from_str(&project.read(format!("{run}/page/report.json"))).expect("JSON");
    assert_eq!(records(&project, &run), TESTS + 1, "{report}");
    let slices = project.files(&format!("{run}/reports/blocking"));
    assert_eq!(
        slices
            .iter()
            .filter(|file| file.ends_with("of4/report.jsonl"))
            .count(),
        4,
        "{slices:?}"
    );
    // The records of the attempt that was killed are kept apart.
    let first = format!("{run}/attempts/blocking/nightly-rocm-gfx942-mi300x-2of4.0/report.jsonl");
    assert_eq!(project.read(first).lines().count(), 1);

    project.write("cancel", "");
    let output = submit(&cluster, &project)
        .wait_with_output()
        .expect("bash ends");
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}\n{}",
        text(&output),
        cluster.log()
    );
    assert!(
        text(&output).contains("blocking/nightly-rocm-gfx942-mi300x-3of4: "),
        "{}",
        text(&output)
    );
}

/// The directory of a submission.
fn run_of(output: &Output) -> String {
    let text = text(output);
    let page = text
        .lines()
        .find_map(|line| line.strip_prefix("report: "))
        .expect("the report is named");
    page.strip_suffix("/page")
        .expect("the page is in the directory")
        .to_owned()
}

/// The number of different tests in the merged reports, each of which must have one record.
fn records(project: &Project, run: &str) -> usize {
    let directory = format!("{run}/reports");
    let reports = project
        .files(&directory)
        .into_iter()
        .filter(|file| file.ends_with(".jsonl"));
    let mut lines: Vec<String> = reports
        .flat_map(|file| {
            project
                .read(format!("{directory}/{file}"))
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let all = lines.len();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), all, "doubled records");
    all
}

/// The node on which the second slice is.
fn wait_for_node(project: &Project) -> String {
    wait_for("the second slice starts", || project.exists("node"));
    project.read("node").trim().to_owned()
}

#[test]
fn the_script_is_valid_and_explains_its_arguments() {
    for toml in ["".to_owned(), ONE.to_owned(), fifty()] {
        let project = Project::with_bert();
        project.write("testgen.toml", toml);
        project
            .run(&["matrix", "--format", "slurm", "--write"])
            .expect_code(0);
        let bash = |arguments: &[&str]| {
            let mut command = Command::new("bash");
            command
                .args(arguments)
                .current_dir(project.path(""))
                .output()
                .expect("bash starts")
        };
        assert!(bash(&["-n", "slurm/testgen.sh"]).status.success());
        for arguments in [&["slurm/testgen.sh"][..], &["slurm/testgen.sh", "weekly"]] {
            let output = bash(arguments);
            assert_eq!(output.status.code(), Some(2));
            assert!(
                text(&output).contains("usage: bash slurm/testgen.sh presubmit|postsubmit|nightly"),
                "{}",
                text(&output)
            );
        }
        assert!(!project.exists("target/slurm"));
    }
}

/// A job that cannot be submitted cancels those before it.
#[test]
fn a_failed_submission_leaves_no_job() {
    let project = project();
    let programs = [
        (
            "sbatch",
            "#!/usr/bin/env bash\ncase \"$*\" in *--array*) exit 1 ;; *) echo 7 ;; esac\n",
        ),
        ("scancel", "#!/usr/bin/env bash\necho \"$@\" > cancelled\n"),
    ];
    for (name, text) in programs {
        project.script(format!("bin/{name}"), text);
    }
    let path = format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new("bash");
    let output = command
        .args(["slurm/testgen.sh", "nightly"])
        .current_dir(project.path(""))
        .env("PATH", path)
        .output();
    assert!(!output.expect("bash starts").status.success());
    assert_eq!(project.read("cancelled"), "7\n");
}
