//! `testgen report`: merging several machines, every output format, and results that never count as
//! a pass.

mod changes;

use crate::{
    drift::assert_printed,
    project::Project,
    seeded::{line, on, outputs, seed, seed_many, tensor},
};
use std::fs;

fn seeded() -> Project {
    let project = Project::empty();
    seed(&project, "reports");
    project
}

#[test]
fn every_format_shows_every_status() {
    let project = seeded();
    let run = |format: &str| {
        project
            .run(&["report", "reports", "--format", format])
            .expect_code(1)
            .stdout
    };
    insta::assert_snapshot!("seeded_markdown", run("markdown"));
    insta::assert_snapshot!("seeded_junit", run("junit"));
    // A file of its own: tests/schemas validates it.
    insta::assert_binary_snapshot!("seeded.json", run("json").into_bytes());
}

#[test]
fn the_schema_of_the_json_is_current() {
    assert_printed("docs/report.schema.json", &["show", "schema", "report"]);
}

#[test]
fn the_order_of_reports_does_not_matter() {
    let project = seeded();
    let run = |places: [&str; 3]| {
        let arguments = [&["report", "--format", "json"], places.as_slice()].concat();
        project.run(&arguments).expect_code(1).stdout
    };
    let files = [
        "reports/cpu.jsonl",
        "reports/cuda",
        "reports/rocm-sim.jsonl",
    ];
    assert_eq!(run(files), run([files[2], files[1], files[0]]));
}

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

#[test]
fn of_many_models_markdown_shows_those_that_did_not_simply_pass() {
    let project = Project::empty();
    seed_many(&project, "r", 600);
    let text = project
        .run(&["report", "r", "--format", "markdown"])
        .expect_code(1)
        .stdout;
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| decoder_only") || line.starts_with("| encoder_only"))
        .collect();
    let numbers = "\u{2713} 300";
    let passes = |row: &str| row.matches(numbers).count();
    assert_eq!(rows.len(), 2 + 2, "{text}");
    assert!(
        rows[0].starts_with("| decoder_only | 300 | \u{2717} 1, \u{2713} 299 |")
            && passes(rows[0]) == 2,
        "{text}"
    );
    assert!(
        rows[1].contains("\u{2713} 300; other checks \u{2717} 1") && passes(rows[1]) == 3,
        "{text}"
    );
    assert!(
        rows[2].starts_with("| decoder_only | llama_0007 | \u{2717} fail"),
        "{text}"
    );
    assert!(
        rows[3].starts_with("| encoder_only | bert_0009 | \u{2713} pass 1.00e-4 \u{d7}10.0 |"),
        "{text}"
    );
    assert!(
        text.contains("Of the other 598 models every check passed or was ignored."),
        "{text}"
    );
}

#[test]
fn bad_lines_and_missing_reports_are_errors() {
    let project = Project::empty();
    project.write("r/a.jsonl", "{\"version\":2}\nnothing\n");
    fs::create_dir(project.path("empty")).expect("it can be made");
    let bad = project
        .run(&["report", "r", "--format", "markdown"])
        .expect_code(1)
        .stdout;
    let empty = project.run(&["report", "empty"]).expect_code(2).stderr;
    let nowhere = project.run(&["report", "nowhere"]).expect_code(2).stderr;
    insta::assert_snapshot!([bad, empty, nowhere].join("---\n"));
}

#[test]
fn expected_failures_are_excused_until_they_expire_and_unexpected_passes_are_red() {
    let project = Project::empty();
    let device = on("A host processor");
    let fail = |model: &str| {
        line(
            model,
            "cpu",
            "finite",
            "f32",
            "fail",
            &format!("{device}\"reason\":\"NaN\","),
        )
    };
    project.write(
        "r/a.jsonl",
        fail("known") + &line("fixed", "cpu", "finite", "f32", "pass", &device),
    );
    let entry = |model: &str, expires: &str| {
        format!(
            "[[xfail]]\nmodel = \"{model}\"\ncheck = \"finite\"\nreason = \"overflow\"\nowner = \"kernels\"\nexpires = \
             \"{expires}\"\n"
        )
    };
    let run = |toml: &str, code| {
        project.write("testgen.toml", toml);
        project
            .run(&["report", "r", "--format", "markdown"])
            .expect_code(code)
            .stdout
    };
    let excused = run(&entry("known", "9999-12-31"), 0);
    assert!(
        excused.contains("overflow (owner kernels, expires 9999-12-31)"),
        "{excused}"
    );
    let expired = run(&entry("known", "2020-01-01"), 1);
    assert!(expired.contains("no longer expected to fail"), "{expired}");
    let unexpected = run(
        &(entry("known", "9999-12-31") + &entry("fixed", "9999-12-31")),
        1,
    );
    assert!(unexpected.contains("! unexpected pass"), "{unexpected}");
    insta::assert_snapshot!([excused, expired, unexpected].join("---\n"));
}

#[test]
fn a_spec_expects_failures_too() {
    let project = Project::empty();
    let xfail = "checks:\n  xfail:\n    - { check: finite, reason: overflow, owner: me, expires: \"9999-12-31\" }\n";
    project.write(
        "model_specs/encoder_only/bert.yaml",
        format!("{}{xfail}", crate::project::BERT),
    );
    let failure = format!("{}\"reason\":\"NaN\",", on("A host processor"));
    project.write(
        "r/a.jsonl",
        line("bert", "cpu", "finite", "f32", "fail", &failure),
    );
    let text = project
        .run(&["report", "r", "--format", "junit"])
        .expect_code(0)
        .stdout;
    assert!(
        text.contains(
            "<skipped message=\"expected failure: overflow (owner me, expires 9999-12-31)"
        ),
        "{text}"
    );
    for (wrong, right) in [
        ("9999-12-31", "9999-12-32"),
        ("owner: me, ", ""),
        ("finite", "causal_leak"),
    ] {
        project.write(
            "model_specs/encoder_only/bert.yaml",
            format!("{}{}", crate::project::BERT, xfail.replace(wrong, right)),
        );
        project.run(&["report", "r"]).expect_code(2);
    }
}

#[test]
fn a_listed_test_without_an_entry_is_red() {
    let project = Project::empty();
    project.write(
        "r/a.jsonl",
        line(
            "bert",
            "cpu",
            "finite",
            "f32",
            "pass",
            &on("A host processor"),
        ),
    );
    let run = |tests: &str, code| {
        project.write("tests.txt", tests);
        project
            .run(&[
                "report",
                "r",
                "--tests",
                "tests.txt",
                "--format",
                "markdown",
            ])
            .expect_code(code)
            .stdout
    };
    let made = "generated::conformance encoder_only::bert::cpu::finite_f32\n";
    run(made, 0);
    let killed = run(
        &format!("{made}generated::conformance encoder_only::bert::cpu::placement_f32\n"),
        1,
    );
    assert!(
        killed.contains("`encoder_only::bert::cpu::placement_f32` is in the suite, but the report has no entry for it"),
        "{killed}"
    );
    assert!(run("", 1).contains("so the report proves nothing"));
    project
        .run(&["report", "r", "--tests", "nowhere.txt"])
        .expect_code(2);
}
