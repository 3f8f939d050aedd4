//! `testgen doctor --devices`: tables, JSON and requirements on a machine that may or may not have
//! GPUs.

use crate::project::Project;
use serde_json::Value;

fn json(arguments: &[&str]) -> (i32, Value) {
    let outcome = Project::empty().run(arguments);
    let value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}\nstdout:\n{}\nstderr:\n{}",
            outcome.stdout, outcome.stderr
        )
    });
    (outcome.code, value)
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("is an object")
        .keys()
        .map(String::as_str)
        .collect()
}

/// The host processor is on every machine; its entry shows the schema.
#[test]
fn json_has_a_version_and_a_stable_schema() {
    let (code, value) = json(&["doctor", "--devices", "--format", "json"]);
    assert_eq!(code, 0);
    assert_eq!(value["version"], 3);
    insta::assert_json_snapshot!(
        "devices_schema",
        serde_json::json!({
            "inventory": keys(&value),
            "visibility": keys(&value["visibility"]),
            "topology": keys(&value["topology"]),
            "path": keys(&value["paths"][0]),
            "device": keys(&value["devices"][0]),
        })
    );
    let paths: Vec<&Value> = value["paths"]
        .as_array()
        .expect("is a list")
        .iter()
        .map(|path| &path["path"])
        .collect();
    assert_eq!(
        paths,
        [
            "host_processor",
            "hip_runtime",
            "cuda_driver",
            "cuda_compatibility"
        ]
    );
    assert_eq!(value["devices"][0]["kind"], "cpu");
}

#[test]
fn every_path_found_something_or_says_why_not() {
    let (_, value) = json(&["doctor", "--devices", "--format", "json"]);
    for path in value["paths"].as_array().expect("is a list") {
        assert!(
            path["found"].as_u64() > Some(0) || path["absence"].is_string(),
            "{path}"
        );
    }
}

#[test]
fn tables_name_every_path_and_the_host() {
    let outcome = Project::empty()
        .run(&["doctor", "--devices"])
        .expect_code(0);
    for word in [
        "host processor",
        "HIP runtime",
        "CUDA driver",
        "CUDA compatibility layer",
        "cpu",
    ] {
        assert!(
            outcome.stdout.contains(word),
            "`{word}` is not in\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn variables_are_shown_with_their_effect() {
    let project = Project::empty();
    let outcome = project
        .finish(
            project
                .command()
                .args(["doctor", "--devices"])
                .env("ROCR_VISIBLE_DEVICES", "1,0"),
        )
        .expect_code(0);
    assert!(
        outcome.stdout.contains("ROCR_VISIBLE_DEVICES=`1,0`"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_requirement_decides_the_exit_code() {
    let project = Project::empty();
    let met = project
        .run(&["doctor", "--devices", "--require", "cpu"])
        .expect_code(0);
    assert!(
        met.stdout
            .contains("required `cpu`: met: 1 usable, 1 needed"),
        "{}",
        met.stdout
    );
    let unmet = project
        .run(&["doctor", "--devices", "--require", "cpu,cuda:999"])
        .expect_code(1);
    assert!(
        unmet.stdout.contains("required `cuda:999`: NOT MET"),
        "{}",
        unmet.stdout
    );
    let (code, value) = json(&[
        "doctor",
        "--devices",
        "--format",
        "json",
        "--require",
        "rocm:999",
    ]);
    assert_eq!(
        (code, &value["requirements"][0]["met"]),
        (1, &Value::Bool(false))
    );
}

#[test]
fn a_wrong_requirement_is_bad_input() {
    let project = Project::empty();
    for wrong in ["gpu", "cuda:0", "cuda:x", "cpu:2", "cpu-sim"] {
        project
            .run(&["doctor", "--devices", "--require", wrong])
            .expect_code(2);
    }
}
