//! A FIFO, a device, a huge file, a directory or a dangling link in place of each file that is
//! read: an error that names the file, without reading it and without memory for its content.

use crate::{
    project::{BERT, Project},
    watchdog,
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, ExitStatus},
};

/// The most bytes that a command reads, for all files of the project together; none of the special
/// files.
const READ: u64 = 1 << 20;
/// The most memory that a command takes, in KiB.
const MEMORY: i64 = 200 * 1024;
/// The size of the huge file, which needs no space on disk.
const HUGE: u64 = 20_000_000_000;

const KINDS: [(&str, &str); 5] = [
    ("fifo", "a FIFO"),
    ("device", "a device"),
    ("huge", "at most"),
    ("directory", "a directory"),
    ("dangling", "does not exist"),
];

/// Puts a special file in the place of `path`.
fn replace(path: &Path, kind: &str) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
    match kind {
        "fifo" => assert!(
            Command::new("mkfifo")
                .arg(path)
                .status()
                .expect("mkfifo starts")
                .success()
        ),
        "device" => symlink("/dev/zero", path).expect("links can be made"),
        "huge" => fs::File::create(path)
            .and_then(|file| file.set_len(HUGE))
            .expect("sparse files can be made"),
        "directory" => fs::create_dir(path).expect("can be made"),
        _ => symlink("nowhere", path).expect("links can be made"),
    }
}

/// The exit status, the errors, and the most memory in KiB.
#[track_caller]
fn run(project: &Project, arguments: &[&str]) -> (ExitStatus, String, i64) {
    let ended = watchdog::run(project.command().args(arguments));
    assert!(ended.read < READ, "{arguments:?} read {} bytes", ended.read);
    (ended.status, ended.stderr, ended.memory)
}

/// A project in which every command works.
fn project() -> Project {
    let project = Project::with_bert();
    project.write("testgen.toml", "");
    project.write("mine/extra.tera", "");
    project.write("tests", "");
    project.write(
        "reports/a.jsonl",
        crate::seeded::line(
            "bert",
            "cpu",
            "finite",
            "f32",
            "pass",
            "\"device_name\":\"x\",",
        ),
    );
    let config = r#"{"model_type": "bert", "architectures": ["BertModel"]}"#;
    project.write("checkpoint/config.json", config);
    project.write("checkpoint/model.safetensors", "");
    project
}

/// Replaces `path` by each kind of special file and runs the command.
#[track_caller]
fn assert_refused(path: &str, arguments: &[&str]) {
    for (kind, reason) in KINDS {
        let project = project();
        replace(&project.path(path), kind);
        let (status, errors, memory) = run(&project, arguments);
        let case = format!("{kind} as {path}, {arguments:?}: {status}\n{errors}");
        assert!(matches!(status.code(), Some(1 | 2 | 4)), "{case}");
        let name = path.rsplit('/').next().expect("has one");
        assert!(errors.contains(name) && errors.contains(reason), "{case}");
        assert!(
            !errors.contains("internal error") && errors.len() < 2000,
            "{case}"
        );
        assert!(memory < MEMORY, "{memory} KiB: {case}");
    }
}

#[test]
fn specs() {
    // A directory is searched for specs.
    for (kind, reason) in KINDS.iter().filter(|(kind, _)| *kind != "directory") {
        let project = project();
        replace(&project.path("model_specs/other.yaml"), kind);
        let (status, errors, memory) = run(&project, &["generate"]);
        assert!(
            status.code() == Some(2) && errors.contains("other.yaml"),
            "{kind}: {errors}"
        );
        // The walk over the directory reports a dangling link.
        assert!(
            errors.contains(reason) || errors.contains("No such file"),
            "{kind}: {errors}"
        );
        assert!(memory < MEMORY, "{kind}: {memory} KiB");
    }
}

#[test]
fn settings() {
    assert_refused("testgen.toml", &["generate"]);
    assert_refused("testgen.toml", &["matrix"]);
}

