//! Hostile names, paths and files: a clear error or escaped text, bounded memory, and never a file
//! outside the suite.

mod paths;

use crate::{
    project::{BERT, Outcome, Project},
    watchdog,
};
use std::fs;

/// The most memory that `generate` takes, in KiB; a list of aliases that is expanded takes
/// gigabytes.
const MEMORY: i64 = 200 * 1024;

#[track_caller]
fn generate(project: &Project) -> Outcome {
    let ended = watchdog::run(project.command().arg("generate"));
    assert!(ended.memory < MEMORY, "{} KiB", ended.memory);
    let outcome = project.outcome(
        &ended.status,
        ended.stdout.as_bytes(),
        ended.stderr.as_bytes(),
    );
    assert!(
        !outcome.stderr.contains("internal error"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.len() < 100_000,
        "{} bytes of errors",
        outcome.stderr.len()
    );
    outcome
}

#[track_caller]
fn assert_refused(text: impl AsRef<[u8]>, expected: &str) {
    let project = Project::empty();
    project.write("model_specs/bert.yaml", text);
    let outcome = generate(&project).expect_code(2);
    assert!(
        outcome.stderr.contains(expected),
        "`{expected}` is not in\n{}",
        outcome.stderr
    );
    assert!(!project.exists("generated"));
}

#[test]
fn names_cannot_leave_the_suite_or_break_the_code() {
    for name in [
        "../evil",
        "/etc/evil",
        "..",
        ".",
        "a/b",
        "a\\\\b",
        "a\\nb",
        "a\\0b",
        "*/",
        "\\\"; fn x() {} //",
        "é",
        "",
        " ",
        "-rf",
        "{{ command }}",
        "a\\e[31m",
    ] {
        assert_refused(
            BERT.replace("name: bert", &format!("name: \"{name}\"")),
            "error: ",
        );
    }
    assert_refused(
        BERT.replace("name: bert", &format!("name: {}", "x".repeat(5000))),
        "at most 64 characters",
    );
    assert_refused(
        BERT.replace("fixture: bert", "fixture: ../../etc"),
        "`checkpoint.fixture`",
    );
    assert_refused(
        BERT.replace("fixture: bert", "path: \"a\\0b\""),
        "contains a NUL",
    );
    assert_refused(
        BERT.replace("fixture: bert", &format!("path: {}", "x".repeat(5000))),
        "longer than 1000 characters",
    );
}

#[test]
fn keywords_and_signs_become_modules() {
    let project = Project::empty();
    for name in [
        "match",
        "self",
        "mod",
        "3b",
        "Qwen2.5-0.5B",
        "a--b",
        "crate",
        "lib",
        "main",
    ] {
        project.write(
            format!("model_specs/{name}.yaml"),
            BERT.replace("name: bert", &format!("name: \"{name}\"")),
        );
    }
    generate(&project).expect_code(0);
    syn::parse_file(&project.read("generated/src/encoder_only.rs"))
        .expect("the modules have names");
    let text = project.read("generated/src/encoder_only.rs");
    for module in [
        "match_",
        "self_",
        "mod_",
        "_3b",
        "qwen2_5_0_5b",
        "a_b",
        "crate_",
    ] {
        assert!(
            text.contains(&format!("pub mod {module};")),
            "{module} is not in\n{text}"
        );
        assert!(project.exists(format!("generated/src/encoder_only/{module}.rs")));
    }
}

#[test]
fn reasons_and_paths_are_escaped() {
    let hostile = r#"\" }); } fn evil() { /* */ // \n\r\t\0 \\ {{ command }} {% raw %} é \u202e"#;
    let project = Project::empty();
    let skip = format!("checks: {{ skip: [ {{ check: finite, reason: \"{hostile}\" }} ] }}\n");
    let tolerance = format!(
        "tolerance: [ {{ output: \"{hostile}\", precision: f16, rel_l2: 0.1, max_rel: 0.1, reason: \"{hostile}\" }} ]\n"
    );
    let path = r#"path: "/a/\" + evil() + \"\n*/ `é`""#;
    project.write(
        "model_specs/bert.yaml",
        BERT.replace("fixture: bert", path) + &skip + &tolerance,
    );
    generate(&project).expect_code(0);
    let text = project.read("generated/src/encoder_only/bert.rs");
    let file = syn::parse_file(&text).expect("it is Rust");
    let functions = file
        .items
        .iter()
        .filter(|item| matches!(item, syn::Item::Fn(_)))
        .count();
    assert_eq!(functions, 8, "no function came from the spec\n{text}");
    assert!(
        text.contains("{{ command }}"),
        "text of a spec is not a template"
    );
}

#[test]
fn yaml_bombs_are_errors_in_bounded_memory() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_refused(bomb, "larger or deeper than a spec can be");
    assert_refused("a: &a [*a]\n", "an alias refers to what it is part of");
    assert_refused("a: &a { b: *a }\n", "an alias refers to what it is part of");
    assert_refused("[".repeat(200_000), "error: ");
    assert_refused("- ".repeat(100_000), "error: ");
    assert_refused(
        (0..400)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect::<String>(),
        "deeper",
    );
    assert_refused(
        (0..20_000)
            .map(|key| format!("k{key}: 1\n"))
            .collect::<String>(),
        "larger",
    );
    assert_refused("name: x\n---\nname: y\n", "error: ");
    assert_refused("name: bert\nname: bert\n", "the key `name` is given twice");
    assert_refused("x".repeat(250_000), "error: ");
}

#[test]
fn files_that_are_not_text_are_errors() {
    assert_refused(b"name: \xff\xfe\n", "byte 6 is not UTF-8");
    assert_refused(b"name: \"a\0b\"\n", "error: ");
    assert_refused("", "the spec is empty");
    assert_refused("# only a comment\n", "the spec is empty");
    let project = Project::empty();
    project.write("model_specs/big.yaml", "");
    let big = fs::OpenOptions::new()
        .write(true)
        .open(project.path("model_specs/big.yaml"))
        .expect("it is there");
    big.set_len(100 * 1024 * 1024)
        .expect("a sparse file can be made");
    assert!(
        generate(&project)
            .expect_code(2)
            .stderr
            .contains("at most 262144 are read")
    );
}

#[test]
fn errors_show_no_control_characters() {
    let project = Project::empty();
    project.write(
        "model_specs/bert.yaml",
        "\"na\\e[31mme\": x\nmodel_type: \"a\\e[31m\\nb\"\n",
    );
    let outcome = generate(&project).expect_code(2);
    assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let project = Project::with_bert();
    for index in 0..400 {
        project.write(
            format!("model_specs/m{index}.yaml"),
            BERT.replace("name: bert", &format!("name: m{index}")),
        );
    }
    let binary = env!("CARGO_BIN_EXE_testgen");
    let mut shell = std::process::Command::new("bash");
    shell.current_dir(project.path("")).args([
        "-c",
        &format!("{binary} show specs | head -1; echo ${{PIPESTATUS[0]}}"),
    ]);
    let outcome = project.finish(&mut shell).expect_code(0);
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.ends_with("\n0\n"), "{}", outcome.stdout);
}
