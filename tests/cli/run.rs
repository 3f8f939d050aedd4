//! `testgen run`, end to end: real generated code, compiled by cargo against a fake runtime whose
//! tests follow rules.

mod arguments;
mod incomplete;
mod several_devices;
pub(crate) mod termination;

use crate::{
    fake::suite::run,
    project::{Outcome, Project},
};
use serde_json::Value;

const PASS: &str = "encoder_only::bert::cpu::finite_f32";
/// An output of a check, within its thresholds.
pub(crate) const COMPARED: &str = r#""outputs":[{"name":"logits","rel_l2":1e-6,"max_rel":1e-6,"rel_l2_threshold":1e-5,"max_rel_threshold":1e-5,"headroom":10.0}]"#;
const NVIDIA: &str = r#"::cuda::|pass|"device_name":"NVIDIA H100 80GB HBM3","tf32":true"#;

/// An `init_rocm` with the right signature that stays on the CPU.
const NO_ROCM: &str = "\
/// Loads the model on an AMD GPU.
pub fn init_rocm(target: &LoadTarget) -> Endpoint {
    init_cpu(target)
}
";

/// A second architecture in addition to bert.
const VIT: &str = "\
name: vit
model_type: vit
architecture: vision
task: image_classification
checkpoint:
  fixture: vit
devices: [cpu]
precisions: [f32]
";

/// bert, and vit on the CPU.
pub(crate) fn with_vit() -> Project {
    let project = Project::with_bert();
    project.write("model_specs/vision/vit.yaml", VIT);
    project
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", outcome.stdout))
}

fn problems(outcome: &Outcome) -> Vec<String> {
    let value = json(outcome);
    let problems = value["problems"].as_array().expect("is a list");
    problems
        .iter()
        .map(|problem| problem["kind"].as_str().expect("is a word").to_owned())
        .collect()
}

/// The rows of the table, with one space between the columns.
pub(crate) fn rows(outcome: &Outcome) -> Vec<String> {
    let rows = outcome
        .stdout
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty());
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn without_a_gpu_the_cpu_passes_and_the_rest_is_ignored_with_a_reason() {
    let project = with_vit();
    let outcome = run(&project, "", &[]).expect_code(0);
    insta::assert_snapshot!("run_without_gpu", outcome.stdout);
    assert!(
        outcome.stderr.contains("building generated/Cargo.toml"),
        "{}",
        outcome.stderr
    );
    assert!(
        project.exists("target/testgen/report.jsonl")
            && project.exists("target/testgen/report.jsonl.log")
    );
}

