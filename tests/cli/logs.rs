//! `testgen logs`: every form, comparisons, damaged input, the page.

mod standard_input;

use crate::{browser::document, project::Project};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// One log for each form, with its source in the first line.
fn samples() -> Vec<PathBuf> {
    let entries =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/logs/tests/samples"))
            .expect("there are samples");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 18, "{paths:?}");
    paths
}

fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .expect("a plain name")
}

/// A log of nanoGPT.
fn log(lines: &[(u64, &str, f64)]) -> String {
    lines
        .iter()
        .map(|(step, loss, time)| format!("iter {step}: loss {loss}, time {time}ms, mfu 1.00%\n"))
        .collect()
}

#[test]
fn every_form_is_summarised() {
    let project = Project::empty();
    let mut text = String::new();
    for path in samples() {
        project.write(name(&path), fs::read(&path).expect("a sample"));
        let outcome = project.run(&["logs", name(&path)]);
        assert!(
            outcome.code <= 1 && outcome.stderr.is_empty(),
            "{}: {outcome:?}",
            path.display()
        );
        text.push_str(&outcome.stdout);
        text.push_str("---\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_source_of_every_sample_is_documented() {
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/logs.md"))
        .expect("the page");
    for path in samples() {
        let text = fs::read_to_string(&path).expect("a sample");
        let source = text
            .strip_prefix("# ")
            .and_then(|rest| rest.split([',', '\n']).next())
            .expect("a header");
        let (repository, revision) = source.split_once(' ').expect("a repository and a revision");
        for part in [repository, revision, name(&path)] {
            assert!(
                docs.contains(part),
                "`{part}` of {} is missing in docs/logs.md",
                path.display()
            );
        }
    }
}

#[test]
fn two_logs_are_compared_by_step() {
    let project = Project::empty();
    project.write(
        "a.log",
        log(&[(0, "4.0", 100.0), (10, "2.0", 50.0), (20, "1.0", 50.0)]),
    );
    project.write(
        "b.log",
        log(&[(10, "2.5", 25.0), (20, "1.0", 25.0), (30, "0.9", 25.0)]),
    );
    let human = project
        .run(&["logs", "a.log", "b.log"])
        .expect_code(0)
        .stdout;
    insta::assert_snapshot!(human);
    project
        .run(&["logs", "a.log", "b.log", "--within", "0.2"])
        .expect_code(0);
    let outside = project
        .run(&["logs", "a.log", "b.log", "--within", "0.19"])
        .expect_code(1)
        .stdout;
    assert!(
        outside.contains("FAILED: the losses differ by up to 20.000 %"),
        "{outside}"
    );
    let json = project
        .run(&["logs", "a.log", "b.log", "--format", "json"])
        .expect_code(0)
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        json["comparison"]["metrics"]["loss"]["largest_difference"],
        0.5
    );
    assert_eq!(
        json["comparison"]["metrics"]["step_seconds"]["median_ratio"],
        0.5
    );
    assert_eq!(json["logs"][1]["curve"]["points"][0]["loss"], 2.5);
    assert_eq!(json["version"], 1);
}

#[test]
fn what_was_not_checked_does_not_pass() {
    let project = Project::empty();
    project.write("a.log", log(&[(0, "4.0", 100.0)]));
    project.write("later.log", log(&[(1, "4.0", 100.0)]));
    project.write(
        "nan.log",
        log(&[
            (0, "4.0", 1.0),
            (1, "nan", 1.0),
            (2, "-inf", 1.0),
            (3, "3.0", 1.0),
        ]),
    );
    project.write(
        "numbered.log",
        "{'loss': 4.0, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.01}\n",
    );
    project.write(
        "speed.log",
        "[timer.py:215:stop] epoch=0/micro_step=1/global_step=1, CurrSamplesPerSec=8.25\n",
    );
    let nan = project.run(&["logs", "nan.log"]).expect_code(1).stdout;
    for expected in [
        "line 2, step 1: loss: NaN",
        "line 3, step 2: loss: -inf",
        "FAILED: NaN or infinite losses: 2",
    ] {
        assert!(nan.contains(expected), "{nan}");
    }
    let expected = [
        (vec!["later.log"], "no step in common"),
        (
            vec!["numbered.log"],
            "one log prints steps, the other one does not",
        ),
        (vec!["speed.log"], "no line has a loss"),
        (vec!["nan.log"], "NaN or infinite losses: 2"),
    ];
    for (files, message) in expected {
        let text = project
            .run(&[&["logs", "a.log"], files.as_slice()].concat())
            .expect_code(1)
            .stdout;
        assert!(text.contains(message), "{files:?}: {text}");
    }
}

#[test]
fn wrong_input_is_an_error_that_lists_what_is_known() {
    let project = Project::empty();
    project.write("text.log", "hello\nloss went down\n");
    project.write("empty.log", "");
    project.write("log.gz", [0x1f, 0x8b, 0x08, 0, 1, 2, 3]);
    project.write("a.log", log(&[(0, "4.0", 100.0)]));
    let unknown = project.run(&["logs", "text.log"]).expect_code(2).stderr;
    assert!(
        unknown.contains("no line of the log `text.log` has a known form (2 lines"),
        "{unknown}"
    );
    assert!(
        unknown.contains("torchtitan, Megatron-LM, Primus") && unknown.contains("docs/logs.md"),
        "{unknown}"
    );
    let compressed = project.run(&["logs", "log.gz"]).expect_code(2).stderr;
    assert!(
        compressed.contains("zcat FILE | testgen logs -"),
        "{compressed}"
    );
    project.run(&["logs", "empty.log"]).expect_code(2);
    project.run(&["logs", "nowhere.log"]).expect_code(2);
    project.write("empty/notes.txt", "hello\n");
    let nothing = project.run(&["logs", "empty"]).expect_code(2).stderr;
    assert!(
        nothing.contains("no file below `empty` is a training log (files tried: 1)"),
        "{nothing}"
    );
    project.run(&["logs", "-", "-"]).expect_code(2);
    project
        .run(&["logs", "a.log", "--within", "0.1"])
        .expect_code(2);
    project
        .run(&["logs", "a.log", "a.log", "--within", "-1"])
        .expect_code(2);
    project
        .run(&["logs", "a.log", "a.log", "a.log"])
        .expect_code(2);
}

#[test]
fn a_directory_is_searched_with_rank_0_first() {
    let project = Project::empty();
    let numbers = log(&[(0, "4.0", 100.0), (1, "3.0", 100.0)]);
    project.write("run_rank1.log", &numbers);
    project.write("run_rank0.log", &numbers);
    project.write("install.txt", "hello\n");
    project.write("gpus.csv", "gpu,gfx,power_usage\n0,90,700\n0,100,750\n");
    let human = project.run(&["logs"]).expect_code(0).stdout;
    insta::assert_snapshot!(human);
    let json = project
        .run(&["logs", ".", "--format", "json"])
        .expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let log = &json["logs"][0];
    assert_eq!(log["files"][0]["outcome"], "taken");
    assert_eq!(
        log["gpus"][0]["gpus"]["0"]["metrics"]["power"]["max"],
        750.0
    );
}

#[test]
fn the_speed_of_two_logs_is_compared_as_reports_of_times() {
    let project = Project::empty();
    let steps = |milliseconds: f64| -> String {
        let lines: Vec<_> = (0..30).map(|step| (step, "2.0", milliseconds)).collect();
        log(&lines)
    };
    project.write("h100.log", steps(100.0));
    project.write("mi300x.log", steps(80.0));
    project.write("amd.csv", "gpu,gfx\n0,90\n");
    let report = ["--subject", "llama", "--precision", "bf16", "--report"];
    let run = |log: &str, more: &[&str]| {
        let name = log.replace(".log", ".jsonl");
        project.run(&[&["logs", log], report.as_slice(), &[&name], more].concat())
    };
    run("h100.log", &["--device", "cuda"]).expect_code(0);
    run("mi300x.log", &["--gpus", "amd.csv"]).expect_code(0);
    let compared = project
        .run(&[
            "report",
            "mi300x.jsonl",
            "--base",
            "h100.jsonl",
            "--by",
            "speed",
            "--devices",
            "cuda,rocm",
        ])
        .expect_code(0);
    insta::assert_snapshot!(compared.stdout);
    let unknown = run("h100.log", &[]).expect_code(2).stderr;
    assert!(unknown.contains("`--device rocm`"), "{unknown}");
    let other = run("mi300x.log", &["--gpus", "amd.csv", "--device", "cuda"]);
    let other = other.expect_code(2).stderr;
    assert!(other.contains("the table of GPUs: rocm"), "{other}");
    project.write(
        "nvidia.csv",
        "index, name, power.draw [W]\n0, NVIDIA H100, 300.00 W\n",
    );
    let mixed = run("mi300x.log", &["--gpus", "nvidia.csv", "--gpus", "amd.csv"]);
    let mixed = mixed.expect_code(2).stderr;
    assert!(mixed.contains("several devices: cuda and rocm"), "{mixed}");
    project
        .run(&["logs", "h100.log", "--report", "x.jsonl"])
        .expect_code(2);
    run("h100.log", &["--gpus", "h100.log"]).expect_code(2);
    run("h100.log", &["mi300x.log", "--device", "cuda"]).expect_code(2);
}

#[test]
fn the_page_has_curves_of_both_logs() {
    let project = Project::empty();
    project.write(
        "a.log",
        log(&[(0, "4.0", 100.0), (10, "2.0", 50.0), (20, "nan", 50.0)]),
    );
    project.write(
        "<b>.log",
        log(&[(0, "4.5", 25.0), (10, "2.5", 25.0), (20, "1.0", 25.0)]),
    );
    project
        .run(&["logs", "a.log", "<b>.log", "--page", "out/curves.html"])
        .expect_code(1);
    let page = project.path("out/curves.html");
    let Some(document) = document(&page, "") else {
        return;
    };
    let shown = [
        "data-ready=",
        "FAILED: NaN or infinite losses: 1",
        "<h2>&lt;b&gt;.log</h2>",
        "line 3, step 20: loss: NaN",
        "aria-label=\"loss by step: the first log is solid, the second is dotted.\"",
        "aria-label=\"step time (s) by step",
        "<path class=\"error\"",
        "<path class=\"limit\"",
        "<path class=\"outside\"",
        "3 common steps",
    ];
    for text in shown {
        assert!(
            document.contains(text),
            "`{text}` is missing in\n{document}"
        );
    }
}
