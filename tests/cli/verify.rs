//! `testgen verify`: templates, generated files against their specs, single files, and nothing at
//! all.

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
        .strip_prefix("verify: no findings in 4 generated files and ");
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

fn testgen_template(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("templates")
        .join(name);
    std::fs::read_to_string(path).expect("the template is there")
}
