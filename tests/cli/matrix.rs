//! `testgen matrix`: every CI system from the same plan. tests/schemas validates the snapshots
//! against published schemas.

mod every_job;

use crate::{
    project::Project,
    runners::{ENGINES, ONE, THREE},
};
use serde_json::Value;
use std::path::Path;

const FORMATS: [&str; 5] = ["github", "gitlab", "kubernetes", "slurm", "json"];

fn project(toml: &str) -> Project {
    let project = Project::with_bert();
    project.write("testgen.toml", toml);
    project
}

/// Writes the files of every format into the project, and returns them with their names.
fn files(project: &Project) -> Vec<(String, String)> {
    for format in FORMATS {
        project
            .run(&["matrix", "--format", format, "--write"])
            .expect_code(0);
        project
            .run(&["matrix", "--format", format, "--check"])
            .expect_code(0);
    }
    let is_output = |path: &String| path.contains("testgen") && path != "testgen.toml";
    let names = project.files("").into_iter().filter(is_output);
    names
        .map(|name| (name.clone(), project.read(&name)))
        .collect()
}

fn assert_snapshots(runners: &str, toml: &str) {
    for (path, text) in files(&project(toml)) {
        let name = path
            .trim_start_matches('.')
            .replace(['/', '-'], "_")
            .replace("testgen.matrix", "matrix");
        let name = format!("{runners}_{name}");
        let (stem, extension) = name.rsplit_once('.').expect("an output has an extension");
        insta::assert_binary_snapshot!(&format!("{stem}.{extension}"), text.into_bytes());
    }
}

#[test]
fn without_runners_there_is_no_gpu_workflow() {
    assert_snapshots("none", "");
    assert!(!project("").exists(".github/workflows/testgen-gpu.yml"));
}

#[test]
fn one_runner_has_its_own_workflow_container_and_preflight() {
    assert_snapshots("one", ONE);
}

#[test]
fn three_runners_share_slices_and_one_is_advisory() {
    assert_snapshots("three", THREE);
}

#[test]
fn engines_and_their_python_are_in_every_job() {
    assert_snapshots("engines", ENGINES);
    let native = ENGINES.replace("\"native\", \"torch\"", "\"torch\"");
    let only_torch = files(&project(&native));
    assert!(
        only_torch
            .iter()
            .all(|(_, text)| !text.contains("--simulate")),
        "no native engine, no simulation"
    );
}

