//! The status of each check and of each model, from several reports.

use super::seeded;
use crate::{
    project::Project,
    seeded::{line, on, outputs, tensor},
};

#[test]
fn a_real_device_replaces_an_absence_and_a_simulation_does_not() {
    let project = seeded();
    let text = project
        .run(&["report", "reports", "--format", "json"])
        .expect_code(1)
        .stdout;
    let report: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let devices: Vec<(&str, Option<&str>, bool)> = report["devices"]
        .as_array()
        .expect("is a list")
        .iter()
        .map(|device| {
            let simulated = device["simulated"].as_bool().expect("is a flag");
            (
                device["device"].as_str().expect("is text"),
                device["name"].as_str(),
                simulated,
            )
        })
        .collect();
    let expected = [
        ("cpu", Some("A host processor"), false),
        ("cuda", Some("A CUDA device"), false),
        ("rocm", None, false),
        ("rocm", Some("gfx1100 (hip-sim)"), true),
    ];
    assert_eq!(devices, expected);
}

#[test]
fn the_most_severe_of_several_entries_is_kept() {
    let project = Project::empty();
    let device = on("A host processor");
    let pass = line("bert", "cpu", "finite", "f32", "pass", &device);
    let fail = line(
        "bert",
        "cpu",
        "finite",
        "f32",
        "fail",
        &format!("{device}\"reason\":\"NaN\","),
    );
    for (first, second) in [(&pass, &fail), (&fail, &pass)] {
        project.write("r/a.jsonl", first);
        project.write("r/b.jsonl", second);
        let text = project
            .run(&["report", "r", "--format", "markdown"])
            .expect_code(1)
            .stdout;
        assert!(text.contains("**FAILED**: numbers: 1 fail"), "{text}");
    }
}

#[test]
fn a_pass_that_cannot_be_one_is_red() {
    let project = Project::empty();
    let far = outputs(&[tensor("logits", Some(0.5), "")]);
    let device = on("A host processor");
    for rest in [
        String::new(),
        format!("{device}\"mock\":true,"),
        format!("{device}{far}"),
    ] {
        project.write(
            "r/a.jsonl",
            line("bert", "rocm", "output_golden", "f32", "pass", &rest),
        );
        let text = project
            .run(&["report", "r", "--format", "markdown"])
            .expect_code(1)
            .stdout;
        assert!(text.contains("## Not trustworthy"), "{rest}: {text}");
        assert!(!text.contains("| \u{2713} pass"), "{rest}: {text}");
    }
}

#[test]
fn a_model_whose_outputs_were_not_compared_is_incomplete() {
    let project = Project::empty();
    project.write(
        "r/a.jsonl",
        line(
            "bert",
            "cuda",
            "placement",
            "f16",
            "pass",
            &on("A CUDA device"),
        ),
    );
    let text = project
        .run(&["report", "r", "--format", "markdown"])
        .expect_code(0)
        .stdout;
    assert!(text.contains("| \u{25d0} incomplete |"), "{text}");
}

#[test]
fn the_numbers_have_a_status_apart_from_the_other_checks() {
    let project = Project::empty();
    let device = on("A host processor");
    let numbers = line(
        "bert",
        "cpu",
        "output_golden",
        "f32",
        "pass",
        &(device.clone() + &outputs(&[tensor("logits", Some(1e-4), "")])),
    );
    let far = device.clone()
        + &outputs(&[tensor("logits unpadded", Some(0.5), "")])
        + "\"reason\":\"far\",";
    let other = line("bert", "cpu", "kv_cache_equivalence", "f32", "fail", &far);
    project.write(
        "r/a.jsonl",
        numbers + &other + &line("bert", "cpu", "determinism", "f32", "pass", &device),
    );
    let run = |format: &str| {
        project
            .run(&["report", "r", "--format", format])
            .expect_code(1)
            .stdout
    };
    let text = run("markdown");
    assert!(
        text.contains("numbers: 1 pass \u{2713}; other checks: 1 fail \u{2717}, 1 pass \u{2713}\n"),
        "{text}"
    );
    assert!(
        text.contains("| \u{2713} pass 1.00e-4 \u{d7}10.0; other checks: 1 fail \u{2717} |"),
        "{text}"
    );
    let report: serde_json::Value = serde_json::from_str(&run("json")).expect("is JSON");
    let cell = &report["cells"][0];
    // The fields of the whole cell keep their meaning.
    assert_eq!(
        (&cell["status"], &cell["error"]),
        (&"fail".into(), &0.5.into()),
        "{cell}"
    );
    let part = |part: &serde_json::Value| {
        (
            part["status"].clone(),
            part["error"].clone(),
            part["counts"].clone(),
        )
    };
    assert_eq!(
        part(&cell["numbers"]),
        ("pass".into(), 1e-4.into(), serde_json::json!({ "pass": 1 })),
        "{cell}"
    );
    let counts = serde_json::json!({ "fail": 1, "pass": 1 });
    assert_eq!(
        part(&cell["others"]),
        ("fail".into(), 0.5.into(), counts),
        "{cell}"
    );
    assert_eq!(
        (&report["numbers"]["fail"], &report["others"]["fail"]),
        (&0.into(), &1.into())
    );
}

#[test]
fn only_a_model_that_could_not_be_loaded_is_a_mock() {
    let project = Project::empty();
    let run = |status: &str, reason: &str, code| {
        let mock = format!("\"mock\":true,\"reason\":\"{reason}\",");
        // The check of mocks provokes one, and passes.
        let provoked = line("bert", "cpu", "mock_marked", "f32", "pass", &mock);
        project.write(
            "r/a.jsonl",
            provoked + &line("bert", "cpu", "output_golden", "f32", status, &mock),
        );
        ["markdown", "junit"].map(|format| {
            project
                .run(&["report", "r", "--format", format])
                .expect_code(code)
                .stdout
        })
    };
    let [unsupported, junit] = run(
        "ignored",
        "the engine does not support it: no class `BertModel`",
        0,
    );
    assert!(
        unsupported
            .contains("**passed**: numbers: 1 ignored \u{2013}; other checks: 1 pass \u{2713}"),
        "{unsupported}"
    );
    assert!(
        junit.contains("<skipped message=\"ignored: the engine does not support it"),
        "{junit}"
    );
    let [ignored, junit] = run("ignored", "cannot read config.json", 0);
    assert!(
        ignored.contains("**passed**: numbers: 1 mock \u{2205}; other checks: 1 pass \u{2713}"),
        "{ignored}"
    );
    assert!(
        junit.contains("<skipped message=\"mock: cannot read config.json"),
        "{junit}"
    );
    let [failed, junit] = run("fail", "the engine does not support it", 1);
    assert!(
        failed.contains("**FAILED**: numbers: 1 mock \u{2205}; other checks: 1 pass \u{2713}"),
        "{failed}"
    );
    assert!(junit.contains("<failure type=\"mock\""), "{junit}");
}
