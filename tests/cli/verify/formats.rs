//! A damaged project in every output format, and the automatic fixes.

use super::{HARNESS, SKIPPED, edit, generated, verify};
use crate::project::Project;

/// A project with findings of several kinds.
fn damaged() -> Project {
    let project = generated();
    edit(
        &project,
        HARNESS,
        "cuda_compatibility(target)",
        "cuda_compatibility(0)",
    );
    edit(
        &project,
        HARNESS,
        "skipped: &[]",
        "skipped: &[Skip::new(Check::Finite, \"slow\")]",
    );
    edit(
        &project,
        HARNESS,
        "    Architecture, ",
        "    Architecture, Check, Skip, ",
    );
    project.write("generated/src/vision/left <over>, 50%.rs", "");
    project
}

/// `text` without the number of renderings, which grows with every task and architecture.
fn without_count(text: String) -> String {
    for (before, after) in [
        (" and ", " renderings of templates"),
        ("\"renders\": ", ",\n  \"rules\""),
    ] {
        let Some((head, tail)) = text.split_once(after) else {
            continue;
        };
        let (head, count) = head.rsplit_once(before).expect("a number of renderings");
        assert!(count.parse::<usize>().is_ok(), "{count}");
        return format!("{head}{before}[count]{after}{tail}");
    }
    text
}

#[test]
fn formats() {
    let project = damaged();
    let shown = |format: &str| {
        without_count(
            project
                .run(&["verify", "--format", format])
                .expect_code(1)
                .stdout,
        )
    };
    insta::assert_snapshot!("damaged_human", shown("human"));
    insta::assert_snapshot!("damaged_json", shown("json"));
    insta::assert_snapshot!("damaged_junit", shown("junit"));
    insta::assert_snapshot!("damaged_github", shown("github"));
    // Files of their own, so that tests/schemas can validate them.
    insta::assert_binary_snapshot!("damaged_sarif.json", shown("sarif").into_bytes());
    let clean = generated();
    let shown = |format: &str| {
        clean
            .run(&["verify", "--format", format])
            .expect_code(0)
            .stdout
    };
    insta::assert_binary_snapshot!("clean_sarif.json", shown("sarif").into_bytes());
    assert!(!shown("junit").contains("<failure"));
    assert!(!shown("github").contains("::error"));
}

#[test]
fn automatic_fixes_are_applied_and_the_rest_is_found() {
    let project = generated();
    let good = project.read(HARNESS);
    edit(&project, HARNESS, "skipped: &[]", SKIPPED);
    edit(&project, HARNESS, "--out generated", "--out elsewhere");
    assert_eq!(verify(&project, 1).len(), 2);
    assert_ne!(
        project.read(HARNESS),
        good,
        "nothing is written without --fix"
    );
    let outcome = project.run(&["verify", "--fix"]).expect_code(0);
    assert_eq!(
        outcome.stderr,
        format!("fixed `{HARNESS}`: the header, the skipped checks\n")
    );
    assert_eq!(project.read(HARNESS), good);
    edit(&project, HARNESS, "skipped: &[]", SKIPPED);
    edit(&project, HARNESS, "hip_runtime(target)", "hip_runtime(0)");
    let outcome = project.run(&["verify", "--fix"]).expect_code(1);
    assert_eq!(
        outcome.stderr,
        format!("fixed `{HARNESS}`: the skipped checks\n")
    );
    assert!(
        outcome.stdout.contains("error[detection_paths]"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("skipped_checks"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        project.run(&["verify", "--fix"]).expect_code(1).stderr,
        "",
        "nothing more can be fixed"
    );
}
