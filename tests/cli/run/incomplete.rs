//! Runs without a result: a crash, a suite that does not build, a report that does not fit.

use super::{NO_ROCM, PASS, json, problems};
use crate::{
    fake::suite::{command, run},
    project::Project,
};
use std::path::Path;

#[test]
fn a_report_that_does_not_fit_the_suite_is_red() {
    let unknown = r#"{"version":1,"model":"gpt2","architecture":"decoder_only","device":"cpu","check":"finite","precision":"f32","status":"pass","device_name":"x","milliseconds":1}"#;
    let cases = [
        (format!("{PASS}|none|"), vec!["missing_entry"]),
        (
            format!("{PASS}|twice|\"device_name\":\"Fake host\""),
            vec!["repeated_entry"],
        ),
        (
            format!("{PASS}|text|{unknown}"),
            vec!["missing_entry", "unknown_entry"],
        ),
        (
            format!("{PASS}|text|{{\"version\":1,"),
            vec!["bad_line", "missing_entry"],
        ),
        (format!("{PASS}|ignored|"), vec!["missing_reason"]),
        ("|unlisted|".to_owned(), vec!["no_tests"]),
    ];
    for (rules, expected) in cases {
        let outcome = run(&Project::with_bert(), &rules, &["--format", "json"]).expect_code(1);
        assert_eq!(problems(&outcome), expected, "{rules}");
        assert_eq!(json(&outcome)["green"], false);
    }
}

#[test]
fn a_crash_is_red_and_shows_the_end_of_the_log() {
    let outcome = run(&Project::with_bert(), &format!("{PASS}|crash|"), &[]).expect_code(1);
    assert!(
        outcome
            .stdout
            .contains("the test binary ended with signal: 6 (SIGABRT)"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("is in the suite, but the report has no entry for it"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("more of this kind"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("arguments: ["),
        "the log's end is shown: {}",
        outcome.stderr
    );
}

#[test]
fn findings_of_the_verifier_stop_the_run() {
    let project = Project::with_bert();
    // It compiles, and every check would pass, but no code ever detects an AMD GPU.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/base.rs.tera");
    let mut base = std::fs::read_to_string(path).expect("the template is there");
    let documented = base
        .find(" on an AMD GPU. Without one")
        .expect("the template has the function");
    let start = base[..documented]
        .rfind("///")
        .expect("its documentation is a comment");
    let end = start + base[start..].find("\n}\n").expect("the function ends") + "\n}\n".len();
    base.replace_range(start..end, NO_ROCM);
    project.write("t/base.rs.tera", base);
    let outcome = run(&project, "", &["--templates", "t"]).expect_code(1);
    assert!(
        outcome.stderr.contains("error[detection_paths]"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("building"), "nothing may be built");
    assert!(
        !project.exists("target/testgen/report.jsonl"),
        "nothing may run"
    );
}

#[test]
fn a_suite_that_does_not_build_shows_the_compiler() {
    let project = Project::with_bert();
    let outcome = project
        .finish(command(&project, "", &["--quiet"]).env("RUSTFLAGS", "--cfg no_such_word="))
        .expect_code(1);
    assert!(
        outcome.stderr.contains("does not build"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn without_cargo_the_exit_code_is_3() {
    let project = Project::with_bert();
    let outcome = project
        .finish(command(&project, "", &[]).env("CARGO", "no/such/cargo"))
        .expect_code(3);
    assert!(
        outcome.stderr.contains("cannot start `no/such/cargo`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("help: install Rust"),
        "{}",
        outcome.stderr
    );
}
