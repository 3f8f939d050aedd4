//! Several processes at once: the result is that of one of them, and all succeed.

use super::{contents, write_report, write_specs};
use crate::project::{BERT, Project};
use std::process::{Child, Stdio};

fn start(project: &Project, arguments: &[&str]) -> Child {
    project
        .command()
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

#[track_caller]
fn end(children: Vec<Child>, code: i32) -> usize {
    let outputs = children
        .into_iter()
        .map(|child| child.wait_with_output().expect("it ends"));
    let codes: Vec<_> = outputs
        .map(|output| {
            (
                output.status.code(),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            )
        })
        .collect();
    assert!(
        codes
            .iter()
            .all(|(found, _)| [Some(0), Some(code)].contains(found)),
        "{codes:?}"
    );
    codes.iter().filter(|(found, _)| *found == Some(0)).count()
}

#[test]
fn the_suite_is_that_of_one_process() {
    let project = Project::empty();
    write_specs(&project, "a", "first");
    write_specs(&project, "b", "second");
    let complete = |specs: &str| {
        project
            .run(&["generate", "--specs", specs, "--out", "suite"])
            .expect_code(0);
        contents(&project, "suite")
    };
    let (first, second) = (complete("a"), complete("b"));
    for _ in 0..4 {
        let start =
            |specs: &&str| start(&project, &["generate", "--specs", specs, "--out", "suite"]);
        assert_eq!(end(["a", "b", "a", "b"].iter().map(start).collect(), 0), 4);
        let found = contents(&project, "suite");
        assert!(
            found == first || found == second,
            "files of two processes are mixed, or temporary files are left"
        );
    }
}

#[test]
fn every_model_that_a_process_adds_stays_in_the_suite() {
    let project = Project::empty();
    write_specs(&project, "model_specs", "x");
    let one = |model: usize| start(&project, &["generate", "--name", &format!("m{model}")]);
    assert_eq!(end((0..6).map(one).collect(), 0), 6);
    let listed = project.read("generated/src/encoder_only.rs");
    assert!(
        (0..6).all(|model| listed.contains(&format!("pub mod m{model};"))),
        "{listed}"
    );
}

#[test]
fn a_spec_is_added_once() {
    let project = Project::empty();
    project.write(
        "checkpoint/config.json",
        r#"{"model_type": "bert", "architectures": ["BertModel"]}"#,
    );
    for round in 0..6 {
        let specs = format!("specs{round}");
        let add = |comment: &str| {
            start(
                &project,
                &["add", "checkpoint", "--specs", &specs, "--comment", comment],
            )
        };
        let succeeded = end(["a", "b", "c", "d"].map(add).into_iter().collect(), 2);
        assert_eq!(succeeded, 1, "the others report that the spec exists");
        assert_eq!(project.files(&specs), ["encoder_only/checkpoint.yaml"]);
    }
}

#[test]
fn the_page_is_that_of_one_process() {
    let project = Project::with_bert();
    project.write("model_specs/encoder_only/bert.yaml", BERT);
    let page = |word: &str| {
        write_report(&project, &format!("{word}.jsonl"), word, 300);
        project
            .run(&["report", &format!("{word}.jsonl"), "--out", "out/page"])
            .expect_code(0);
        contents(&project, "out")
    };
    let pages = [page("first"), page("second")];
    for _ in 0..4 {
        let report = |word: &str| {
            start(
                &project,
                &["report", &format!("{word}.jsonl"), "--out", "out/page"],
            )
        };
        assert_eq!(
            end(
                ["first", "second", "first", "second"]
                    .map(report)
                    .into_iter()
                    .collect(),
                0
            ),
            4
        );
        assert!(pages.contains(&contents(&project, "out")));
    }
}
