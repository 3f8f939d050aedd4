//! `testgen export`: the arguments of the exporter, its files, and its exit codes.

use crate::{fake::suite::run, project::Project};
use std::{fs, path::PathBuf};

/// A script in place of Python, which writes its arguments to `seen` and then runs `body`.
fn fake_python(project: &Project, body: &str) -> PathBuf {
    let text = format!(
        "#!/bin/sh\necho \"$*\" > \"{}\"\n{body}\n",
        project.path("seen").display()
    );
    project.script("bin/fake-python", text)
}

fn with_checkpoint() -> Project {
    let project = Project::with_bert();
    project.write("fixtures/bert/config.json", "{}");
    project
}

fn export(project: &Project, body: &str, arguments: &[&str]) -> crate::project::Outcome {
    let python = fake_python(project, body);
    project.finish(
        project
            .command()
            .arg("export")
            .args(arguments)
            .arg("--python")
            .arg(python),
    )
}

#[test]
fn names_and_directories_are_exported_to_one_folder() {
    let project = with_checkpoint();
    project.write("other/config.json", "{}");
    let outcome = export(
        &project,
        "echo /a/model.onnx",
        &["bert", "other", "--force"],
    )
    .expect_code(0);
    assert_eq!(outcome.stdout, "/a/model.onnx\n");
    let seen = project.read("seen");
    let folder = project.path("target/testgen/onnx");
    assert!(
        seen.starts_with("-I ") && seen.contains(" export.onnx_export --force -- "),
        "{seen}"
    );
    assert!(
        seen.trim_end().ends_with(&format!(
            "{} model_specs/../fixtures/bert other",
            folder.display()
        )),
        "{seen}"
    );
    export(&project, "exit 0", &["other", "--into-checkpoint"]).expect_code(0);
    assert!(
        project
            .read("seen")
            .contains(" export.onnx_export --into-checkpoint -- "),
        "{}",
        project.read("seen")
    );
}

#[test]
fn the_exporter_is_handed_to_python() {
    let project = with_checkpoint();
    let body = format!(
        "cat \"$2/export/onnx_export.py\" > \"{}\"",
        project.path("main").display()
    );
    export(&project, &body, &["bert"]).expect_code(0);
    let main = concat!(env!("CARGO_MANIFEST_DIR"), "/python/export/onnx_export.py");
    assert_eq!(
        project.read("main"),
        fs::read_to_string(main).expect("there is an exporter")
    );
}

#[test]
fn the_exit_code_says_whose_fault_it_is() {
    let project = with_checkpoint();
    for (body, code) in [
        ("exit 0", 0),
        ("exit 1", 2),
        ("exit 3", 3),
        ("exit 7", 4),
        ("kill -9 $$", 4),
    ] {
        export(&project, body, &["bert"]).expect_code(code);
    }
    project
        .run(&["export", "bert", "--python", "no-such-python"])
        .expect_code(3);
}

#[test]
fn only_checkpoints_without_pickles_are_exported() {
    let project = with_checkpoint();
    project.write("empty/readme", "");
    let outcome = export(&project, "exit 0", &["empty"]).expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("`empty` is not a checkpoint directory"),
        "{}",
        outcome.stderr
    );
    assert!(
        export(&project, "exit 0", &["brt"])
            .expect_code(2)
            .stderr
            .contains("`bert`")
    );
    project.write("pickled/config.json", "{}");
    project.write("pickled/pytorch_model.bin", "x");
    let outcome = export(&project, "exit 0", &["bert", "pickled"]).expect_code(2);
    assert!(
        outcome.stderr.contains("pytorch_model.bin"),
        "{}",
        outcome.stderr
    );
    assert!(!project.path("seen").exists(), "Python must not start");
}

#[test]
fn a_run_passes_the_folder_of_graphs_to_engines() {
    let project = Project::with_bert();
    run(
        &project,
        "",
        &["--device", "cpu", "--engine", "onnxruntime/unoptimized"],
    )
    .expect_code(0);
    let log = project.read("target/testgen/report.jsonl.log");
    let folder = project.path("target/testgen/onnx");
    assert!(
        log.contains(&format!("graphs: Ok({:?})", folder.display().to_string())),
        "{log}"
    );
}
