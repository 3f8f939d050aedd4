//! The directories of templates, runtime and suite: flags, `testgen.toml`, and a surrounding
//! workspace.

use crate::project::{BERT, Project};
use std::fs;

const HARNESS: &str = "generated/src/encoder_only/bert.rs";

#[test]
fn templates_replace_those_of_the_binary_one_by_one() {
    let project = Project::with_bert();
    let request = "{% block request %}\n/// A request of {{ name }} from {{ spec_path }}.\npub fn request() {}\n{% endblock request %}\n";
    project.write(
        "my/encoder_only.rs.tera",
        format!("{{% extends \"model.rs.tera\" %}}\n{request}"),
    );
    project
        .run(&["generate", "--templates", "my"])
        .expect_code(0);
    let text = project.read(HARNESS);
    assert!(
        text.contains("\n/// A request of bert from model_specs/encoder_only/bert.yaml.\n"),
        "{text}"
    );
    assert!(
        text.contains("pub fn init_rocm"),
        "the other templates are the binary's"
    );
    let library = project.read("generated/src/lib.rs");
    assert!(
        library.contains("testgen generate --specs model_specs --out generated --templates my`"),
        "{library}"
    );
}

#[test]
fn template_errors_have_template_and_line() {
    let project = Project::with_bert();
    let wrong = |name: &str, text: &str| {
        let _ = fs::remove_dir_all(project.path("my"));
        project.write(format!("my/{name}"), text);
        project
            .run(&["generate", "--templates", "my"])
            .expect_code(2)
            .stderr
    };
    let syntax = wrong(
        "encoder_only.rs.tera",
        "/// Spec.\npub static SPEC: &str = {{ name \n",
    );
    let variable = wrong(
        "encoder_only.rs.tera",
        "/// Spec.\npub static SPEC: &str = {{ nome | rust_string }};\n",
    );
    let rust = wrong(
        "encoder_only.rs.tera",
        "/// Spec.\npub static SPEC &str = {{ name | rust_string }};\n",
    );
    let include = wrong(
        "encoder_only.rs.tera",
        "{% include \"partials/nowhere.rs.tera\" %}\n",
    );
    insta::assert_snapshot!([syntax, variable, rust, include].join("---\n"));
    project
        .run(&["generate", "--templates", "nowhere"])
        .expect_code(2);
    fs::create_dir(project.path("empty")).expect("it can be made");
    project
        .run(&["generate", "--templates", "empty"])
        .expect_code(2);
}

#[test]
fn the_runtime_is_a_path_or_a_version() {
    let project = Project::with_bert();
    project
        .run(&["generate", "--runtime", "0.1"])
        .expect_code(0);
    let manifest = project.read("generated/Cargo.toml");
    assert!(
        manifest.contains("testgen-runtime = { version = \"0.1\", default-features = false }"),
        "{manifest}"
    );
    assert!(
        manifest.contains("native = [\"testgen-runtime/encoder_only\"]"),
        "{manifest}"
    );
    project.write(
        "my runtime/Cargo.toml",
        "[package]\nname = \"testgen-runtime\"\n",
    );
    project
        .run(&["generate", "--runtime", "my runtime"])
        .expect_code(0);
    let manifest = project.read("generated/Cargo.toml");
    assert!(
        manifest
            .contains("testgen-runtime = { path = \"../my runtime\", default-features = false }"),
        "{manifest}"
    );
    assert!(manifest.contains("--runtime 'my runtime'\n"), "{manifest}");
    let outcome = project
        .run(&["generate", "--runtime", "no/where"])
        .expect_code(2);
    project.write("other/Cargo.toml", "[package]\nname = \"other\"\n");
    let other = project
        .run(&["generate", "--runtime", "other"])
        .expect_code(2);
    insta::assert_snapshot!(format!("{}---\n{}", outcome.stderr, other.stderr));
}

#[test]
fn a_suite_in_a_workspace_that_lists_it_is_a_member() {
    let project = Project::with_bert();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"gen*\"]\n");
    project.run(&["generate"]).expect_code(0);
    let manifest = project.read("generated/Cargo.toml");
    assert!(
        manifest.contains("[lints]\nworkspace = true") && !manifest.contains("[workspace]"),
        "{manifest}"
    );
    project.run(&["generate", "--out", "suite"]).expect_code(0);
    let manifest = project.read("suite/Cargo.toml");
    assert!(
        manifest.contains("[workspace]") && !manifest.contains("[lints]"),
        "{manifest}"
    );
    // The name begins with that of the directory above.
    assert!(manifest.contains("-suite\"\n"), "{manifest}");
}

#[test]
fn testgen_toml_is_overruled_by_flags_and_found_from_below() {
    let project = Project::empty();
    project.write("specs/bert.yaml", BERT);
    project.write(
        "testgen.toml",
        "specs = \"specs\"\nout = \"suite\"\nruntime = \"0.2\"\n",
    );
    project.write("below/file", "");
    let mut command = project.command();
    command.current_dir(project.path("below")).arg("generate");
    project.finish(&mut command).expect_code(0);
    assert!(
        project
            .read("suite/Cargo.toml")
            .contains("version = \"0.2\"")
    );
    project
        .run(&["generate", "--out", "other", "--runtime", "0.3"])
        .expect_code(0);
    assert!(
        project
            .read("other/Cargo.toml")
            .contains("version = \"0.3\"")
    );
    project.write("testgen.toml", "specs = \"specs\"\nuot = \"suite\"\n");
    insta::assert_snapshot!(project.run(&["generate"]).expect_code(2).stderr);
}