#[test]
fn templates() {
    for (kind, reason) in KINDS.iter().filter(|(kind, _)| *kind != "directory") {
        let project = project();
        replace(&project.path("mine/encoder_only.rs.tera"), kind);
        let (status, errors, memory) = run(&project, &["generate", "--templates", "mine"]);
        assert!(
            status.code() == Some(2) && errors.contains("encoder_only.rs.tera"),
            "{kind}: {errors}"
        );
        assert!(
            errors.contains(reason) || errors.contains("No such file"),
            "{kind}: {errors}"
        );
        assert!(memory < MEMORY, "{kind}: {memory} KiB");
    }
}

#[test]
fn reports() {
    assert_refused("tests", &["report", "reports", "--tests", "tests"]);
    for (kind, reason) in KINDS.iter().filter(|(kind, _)| *kind != "directory") {
        let project = project();
        replace(&project.path("reports/b.jsonl"), kind);
        for arguments in [
            &["report", "reports", "--base", "reports", "--by", "changes"] as &[&str],
            &["report", "reports/b.jsonl"],
        ] {
            let (status, errors, memory) = run(&project, arguments);
            let is_named = errors.contains("b.jsonl") && errors.contains(reason);
            assert!(
                status.code() == Some(2) && is_named,
                "{kind}, {arguments:?}: {errors}"
            );
            assert!(memory < MEMORY, "{kind}, {arguments:?}: {memory} KiB");
        }
    }
}

#[test]
fn checkpoints() {
    for name in [
        "config.json",
        "model.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ] {
        // Weights are of any size.
        let is_mapped = name == "model.safetensors";
        let path = format!("checkpoint/{name}");
        for arguments in [
            &["add", "checkpoint", "--specs", "other"] as &[&str],
            &["record", "checkpoint", "--python", "false"],
        ] {
            for (kind, reason) in KINDS
                .iter()
                .filter(|(kind, _)| !(is_mapped && *kind == "huge"))
            {
                let project = project();
                replace(&project.path(&path), kind);
                let (status, errors, memory) = run(&project, arguments);
                let reason = if *kind == "device" {
                    "leads out of"
                } else {
                    reason
                };
                let case = format!("{kind} as {path}, {arguments:?}: {status}\n{errors}");
                assert!(
                    status.code() == Some(2) && errors.contains(name) && errors.contains(reason),
                    "{case}"
                );
                assert!(memory < MEMORY, "{memory} KiB: {case}");
            }
        }
    }
}

#[test]
fn suites_and_workflows() {
    // Links in a suite are refused wherever they lead.
    for (kind, reason) in KINDS
        .iter()
        .filter(|(kind, _)| !["device", "dangling"].contains(kind))
    {
        let project = project();
        replace(&project.path("generated/src/encoder_only/bert.rs"), kind);
        for arguments in [
            &["generate"] as &[&str],
            &["generate", "--check"],
            &["verify", "generated/src/encoder_only/bert.rs"],
        ] {
            let (status, errors, memory) = run(&project, arguments);
            let case = format!("{kind}, {arguments:?}: {status}\n{errors}");
            assert!(
                status.code() != Some(0) && errors.contains("bert.rs") && errors.contains(reason),
                "{case}"
            );
            assert!(memory < MEMORY, "{memory} KiB: {case}");
        }
        let (status, _, _) = run(&project, &["verify"]);
        assert_eq!(status.code(), Some(1), "{kind}");
    }
    assert_refused(".github/workflows/testgen.yml", &["matrix", "--check"]);
    assert_refused(".github/workflows/testgen.yml", &["matrix", "--write"]);
}

#[test]
fn the_project_of_these_tests_is_valid() {
    let project = project();
    assert_eq!(project.read("model_specs/encoder_only/bert.yaml"), BERT);
    project.run(&["generate"]).expect_code(0);
    project.run(&["verify"]).expect_code(0);
    project.run(&["matrix", "--write"]).expect_code(0);
    project
        .run(&["generate", "--templates", "mine", "--dry-run"])
        .expect_code(0);
    project
        .run(&["add", "checkpoint", "--specs", "other"])
        .expect_code(0);
    project.run(&["report", "reports"]).expect_code(0);
}
