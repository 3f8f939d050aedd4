//! `testgen verify`: templates, generated files against their specs, single files, and nothing at
//! all.

mod formats;
mod selection;
mod templates;

use crate::project::{Outcome, Project};
use serde_json::Value;
use testgen_types::Architecture;

const HARNESS: &str = "generated/src/encoder_only/bert.rs";

/// The template that all others extend.
const BASE: &str = "base.rs.tera";

/// A skip that the spec does not have.
const SKIPPED: &str =
    "skipped: &[testgen_runtime::Skip::new(testgen_runtime::Check::Finite, \"slow\")]";

fn generated() -> Project {
    let project = Project::with_bert();
    project.run(&["generate"]).expect_code(0);
    project
}

/// Changes a text that must be there.
fn edit(project: &Project, path: &str, from: &str, to: &str) {
    let text = project.read(path);
    assert!(text.contains(from), "`{from}` is not in {path}");
    project.write(path, text.replace(from, to));
}

/// `rule path` of every finding.
fn findings(outcome: &Outcome) -> Vec<String> {
    let value: Value = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", outcome.stdout, outcome.stderr));
    let findings = value["findings"].as_array().expect("is a list");
    let word = |finding: &Value, key: &str| finding[key].as_str().expect("is a word").to_owned();
    findings
        .iter()
        .map(|finding| format!("{} {}", word(finding, "rule"), word(finding, "path")))
        .collect()
}

fn verify(project: &Project, code: i32) -> Vec<String> {
    findings(
        &project
            .run(&["verify", "--format", "json"])
            .expect_code(code),
    )
}

#[test]
fn a_fresh_suite_has_no_findings_and_prints_the_number_of_files() {
    let outcome = generated().run(&["verify"]).expect_code(0);
    let end = format!(
        " renderings of templates, by {} rules\n",
        testgen_verify::rules().len()
    );
    let renders = outcome
        .stdout
        .strip_prefix("verify: no findings in 5 generated files and ");
    let renders = renders
        .and_then(|rest| rest.strip_suffix(&end))
        .unwrap_or_else(|| panic!("{}", outcome.stdout));
    let tasks: usize = Architecture::ALL
        .iter()
        .map(|architecture| architecture.tasks().len())
        .sum();
    assert!(
        renders.parse::<usize>().expect("is a number") > 7 * tasks,
        "every task with every set of devices"
    );
}

