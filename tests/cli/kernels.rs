//! `testgen kernels`, with a fake runtime that writes given lines.

use crate::{fake::suite, project::Project};
use serde_json::Value;

/// A line of a report of kernels: a kernel on the simulated GPU with an outcome.
fn kernel_rule(test: &str, kernel: &str, outcome: &str, chosen: bool) -> String {
    format!(
        r#"::rocm::{test}|text|{{"version":1,"kernel":"{kernel}","device":"rocm","device_name":"gfx1100 (hip-sim)","hardware":{{}},"simulated":true,"precision":"f32","left":{{"shape":[3,4],"strides":[4,1]}},"right":{{"shape":[4,5],"strides":[5,1]}},"outcome":"{outcome}","headroom":0.5,"reason":"element 2 is 1, expected 2","chosen":{chosen},"model":"bert","check":"output_golden"}}"#
    )
}

#[test]
fn all_kernels_are_counted_and_those_of_the_rule_must_be_correct() {
    let project = Project::with_bert();
    let arguments = ["--device", "rocm", "--report", "kernels.jsonl"];
    let rules = |chosen| {
        let lines = [
            kernel_rule("finite_f32", "matmul_naive", "correct", true),
            kernel_rule("determinism", "matmul_simple_tma_cmma", "wrong", chosen),
        ];
        lines.join("\n")
    };
    let passed = suite::kernels(&project, &rules(false), &arguments).expect_code(0);
    insta::assert_snapshot!(passed.stdout);
    let log = project.read("kernels.jsonl.log");
    assert!(
        log.contains("kernels: encoder_only::bert::rocm, named Ok(\"\"), feature true"),
        "{log}"
    );
    assert!(log.contains("arguments: []"), "{log}");
    assert_eq!(project.read("kernels.jsonl").lines().count(), 2);
    let failed = suite::kernels(&project, &rules(true), &arguments).expect_code(1);
    assert!(
        failed
            .stdout
            .contains("failed: the rule chooses these kernels"),
        "{}",
        failed.stdout
    );
    let json = suite::kernels(
        &project,
        &rules(true),
        &[arguments.as_slice(), &["--format", "json"]].concat(),
    )
    .expect_code(1);
    let json: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(
        (&json["green"], json["failures"].as_array().map(Vec::len)),
        (&false.into(), Some(1))
    );
}

#[test]
fn kernels_need_a_gpu_and_at_least_one_line() {
    let project = Project::with_bert();
    let wrong = suite::kernels(&project, "", &["--device", "cpu"]).expect_code(2);
    assert!(
        wrong.stderr.contains("`testgen kernels` needs a GPU"),
        "{}",
        wrong.stderr
    );
    let nothing = suite::kernels(&project, "", &["--device", "rocm"]).expect_code(1);
    assert!(
        nothing.stdout.contains("problem: nothing was computed"),
        "{}",
        nothing.stdout
    );
    let damaged = suite::kernels(&project, "::rocm::finite_f32|text|{}", &[]).expect_code(1);
    assert!(
        damaged
            .stdout
            .contains("problem: line 1: missing field `version`"),
        "{}",
        damaged.stdout
    );
    suite::kernels(
        &project,
        "",
        &["--kernel", "unit", "--report", "unit.jsonl"],
    )
    .expect_code(1);
    assert!(
        project
            .read("unit.jsonl.log")
            .contains("named Ok(\"unit\")")
    );
}

#[test]
fn one_device_of_a_kind_computes() {
    let outcome = suite::kernels(
        &Project::with_bert(),
        "",
        &["--device", "rocm:0", "--device", "rocm:1"],
    )
    .expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("`testgen kernels` uses one device of each kind"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("building"), "{}", outcome.stderr);
}
