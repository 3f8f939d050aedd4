//! `testgen report`: merging several machines, every output format, and results that never count as a pass.

use crate::{
    drift::assert_printed,
    project::Project,
    seeded::{line, on, outputs, seed, tensor},
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
    let run = |format: &str| project.run(&["report", "reports", "--format", format]).expect_code(1).stdout;
    insta::assert_snapshot!("seeded_markdown", run("markdown"));
    insta::assert_snapshot!("seeded_junit", run("junit"));
    // A file of its own: tests/schemas validates it.
    insta::assert_binary_snapshot!("seeded.json", run("json").into_bytes());
}

#[test]
fn the_schema_of_the_json_is_current() {
    assert_printed("docs/report.schema.json", &["report", "--schema"]);
}

#[test]
fn the_order_of_reports_does_not_matter() {
    let project = seeded();
    let run = |places: [&str; 3]| {
        let arguments = [&["report", "--format", "json"], places.as_slice()].concat();
        project.run(&arguments).expect_code(1).stdout
    };
    let files = ["reports/cpu.jsonl", "reports/cuda", "reports/rocm-sim.jsonl"];
    assert_eq!(run(files), run([files[2], files[1], files[0]]));
}

#[test]
fn a_real_device_replaces_an_absence_and_a_simulation_does_not() {
    let project = seeded();
    let text = project.run(&["report", "reports", "--format", "json"]).expect_code(1).stdout;
    let report: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let devices: Vec<(&str, Option<&str>, bool)> = report["devices"]
        .as_array()
        .expect("is a list")
        .iter()
        .map(|device| {
            let simulated = device["simulated"].as_bool().expect("is a flag");
            (device["device"].as_str().expect("is text"), device["name"].as_str(), simulated)
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
    let fail = line("bert", "cpu", "finite", "f32", "fail", &format!("{device}\"reason\":\"NaN\","));
    for (first, second) in [(&pass, &fail), (&fail, &pass)] {
        project.write("r/a.jsonl", first);
        project.write("r/b.jsonl", second);
        let text = project.run(&["report", "r", "--format", "markdown"]).expect_code(1).stdout;
        assert!(text.contains("**FAILED**: 1 fail"), "{text}");
    }
}

#[test]
fn a_pass_that_cannot_be_one_is_red() {
    let project = Project::empty();
    let far = outputs(&[tensor("logits", Some(0.5), "")]);
    let device = on("A host processor");
    for rest in [String::new(), format!("{device}\"mock\":true,"), format!("{device}{far}")] {
        project.write("r/a.jsonl", line("bert", "rocm", "output_golden", "f32", "pass", &rest));
        let text = project.run(&["report", "r", "--format", "markdown"]).expect_code(1).stdout;
        assert!(text.contains("## Not trustworthy"), "{rest}: {text}");
        assert!(!text.contains("| \u{2713} pass"), "{rest}: {text}");
    }
}

#[test]
fn a_model_whose_outputs_were_not_compared_is_incomplete() {
    let project = Project::empty();
    project.write("r/a.jsonl", line("bert", "cuda", "placement", "f16", "pass", &on("A CUDA device")));
    let text = project.run(&["report", "r", "--format", "markdown"]).expect_code(0).stdout;
    assert!(text.contains("| \u{25d0} incomplete |"), "{text}");
}

#[test]
fn bad_lines_and_missing_reports_are_errors() {
    let project = Project::empty();
    project.write("r/a.jsonl", "{\"version\":2}\nnothing\n");
    fs::create_dir(project.path("empty")).expect("it can be made");
    let bad = project.run(&["report", "r", "--format", "markdown"]).expect_code(1).stdout;
    let empty = project.run(&["report", "empty"]).expect_code(2).stderr;
    let nowhere = project.run(&["report", "nowhere"]).expect_code(2).stderr;
    insta::assert_snapshot!([bad, empty, nowhere].join("---\n"));
}

#[test]
fn expected_failures_are_excused_until_they_expire_and_unexpected_passes_are_red() {
    let project = Project::empty();
    let device = on("A host processor");
    let fail = |model: &str| line(model, "cpu", "finite", "f32", "fail", &format!("{device}\"reason\":\"NaN\","));
    project.write("r/a.jsonl", fail("known") + &line("fixed", "cpu", "finite", "f32", "pass", &device));
    let entry = |model: &str, expires: &str| {
        format!(
            "[[xfail]]\nmodel = \"{model}\"\ncheck = \"finite\"\nreason = \"overflow\"\nowner = \"kernels\"\nexpires = \
             \"{expires}\"\n"
        )
    };
    let run = |toml: &str, code| {
        project.write("testgen.toml", toml);
        project.run(&["report", "r", "--format", "markdown"]).expect_code(code).stdout
    };
    let excused = run(&entry("known", "9999-12-31"), 0);
    assert!(excused.contains("overflow (owner kernels, expires 9999-12-31)"), "{excused}");
    let expired = run(&entry("known", "2020-01-01"), 1);
    assert!(expired.contains("no longer expected to fail"), "{expired}");
    let unexpected = run(&(entry("known", "9999-12-31") + &entry("fixed", "9999-12-31")), 1);
    assert!(unexpected.contains("! unexpected pass"), "{unexpected}");
    insta::assert_snapshot!([excused, expired, unexpected].join("---\n"));
}

#[test]
fn a_spec_expects_failures_too() {
    let project = Project::empty();
    let xfail = "checks:\n  xfail:\n    - { check: finite, reason: overflow, owner: me, expires: \"9999-12-31\" }\n";
    project.write("model_specs/encoder_only/bert.yaml", format!("{}{xfail}", crate::project::BERT));
    let failure = format!("{}\"reason\":\"NaN\",", on("A host processor"));
    project.write("r/a.jsonl", line("bert", "cpu", "finite", "f32", "fail", &failure));
    let text = project.run(&["report", "r", "--format", "junit"]).expect_code(0).stdout;
    assert!(text.contains("<skipped message=\"expected failure: overflow (owner me, expires 9999-12-31)"), "{text}");
    for (wrong, right) in [("9999-12-31", "9999-12-32"), ("owner: me, ", ""), ("finite", "causal_leak")] {
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
    project.write("r/a.jsonl", line("bert", "cpu", "finite", "f32", "pass", &on("A host processor")));
    let run = |tests: &str, code| {
        project.write("tests.txt", tests);
        project.run(&["report", "r", "--tests", "tests.txt", "--format", "markdown"]).expect_code(code).stdout
    };
    let made = "generated::conformance encoder_only::bert::cpu::finite_f32\n";
    run(made, 0);
    let killed = run(&format!("{made}generated::conformance encoder_only::bert::cpu::placement_f32\n"), 1);
    assert!(
        killed.contains("`encoder_only::bert::cpu::placement_f32` is in the suite, but the report has no entry for it"),
        "{killed}"
    );
    assert!(run("", 1).contains("so the report proves nothing"));
    project.run(&["report", "r", "--tests", "nowhere.txt"]).expect_code(2);
}