/// In the place of nextest: one test, whose entry has the variables of the job. With the file
/// `broken` the test of the second GPU is killed.
const NEXTEST: &str = r#"#!/bin/sh
if test "$2" = list; then echo "suite encoder_only::bert::rocm::finite_f32"; exit 0; fi
index=${TESTGEN_DEVICE#rocm:}
echo "$TESTGEN_ENGINES $TESTGEN_PYTHON $TESTGEN_REQUIRE" > "environment-$index"
if test "$index" = 1 && test -e broken; then exit 100; fi
echo '{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","device_index":'"$index"',"check":"finite","precision":"f32","status":"pass","device_name":"MI300X","milliseconds":1}' >> "$TESTGEN_REPORT"
"#;

#[cfg(unix)]
#[test]
fn every_gpu_of_a_node_is_a_column_and_none_replaces_another() {
    let project = project(ENGINES);
    let script = text(&plan_of(&project)["families"][0]["test"]).to_owned();
    project.script("target/ci/bin/cargo-nextest", NEXTEST);
    project.install(
        Path::new(env!("CARGO_BIN_EXE_testgen")),
        "target/ci/bin/testgen",
    );
    let run = || {
        let mut command = std::process::Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(project.path(""));
        command.output().expect("bash starts")
    };
    let passed = run();
    assert!(
        passed.status.success(),
        "{}",
        String::from_utf8_lossy(&passed.stderr)
    );
    for index in 0..3 {
        let environment = project.read(format!("environment-{index}"));
        assert_eq!(
            environment.trim(),
            "native,torch /opt/venv/bin/python rocm:3"
        );
    }
    let report = project
        .run(&["report", "reports", "--format", "markdown"])
        .expect_code(0)
        .stdout;
    assert!(
        (0..3).all(|index| report.contains(&format!("rocm:{index}: MI300X f32"))),
        "{report}"
    );
    for path in project
        .files("reports")
        .iter()
        .filter(|path| path.ends_with(".jsonl"))
    {
        let path = format!("reports/{path}");
        let failed = project
            .read(&path)
            .replace("\"pass\"", "\"fail\",\"reason\":\"r\"");
        project.write(&path, failed);
    }
    assert!(run().status.success(), "the last run's records are gone");
    std::fs::remove_dir_all(project.path("reports")).expect("the reports exist");
    project.write("broken", "");
    assert!(!run().status.success(), "the second GPU has no result");
}

#[test]
fn drift_is_reported_and_foreign_files_stay() {
    let project = project(ONE);
    let missing = project.run(&["matrix", "--check"]).expect_code(1).stdout;
    project.run(&["matrix", "--write"]).expect_code(0);
    project.write("testgen.toml", "");
    let leftover = project.run(&["matrix", "--check"]).expect_code(1).stdout;
    project.run(&["matrix", "--write"]).expect_code(0);
    assert!(!project.exists(".github/workflows/testgen-gpu.yml"));
    project.write(".github/workflows/testgen.yml", "name: mine\n");
    let foreign = project.run(&["matrix", "--write"]).expect_code(2).stderr;
    assert_eq!(
        project.read(".github/workflows/testgen.yml"),
        "name: mine\n"
    );
    insta::assert_snapshot!([missing, leftover, foreign].join("---\n"));
}

#[test]
fn invalid_settings_are_reported() {
    let changed = |from: &str, to: &str| {
        assert!(ONE.contains(from), "{from}");
        project(&ONE.replace(from, to))
            .run(&["matrix"])
            .expect_code(2)
            .stderr
    };
    let messages = [
        changed("@sha256:0123456789abcdef", ":latest"),
        changed("\"rocm\"", "\"cpu\""),
        changed("\"rocm\"", "\"tpu\""),
        changed("\"mi300x\"\ndevice", "\"MI 300\"\ndevice"),
        changed("[\"postsubmit\"]", "[]"),
        changed("[\"self-hosted\", \"linux\", \"mi300x\"]", "[]"),
        changed("tiers", "precisions = [\"f64\"]\ntiers"),
        changed("tiers", "precisions = [\"tf32\"]\ntiers"),
        changed("amd.com/gpu.product-name", "gpu model"),
        changed("timeout_minutes = 45", "timeout_minutes = 0"),
        changed("timeout_minutes = 45", "shards = { rocm = 999 }"),
        changed(
            "[[ci.runner]]",
            "[ci.cpu]\nlabel = \"self-hosted\"\n\n[[ci.runner]]",
        ),
        changed("[[ci.runner]]", "[[ci.runer]]"),
        changed("--partition=mi300x", "-p gpu"),
        changed("--partition=mi300x", "--time=5"),
        changed("--partition=mi300x", "--arr=5"),
        changed("rocm/6.4.1", "rocm;id"),
    ];
    insta::assert_snapshot!(messages.join("---\n"));
}

#[test]
fn runners_of_one_name_and_precisions_of_no_spec_are_reported() {
    let error = |toml: &str| project(toml).run(&["matrix"]).expect_code(2).stderr;
    let (_, runner) = ONE.split_once("[[ci.runner]]").expect("it has a runner");
    let twice = error(&format!("{ONE}\n[[ci.runner]]{runner}"));
    assert!(
        twice.contains("two runners are called `mi300x`")
            && twice.contains("give each its own name"),
        "{twice}"
    );
    let cuda = ONE.replace("\"rocm\"", "\"cuda\"");
    let unknown = error(&cuda.replace("tiers", "precisions = [\"tf32\"]\ntiers"));
    assert!(unknown.contains("no spec names `tf32`"), "{unknown}");
}

#[test]
fn this_repository_uses_its_own_output() {
    let project = Project::empty();
    let mut command = project.command();
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["matrix", "--check"]);
    project.finish(&mut command).expect_code(0);
    for format in ["gitlab", "kubernetes", "slurm", "json"] {
        let mut command = project.command();
        command
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .args(["matrix", "--format", format]);
        let extension = match format {
            "json" => "json",
            "slurm" => "sh",
            _ => "yml",
        };
        let text = project.finish(&mut command).expect_code(0).stdout;
        insta::assert_binary_snapshot!(
            &format!("own_{format}.{extension}"),
            one_spec(&text).into_bytes()
        );
    }
}

/// Hides the number of specs, so that a new model does not change the snapshots.
fn one_spec(text: &str) -> String {
    let Some((before, after)) = text.split_once("\"specs\": ") else {
        return text.to_owned();
    };
    format!(
        "{before}\"specs\": 1{}",
        after.trim_start_matches(|digit: char| digit.is_ascii_digit())
    )
}

fn text(value: &Value) -> &str {
    value.as_str().expect("is text")
}

fn plan_of(project: &Project) -> Value {
    let text = project
        .run(&["matrix", "--format", "json"])
        .expect_code(0)
        .stdout;
    serde_json::from_str(&text).expect("the plan is JSON")
}
