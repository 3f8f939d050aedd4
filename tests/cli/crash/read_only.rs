//! Read-only directories: an error that names the file, no change, and success when the directory
//! can be written again.

use super::{assert_old_or_new, contents, write_report, write_specs};
use crate::project::{Outcome, Project};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio},
};

/// A user without rights; permissions do not restrict root.
const UNPRIVILEGED: u32 = 65534;

/// Runs the binary as a user whom permissions restrict.
fn run(project: &Project, arguments: &[&str]) -> Outcome {
    if !is_root(project) {
        return project.run(arguments);
    }
    // The binary may be in a directory that other users cannot read.
    let binary = project.path("testgen");
    if !binary.exists() {
        project.install(Path::new(env!("CARGO_BIN_EXE_testgen")), &binary);
    }
    let mut command = Command::new(binary);
    command
        .current_dir(project.path(""))
        .env_clear()
        .env("HOME", project.path(""))
        .stdin(Stdio::null())
        .uid(UNPRIVILEGED);
    project.finish(command.args(arguments))
}

fn is_root(project: &Project) -> bool {
    fs::metadata(project.path(""))
        .expect("the project is there")
        .uid()
        == 0
}

/// Sets the permissions of every directory below `directory`, which then belong to the user.
fn set_mode(project: &Project, directory: &str, mode: u32) {
    let entries = walkdir::WalkDir::new(project.path(directory))
        .into_iter()
        .filter_map(Result::ok);
    let directories = entries.filter(|entry| entry.file_type().is_dir());
    for directory in directories.collect::<Vec<_>>() {
        permit(project, directory.path(), mode);
    }
}

fn permit(project: &Project, path: &Path, mode: u32) {
    if is_root(project) && path != project.path("") {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).expect("root can change the owner");
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
}

#[track_caller]
fn assert_unchanged(project: &Project, directory: &str, old: &[&str], new: &[&str]) {
    set_mode(project, directory, 0o755);
    run(project, old).expect_code(0);
    let before = contents(project, directory);
    set_mode(project, directory, 0o555);
    let refused = run(project, new);
    assert!(refused.code == 2 || refused.code == 4, "{refused:?}");
    assert!(
        refused.stderr.contains("error: cannot write `"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("Permission denied"),
        "{}",
        refused.stderr
    );
    assert_old_or_new(project, directory, &[&before], "read-only");
    assert_eq!(contents(project, directory), before);
    set_mode(project, directory, 0o755);
    run(project, new).expect_code(0);
    assert_ne!(contents(project, directory), before);
}

#[test]
fn nothing_changes_in_a_read_only_directory() {
    let project = Project::empty();
    permit(&project, &project.path(""), 0o755);
    for directory in ["suite", "out", "specs"] {
        fs::create_dir(project.path(directory)).expect("it can be made");
    }
    write_specs(&project, "a", "old");
    write_specs(&project, "b", "new");
    // A runtime of a registry: the one beside this crate may be in such a directory, too.
    let runtime = ["--runtime", "0.1.0"];
    let generate = |specs| {
        [
            &["generate", "--specs", specs, "--out", "suite"],
            &runtime[..],
        ]
        .concat()
    };
    assert_unchanged(&project, "suite", &generate("a"), &generate("b"));

    write_report(&project, "a.jsonl", "old", 3);
    write_report(&project, "b.jsonl", "new", 3);
    let report = |path| ["report", path, "--out", "out/page.html"];
    assert_unchanged(&project, "out", &report("a.jsonl"), &report("b.jsonl"));

    project.write(
        "checkpoint/config.json",
        r#"{"model_type": "bert", "architectures": ["BertModel"]}"#,
    );
    let add = |comment| {
        [
            "add",
            "checkpoint",
            "--force",
            "--specs",
            "specs",
            "--comment",
            comment,
        ]
    };
    assert_unchanged(&project, "specs", &add("old"), &add("new"));
}
