//! `testgen doctor`: known answers of engines that are right and wrong, the exit code, and the JSON
//! form.
//!
//! The facts of the machine that runs the tests differ; what they mean is tested beside the rules
//! in crates/doctor/src/evaluation.

mod devices;

use crate::{
    fake::suite::{command as run_command, run},
    project::{Outcome, Project},
};
use serde_json::Value;
use std::{path::Path, process::Command};

/// `testgen doctor` with the scripted engine of crates/engine, which misbehaves as `mode` says.
fn scripted(project: &Project, mode: &str) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/tests/scripted.py");
    let mut command = project.command();
    command.args(["doctor", "--format", "json", "--timeout", "600"]);
    command
        .env("TESTGEN_ENGINE_SCRIPTED", script)
        .env("TESTGEN_SCRIPT", mode);
    command
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", outcome.stdout, outcome.stderr))
}

/// Subject and status of the lines about computations.
fn computed(outcome: &Outcome) -> Vec<String> {
    let value = json(outcome);
    let rows = value["rows"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter(|row| row["area"] == "computation");
    rows.map(|row| {
        format!(
            "{}: {}",
            row["subject"].as_str().unwrap_or_default(),
            row["status"].as_str().unwrap_or_default()
        )
    })
    .collect()
}

fn row(outcome: &Outcome, subject: &str) -> Value {
    let value = json(outcome);
    let rows = value["rows"].as_array().expect("is a list");
    rows.iter()
        .find(|row| row["subject"] == subject)
        .unwrap_or_else(|| panic!("no {subject} in {value:#}"))
        .clone()
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("is an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn an_engine_that_computes_right_answers_is_green() {
    let project = Project::empty();
    let outcome = project.finish(scripted(&project, "none").args([
        "--engine",
        "scripted",
        "--require",
        "cpu",
    ]));
    let outcome = outcome.expect_code(0);
    let expected = [
        "scripted on cpu:0: ok",
        "scripted on cpu:0: product: ok",
        "scripted on cpu:0: product of long rows: ok",
        "scripted on cpu:0: sum: ok",
        "scripted on cpu:0: copy: ok",
    ];
    assert_eq!(computed(&outcome)[..5], expected);
    assert_eq!(
        row(&outcome, "cpu")["evidence"],
        "known answers on 1 device, 1 needed"
    );
}

#[test]
fn a_wrong_answer_is_a_failure_with_the_element() {
    let project = Project::empty();
    let modes = [
        ("wrong_matrix_product", "product"),
        ("wrong_sum", "sum"),
        ("wrong_cast", "copy"),
    ];
    for (mode, operation) in modes {
        let outcome = project.finish(scripted(&project, mode).args([
            "--engine",
            "scripted",
            "--require",
            "cpu",
        ]));
        let outcome = outcome.expect_code(1);
        let found = row(&outcome, &format!("scripted on cpu:0: {operation}"));
        assert_eq!(found["status"], "failure", "{mode}");
        assert!(
            found["evidence"]
                .as_str()
                .is_some_and(|text| text.contains("are wrong")),
            "{mode}: {found}"
        );
        assert!(
            found["fix"]
                .as_str()
                .is_some_and(|text| text.contains("testgen doctor --engine scripted")),
            "{found}"
        );
        assert_eq!(row(&outcome, "cpu")["status"], "failure", "{mode}");
    }
}

#[test]
fn an_engine_that_dies_or_reports_another_device_is_a_failure() {
    let project = Project::empty();
    for (mode, part) in [
        ("exits", "exit status: 3"),
        ("not_json", "header: EOF"),
        ("device_lie", "device of another kind"),
    ] {
        let outcome = project
            .finish(scripted(&project, mode).args(["--engine", "scripted"]))
            .expect_code(1);
        let found = row(&outcome, "scripted on cpu:0");
        assert_eq!(found["status"], "failure", "{mode}");
        assert!(
            found["evidence"]
                .as_str()
                .is_some_and(|text| text.contains(part)),
            "{mode}: {found}"
        );
    }
}

#[test]
fn json_has_a_version_and_a_stable_schema() {
    let project = Project::empty();
    let mut command = scripted(&project, "wrong_sum");
    let outcome = project.finish(&mut command).expect_code(1);
    let value = json(&outcome);
    assert_eq!(value["version"], 1);
    assert_eq!(value["status"], "failure");
    let mut areas: Vec<&str> = value["rows"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|row| row["area"].as_str())
        .collect();
    areas.dedup();
    insta::assert_json_snapshot!(
        "doctor_schema",
        serde_json::json!({
            "diagnosis": keys(&value),
            "counts": keys(&value["counts"]),
            "row": keys(&value["rows"][0]),
            "areas": areas,
        })
    );
    // Whatever this machine has: a warning or a failure has its cause and a command.
    for row in value["rows"].as_array().expect("is a list") {
        let serious = row["status"] == "warning" || row["status"] == "failure";
        assert!(
            !serious || (row["cause"].is_string() && row["fix"].is_string()),
            "{row}"
        );
    }
}

#[test]
fn text_has_the_same_lines_and_a_result() {
    let project = Project::empty();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/tests/scripted.py");
    let mut command = project.command();
    command.args(["doctor", "--engine", "scripted"]);
    command
        .env("TESTGEN_ENGINE_SCRIPTED", script)
        .env("TESTGEN_SCRIPT", "wrong_sum")
        .env("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
    let outcome = project.finish(&mut command).expect_code(1);
    for part in [
        "variables\n  warning  HSA_OVERRIDE_GFX_VERSION: `11.0.0` replaces",
        "           fix: unset HSA_OVERRIDE_GFX_VERSION\n",
        "  failure  scripted on cpu:0: sum: ",
        "\nresult: ",
    ] {
        assert!(
            outcome.stdout.contains(part),
            "no `{part}` in\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn absent_packages_are_notes_and_a_named_python_that_is_absent_is_not() {
    let project = Project::empty();
    // Isolated, without site-packages: no package is installed.
    let python = project.script("python", "#!/bin/sh\nexec python3 -S \"$@\"\n");
    let outcome = project.finish(
        project
            .command()
            .args([
                "doctor", "--format", "json", "--engine", "torch", "--python",
            ])
            .arg(&python),
    );
    let outcome = outcome.expect_code(0);
    assert_eq!(computed(&outcome), ["torch: note"]);
    assert_eq!(row(&outcome, "onnxruntime")["status"], "note");
    let outcome = project
        .run(&[
            "doctor",
            "--format",
            "json",
            "--engine",
            "torch",
            "--python",
            "no-such-python",
        ])
        .expect_code(1);
    assert_eq!(row(&outcome, "python")["status"], "failure");
}

#[test]
fn the_native_engine_is_the_binary_that_run_has_built() {
    let project = Project::with_bert();
    let doctor = |rules: &str| {
        let mut command = run_command(&project, rules, &[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = project.command();
        command
            .args(["doctor", "--format", "json", "--engine", "native"])
            .envs(environment);
        project.finish(&mut command)
    };
    let outcome = doctor("").expect_code(0);
    assert_eq!(computed(&outcome), ["native: note"]);
    assert!(
        row(&outcome, "native")["fix"] == "testgen run",
        "{}",
        outcome.stdout
    );
    run(&project, "", &["--device", "cpu", "--name", "bert"]).expect_code(0);
    let outcome = doctor("").expect_code(0);
    let probes = ["f16", "bf16"].map(|precision| {
        format!("native on cpu:0: encoder_only::bert::cpu::half_probe_{precision}: ok")
    });
    let mut found = computed(&outcome);
    found.sort();
    let mut expected = vec!["native on cpu:0: ok".to_owned()];
    expected.extend(probes);
    expected.sort();
    assert_eq!(found, expected);
    let outcome = doctor("half_probe_f16|fail|\"reason\":\"denormals are flushed\"").expect_code(1);
    let wrong = row(
        &outcome,
        "native on cpu:0: encoder_only::bert::cpu::half_probe_f16",
    );
    assert_eq!(
        (wrong["status"].as_str(), wrong["evidence"].as_str()),
        (Some("failure"), Some("denormals are flushed"))
    );
    let crashes = |rules: &str, subject: &str| {
        let outcome = doctor(rules).expect_code(1);
        let crashed = row(&outcome, subject);
        assert_eq!(crashed["status"], "failure", "{}", outcome.stdout);
        assert!(
            crashed["evidence"].as_str().is_some_and(
                |text| text.starts_with("the test binary crashed with signal: 6 (SIGABRT)")
            ),
            "{crashed}"
        );
    };
    crashes("half_probe|crash", "native on cpu:0");
    // The check before it has an entry in the report.
    crashes(
        "half_probe_bf16|crash",
        "native on cpu:0: encoder_only::bert::cpu::half_probe",
    );
}
