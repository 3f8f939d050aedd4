//! `testgen verify` of templates: rendered for synthetic specs, and findings in the line of the
//! template.

use super::{BASE, HARNESS, findings, generated, testgen_template};

#[test]
fn a_template_is_verified_for_synthetic_specs() {
    let project = generated();
    // Correct for bert, which embeds text; wrong for every other task of the architecture.
    let base = testgen_template(BASE);
    let changed = base.replace("Task::{{ task_variant }}", "Task::TextEmbedding");
    assert_ne!(base, changed, "the template names the task");
    project.write("t/base.rs.tera", changed);
    project
        .run(&["generate", "--templates", "t"])
        .expect_code(0);
    let outcome = project
        .run(&["verify", "--templates", "t", "--format", "json"])
        .expect_code(1);
    let found = findings(&outcome);
    assert!(
        found.contains(&"spec_static t/base.rs.tera".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"unused_variable templates/vision.rs.tera".to_owned()),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|finding| finding.contains("generated/")),
        "{found:?}"
    );
}

#[test]
fn a_template_without_rocm_is_found() {
    let project = generated();
    project.write(
        "t/base.rs.tera",
        testgen_template(BASE).replace("pub fn init_rocm(", "pub fn init_amd("),
    );
    let outcome = project.run(&["verify", "--templates", "t"]).expect_code(1);
    let place = format!("--> t/base.rs.tera:{}:1\n", line_of("    init_rocm,"));
    let finding = outcome
        .stdout
        .split("\n\n")
        .find(|finding| finding.contains("the file has no function `init_rocm`"));
    assert!(
        finding.is_some_and(|finding| finding.contains(&place)),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_template_that_renders_no_rust_is_found_and_a_broken_one_is_bad_input() {
    let project = generated();
    project.write("t/vision.rs.tera", "fn broken( {\n");
    let outcome = project
        .run(&["verify", "--templates", "t", "--format", "json"])
        .expect_code(1);
    let found = findings(&outcome);
    let renders = found
        .iter()
        .filter(|finding| *finding == "template_renders t/vision.rs.tera");
    assert_eq!(renders.count(), 1, "{found:?}");
    std::fs::remove_file(project.path("t/vision.rs.tera")).expect("it is there");
    project.write("t/suite/src/lib.rs.tera", "fn broken( {\n");
    let outcome = project
        .run(&["verify", "--templates", "t", "--format", "json"])
        .expect_code(1);
    assert!(
        findings(&outcome).contains(&"template_renders suite".to_owned()),
        "{}",
        outcome.stdout
    );
    project.write("t/vision.rs.tera", "{% if %}\n");
    project.run(&["verify", "--templates", "t"]).expect_code(2);
}

#[test]
fn a_broken_line_is_found_in_the_template_that_it_comes_from() {
    let project = generated();
    project.write(
        "t/base.rs.tera",
        testgen_template(BASE).replace("hip_runtime(target)", "hip_runtime(0)"),
    );
    project
        .run(&["generate", "--templates", "t"])
        .expect_code(0);
    let outcome = project.run(&["verify", "--templates", "t"]).expect_code(1);
    let place = format!("--> t/base.rs.tera:{}:1\n", line_of("hip_runtime("));
    assert!(outcome.stdout.contains(&place), "{}", outcome.stdout);
    assert_eq!(
        outcome.stdout.matches("t/base.rs.tera").count(),
        1,
        "once is enough: {}",
        outcome.stdout
    );
}

#[test]
fn a_request_of_another_modality_is_found() {
    let project = generated();
    project.write("t/vision.rs.tera", testgen_template("graph.rs.tera"));
    let found = findings(
        &project
            .run(&["verify", "--templates", "t", "--format", "json"])
            .expect_code(1),
    );
    assert!(
        found.contains(&"request_modality t/vision.rs.tera".to_owned()),
        "{found:?}"
    );
    let copy = project
        .read(HARNESS)
        .replace("EncoderOnly", "Vision")
        .replace("ModelType::Bert", "ModelType::Vit");
    let copy = copy
        .replace("TextEmbedding", "ImageEmbedding")
        .replace("text_embedding", "image_embedding");
    project.write("other.rs", copy);
    let found = findings(
        &project
            .run(&["verify", "other.rs", "--format", "json"])
            .expect_code(1),
    );
    assert_eq!(found, ["request_modality other.rs"]);
}

/// The line of [`BASE`] that contains `text`.
fn line_of(text: &str) -> usize {
    testgen_template(BASE)
        .lines()
        .position(|line| line.contains(text))
        .expect("the template has it")
        + 1
}
