//! `testgen report`: merging several machines, every output format, and results that never count as
//! a pass.

mod changes;
mod expected_failures;
mod statuses;

use crate::{
    drift::assert_printed,
    project::Project,
    seeded::{line, on, seed, seed_many},
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
