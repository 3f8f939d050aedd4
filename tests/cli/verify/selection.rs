//! The files and specs that are verified.

use super::{HARNESS, edit, generated, verify};
use crate::project::Project;

#[test]
fn single_files_are_verified_without_specs() {
    let project = generated();
    std::fs::remove_dir_all(project.path("model_specs")).expect("it is there");
    let fine = project.run(&["verify", HARNESS]).expect_code(0);
    assert!(
        fine.stdout
            .starts_with("verify: no findings in 1 generated file, by "),
        "{}",
        fine.stdout
    );
    edit(
        &project,
        HARNESS,
        "hip_runtime(target)",
        "cuda_driver(target)",
    );
    project.run(&["verify", HARNESS, HARNESS]).expect_code(1);
    let absent = project.run(&["verify", "no/such.rs"]).expect_code(2);
    assert!(
        absent.stderr.contains("cannot read `no/such.rs`"),
        "{}",
        absent.stderr
    );
    project
        .run(&["verify", HARNESS, "--specs", "model_specs"])
        .expect_code(2);
}

#[test]
fn nothing_to_verify_is_not_green() {
    let project = Project::empty();
    let outcome = project.run(&["verify"]).expect_code(1);
    assert!(
        outcome.stderr.contains("nothing to verify"),
        "{}",
        outcome.stderr
    );
    std::fs::create_dir(project.path("model_specs")).expect("can be made");
    let outcome = project.run(&["verify"]).expect_code(1);
    assert!(
        outcome.stderr.contains("nothing to verify"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_suite_without_specs_is_left_over() {
    let project = generated();
    std::fs::remove_file(project.path("model_specs/encoder_only/bert.yaml")).expect("it is there");
    let found = verify(&project, 1);
    assert!(found.contains(&format!("left_over {HARNESS}")), "{found:?}");
}

#[test]
fn wrong_specs_are_bad_input() {
    let project = generated();
    edit(
        &project,
        "model_specs/encoder_only/bert.yaml",
        "model_type: bert",
        "model_type: brt",
    );
    let outcome = project.run(&["verify"]).expect_code(2);
    assert!(outcome.stderr.contains("bert.yaml"), "{}", outcome.stderr);
}

#[test]
fn specs_out_and_runtime_are_honoured() {
    let project = Project::empty();
    project.write("s/encoder_only/bert.yaml", crate::project::BERT);
    let flags = ["--specs", "s", "--out", "o", "--runtime", "0.1"];
    project
        .run(&[&["generate"][..], &flags].concat())
        .expect_code(0);
    project
        .run(&[&["verify"][..], &flags].concat())
        .expect_code(0);
    // Another runtime is another command, which the header must name.
    project
        .run(&["verify", "--specs", "s", "--out", "o", "--runtime", "0.2"])
        .expect_code(1);
}