#[test]
fn json_has_a_version_and_a_stable_schema() {
    let rules = format!(
        "{PASS}|fail|\"reason\":\"x\",\"device_name\":\"Fake host\"\ncpu::placement_f32|none|"
    );
    let value = json(&run(&Project::with_bert(), &rules, &["--format", "json"]).expect_code(1));
    let keys = |value: &Value| {
        value
            .as_object()
            .expect("is an object")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(value["version"], 2);
    insta::assert_json_snapshot!(
        "run_schema",
        serde_json::json!({
            "summary": keys(&value),
            "row": keys(&value["rows"][0]),
            "ran_on": keys(&value["rows"][0]["ran_on"][0]),
            "ignored_reason": keys(&value["ignored_reasons"][0]),
            "failure": keys(&value["failures"][0]),
            "problem": keys(&value["problems"][0]),
        })
    );
}

#[test]
fn a_failure_shows_its_numbers_and_ends_red() {
    let rules = r#"cpu::output_golden_f16|fail|"reason":"`last_hidden_state` is outside its threshold\nfirst diverging layer: 2","device_name":"Fake host","outputs":[{"name":"last_hidden_state","rel_l2":0.0312,"max_rel":0.25,"rel_l2_threshold":0.001,"max_rel_threshold":0.002,"headroom":0.008,"worst":[{"index":[0,3,17],"expected":1.5,"got":1.75},{"index":[1,0,2],"expected":-0.5,"got":0.125}]},{"name":"pooler_output","rel_l2":1e-5,"max_rel":1e-5,"rel_l2_threshold":0.001,"max_rel_threshold":0.002,"headroom":100.0}]"#;
    let outcome = run(
        &Project::with_bert(),
        rules,
        &["--name", "bert", "--device", "cpu"],
    )
    .expect_code(1);
    insta::assert_snapshot!("run_with_failure", outcome.stdout);
}

#[test]
fn simulated_tf32_fallback_and_mock_are_marked() {
    let rules = [
        NVIDIA,
        r#"::rocm::|pass|"device_name":"gfx1100 (hip-sim)","simulated":true"#,
        r#"cpu::finite_f16|fail|"reason":"the endpoint is a mock: no such file","mock":true"#,
        r#"cpu::finite_bf16|fail|"reason":"ran elsewhere","device_name":"Other","fallback":true"#,
    ];
    let outcome = run(&Project::with_bert(), &rules.join("\n"), &[]).expect_code(1);
    let rows = rows(&outcome);
    assert!(
        rows[0].ends_with(" no device (MOCK: nothing ran); Fake host; Other (FALLBACK)"),
        "{rows:?}"
    );
    assert!(
        rows[1].ends_with("NVIDIA H100 80GB HBM3 (TF32)"),
        "{rows:?}"
    );
    assert!(
        rows[2].ends_with("gfx1100 (hip-sim) (SIMULATED)"),
        "{rows:?}"
    );
}

#[test]
fn a_pass_on_a_fallback_or_a_mock_or_without_a_device_is_red() {
    for json in [
        r#""device_name":"Fake host","fallback":true"#,
        r#""mock":true"#,
        "",
    ] {
        let rules = format!("rocm::finite_f32|pass|{json}");
        let outcome = run(&Project::with_bert(), &rules, &["--format", "json"]).expect_code(1);
        assert_eq!(problems(&outcome), ["false_pass"], "{json}");
    }
}

#[test]
fn a_required_device_must_compute() {
    let project = Project::with_bert();
    let absent = run(&project, "", &["--require", "rocm", "--format", "json"]).expect_code(1);
    assert_eq!(problems(&absent), ["requirement_unmet"]);
    assert!(
        json(&absent)["failures"][0]["reason"]
            .as_str()
            .expect("has one")
            .contains("TESTGEN_REQUIRE=rocm:")
    );
    let uncompared = run(&project, NVIDIA, &["--require", "cuda", "--format", "json"]);
    assert_eq!(problems(&uncompared.expect_code(1)), ["requirement_unmet"]);
    let nvidia = format!("{NVIDIA},{COMPARED}");
    run(&project, &nvidia, &["--require", "cuda"]).expect_code(0);
    let simulated =
        format!(r#"::rocm::|pass|"device_name":"gfx1100 (hip-sim)","simulated":true,{COMPARED}"#);
    run(&project, &simulated, &["--require", "rocm"]).expect_code(1);
    run(&project, &simulated, &["--require", "rocm-sim"]).expect_code(0);
    for refused in ["gpu", "cpu:2", "cpu-sim", "rocm,rocm-sim"] {
        run(&project, "", &["--require", refused]).expect_code(2);
    }
}

#[test]
fn a_model_that_no_engine_computes_is_red() {
    let project = Project::with_bert();
    let failing = |check: &str| {
        format!("cpu::{check}|ignored|\"reason\":\"transformers has no class `BertModel`\"\n")
    };
    let lacking = &(failing("finite") + &failing("output_golden"));
    let outcome = run(&project, lacking, &["--format", "json"]).expect_code(1);
    assert_eq!(problems(&outcome), ["not_computed"]);
    let text = run(&project, lacking, &[]).expect_code(1).stdout;
    assert!(
        text.contains("no engine computed `bert` on the CPU")
            && text.contains("no class `BertModel`"),
        "{text}"
    );
    // One check in one precision is enough. On a GPU the device may be absent.
    run(&project, &failing("output_golden"), &[]).expect_code(0);
    run(&project, &lacking.replace("golden|", "golden_f32|"), &[]).expect_code(0);
    run(&project, &lacking.replace("cpu", "cuda"), &[]).expect_code(0);
}

#[test]
fn entries_of_an_earlier_run_do_not_count() {
    let project = Project::with_bert();
    run(&project, &format!("{PASS}|fail|\"reason\":\"x\""), &[]).expect_code(1);
    run(&project, "", &[]).expect_code(0);
}

#[test]
fn an_expected_failure_is_green_and_an_unexpected_pass_is_red() {
    let project = Project::with_bert();
    let xfail = |check: &str| {
        format!(
            "[[xfail]]\nmodel = \"bert\"\ndevice = \"cpu\"\nprecision = \"f32\"\ncheck = \"{check}\"\nreason = \"known\"\n\
             owner = \"me\"\nexpires = \"9999-12-31\"\n"
        )
    };
    let rules = format!("{PASS}|fail|\"reason\":\"NaN\",\"device_name\":\"Fake host\"");
    project.write("testgen.toml", xfail("finite"));
    let green = run(&project, &rules, &[]).expect_code(0).stdout;
    assert!(
        green.contains("expected failure: known (owner me, expires 9999-12-31)"),
        "{green}"
    );
    assert!(green.contains("1 failed (1 as expected)"), "{green}");
    project.write("testgen.toml", xfail("placement"));
    let red = run(&project, &rules, &[]).expect_code(1).stdout;
    assert!(
        red.contains("placement_f32: unexpected pass: expected to fail: known"),
        "{red}"
    );
}