#[test]
fn a_damaged_harness_is_found_with_its_line() {
    let project = generated();
    edit(
        &project,
        HARNESS,
        "hip_runtime(target)",
        "cuda_driver(target)",
    );
    let outcome = project.run(&["verify"]).expect_code(1);
    assert!(
        outcome.stdout.contains("error[detection_paths]"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("--> generated/src/encoder_only/bert.rs:"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_hundred_stale_headers_do_not_hide_another_finding() {
    let project = Project::empty();
    for index in 0..100 {
        let spec = crate::project::BERT.replace("name: bert", &format!("name: bert_{index}"));
        project.write(format!("model_specs/encoder_only/bert_{index}.yaml"), spec);
    }
    project.run(&["generate"]).expect_code(0);
    // Other templates are another command, which every header must name.
    project.write(
        "t/base.rs.tera",
        testgen_template(BASE).replace("hip_runtime(target)", "hip_runtime(0)"),
    );
    let outcome = project.run(&["verify", "--templates", "t"]).expect_code(1);
    assert_eq!(
        outcome.stdout.matches("error[header]").count(),
        1,
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains(" = also in generated/src/encoder_only/bert_1.rs, "),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains(" and 96 more; `--format json` lists all\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("error[detection_paths]"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.lines().count() < 40,
        "the findings fit on a screen: {}",
        outcome.stdout
    );
    let all = findings(
        &project
            .run(&["verify", "--templates", "t", "--format", "json"])
            .expect_code(1),
    );
    assert_eq!(
        all.iter()
            .filter(|finding| finding.starts_with("header "))
            .count(),
        100
    );
}

#[test]
fn a_stale_spec_is_found_by_its_hash() {
    let project = generated();
    edit(
        &project,
        "model_specs/encoder_only/bert.yaml",
        "name: bert",
        "# a remark\nname: bert",
    );
    assert_eq!(verify(&project, 1), [format!("header {HARNESS}")]);
}

#[test]
fn a_missing_harness_and_a_left_over_one_are_found() {
    let project = generated();
    project.write(
        "model_specs/encoder_only/roberta.yaml",
        crate::project::BERT.replace("bert", "roberta"),
    );
    let missing = verify(&project, 1);
    assert!(
        missing.contains(&"missing_harness generated/src/encoder_only/roberta.rs".to_owned()),
        "{missing:?}"
    );
    assert!(
        missing.contains(&"suite_file generated/src/encoder_only.rs".to_owned()),
        "{missing:?}"
    );
    project.run(&["generate"]).expect_code(0);
    assert_eq!(verify(&project, 0), Vec::<String>::new());
    std::fs::remove_file(project.path("model_specs/encoder_only/roberta.yaml"))
        .expect("it is there");
    let left = verify(&project, 1);
    assert!(
        left.contains(&"left_over generated/src/encoder_only/roberta.rs".to_owned()),
        "{left:?}"
    );
}

#[test]
fn a_suite_that_does_not_list_its_harness_is_found() {
    let project = generated();
    edit(
        &project,
        "generated/src/lib.rs",
        "&encoder_only::bert::HARNESS",
        "",
    );
    assert_eq!(verify(&project, 1), ["suite_file generated/src/lib.rs"]);
    project.run(&["generate"]).expect_code(0);
    std::fs::remove_file(project.path("generated/tests/conformance.rs")).expect("it is there");
    assert_eq!(
        verify(&project, 1),
        ["suite_file generated/tests/conformance.rs"]
    );
    project.run(&["generate"]).expect_code(0);
    // Cargo then compiles another file, which can lack every check.
    edit(
        &project,
        "generated/Cargo.toml",
        "name = \"conformance\"",
        "name = \"conformance\"\npath = \"other/empty.rs\"",
    );
    assert_eq!(verify(&project, 1), ["suite_file generated/Cargo.toml"]);
}

#[test]
fn variables_of_templates_are_defined_and_used() {
    let project = generated();
    let base = testgen_template(BASE);
    let memory = "{% if vram_mib %}Some({{ vram_mib }}){% else %}None{% endif %}";
    let changed = base
        .replace("name: {{", "{% set unused = name %}name: {{")
        .replace(memory, "None");
    assert!(changed.contains("unused") && !changed.contains("vram_mib }}"));
    project.write(
        "t/base.rs.tera",
        changed + "{% if nothing is defined %}{% endif %}\n",
    );
    project
        .run(&["generate", "--templates", "t"])
        .expect_code(0);
    let outcome = project.run(&["verify", "--templates", "t"]).expect_code(1);
    let gaps: Vec<&str> = outcome
        .stdout
        .split("\n\n")
        .filter(|part| part.contains("variable]"))
        .collect();
    insta::assert_snapshot!(gaps.join("\n\n"));
}

#[test]
fn a_header_is_not_enough_where_the_spec_says_something_else() {
    let project = generated();
    edit(
        &project,
        "model_specs/encoder_only/bert.yaml",
        "precisions: [f32, f16, bf16]",
        "precisions: [f32, f16]",
    );
    let outcome = project.run(&["verify", "--fix"]).expect_code(1);
    assert!(
        outcome.stdout.contains("error[spec_static]"),
        "{}",
        outcome.stdout
    );
}

fn testgen_template(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("templates")
        .join(name);
    std::fs::read_to_string(path).expect("the template is there")
}
