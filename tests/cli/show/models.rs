//! `testgen show models`, and `testgen report --by models`.

use crate::project::Project;

/// The report entry of bert's `output_golden` on a GPU.
fn entry(precision: &str, status: &str, headroom: f64) -> String {
    let reason = if status == "pass" {
        "null"
    } else {
        "\"the numbers are off\""
    };
    format!(
        r#"{{"version": 1, "model": "bert", "architecture": "encoder_only", "device": "cuda", "check": "output_golden",
        "precision": "{precision}", "status": "{status}", "reason": {reason}, "device_name": "NVIDIA X", "simulated": false,
        "tf32": false, "fallback": false, "mock": false, "milliseconds": 1.0, "outputs": [{{"name": "h", "rel_l2": 1e-6,
        "max_rel": 1e-6, "rel_l2_threshold": 1e-5, "max_rel_threshold": 1e-5, "headroom": {headroom}}}]}}"#
    )
    .replace('\n', " ")
}

#[test]
fn every_type_has_a_line() {
    let project = Project::with_bert();
    let text = project.run(&["show", "models"]).expect_code(0).stdout;
    let line = text
        .lines()
        .find(|line| line.split_whitespace().nth(1) == Some("bert"))
        .expect("bert is supported");
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>(),
        [
            "encoder_only",
            "bert",
            "native",
            "transformers>=4.40",
            "bert"
        ]
    );
    assert!(
        text.lines().any(|line| line.split_whitespace().eq([
            "vision",
            "vit",
            "native",
            "transformers>=4.40"
        ])),
        "a type without a spec is there"
    );
    assert!(
        text.lines().any(|line| line.split_whitespace().eq([
            "vision",
            "beit",
            "-",
            "transformers>=4.40"
        ])),
        "a type of other engines is there"
    );
}

#[test]
fn markdown_shows_the_most_severe_status_of_each_device() {
    let project = Project::with_bert();
    let lines = [entry("f32", "pass", 4.25), entry("f16", "fail", 0.5)].join("\n");
    project.write("reports/gpu.jsonl", &(lines + "\n"));
    let text = project
        .run(&["report", "reports", "--by", "models"])
        .expect_code(1)
        .stdout;
    assert!(
        text.contains("| architecture | model type | models | cuda: NVIDIA X |"),
        "{text}"
    );
    assert!(
        text.contains("| encoder_only | `bert` | bert | pass: f32 4.2; fail: f16 0.5 |"),
        "{text}"
    );
    assert!(
        text.contains("| vision | `vit` | none | not run |"),
        "{text}"
    );
}

#[test]
fn wrong_input_is_an_error() {
    let project = Project::with_bert();
    project
        .run(&["report", "nowhere", "--by", "models"])
        .expect_code(2);
    project
        .run(&["show", "models", "--specs", "nowhere"])
        .expect_code(2);
}

#[test]
fn help_shows_examples_and_every_flag() {
    insta::assert_snapshot!(
        Project::empty()
            .run(&["show", "models", "--help"])
            .expect_code(0)
            .stdout
    );
}
