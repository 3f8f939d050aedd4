//! A clock that jumps between two commands: files are compared by their content, and a suite of a
//! time to come is built again.

use crate::{
    fake::suite,
    project::{BERT, Outcome, Project},
};
use std::{
    fs::File,
    path::Path,
    time::{Duration, SystemTime},
};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Sets the time of every file below `directory`, as if the clock had been elsewhere when it was
/// written.
fn set_times(directory: &Path, time: SystemTime) {
    for entry in walkdir::WalkDir::new(directory) {
        let entry = entry.expect("the directory can be read");
        if entry.file_type().is_file() {
            File::open(entry.path())
                .and_then(|file| file.set_modified(time))
                .expect("the time can be set");
        }
    }
}

/// `testgen run` with a build directory of its own, because others must not see its times.
fn run(project: &Project) -> Outcome {
    let mut command = suite::command(project, "", &["--device", "cpu"]);
    project
        .finish(command.env("TESTGEN_CACHE", project.path("cache")))
        .expect_code(0)
}

#[test]
fn a_suite_of_a_time_to_come_is_built_again() {
    let project = Project::with_bert();
    run(&project);
    assert!(
        !project
            .read("target/testgen/report.jsonl")
            .contains("skipped meanwhile")
    );
    set_times(&project.path("cache"), SystemTime::now() + 10 * DAY);
    let skip = "checks: { skip: [ { check: determinism, device: cpu, reason: \"skipped meanwhile\" } ] }\n";
    project.write(
        "model_specs/encoder_only/bert.yaml",
        format!("{BERT}{skip}"),
    );
    run(&project);
    let report = project.read("target/testgen/report.jsonl");
    assert!(
        report.contains("skipped meanwhile"),
        "the suite is the one that was built before: {report}"
    );
}

#[test]
fn generated_files_are_compared_by_content() {
    let project = Project::with_bert();
    project.run(&["generate"]).expect_code(0);
    for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + 4000 * DAY] {
        set_times(&project.path("generated"), time);
        project.run(&["generate", "--check"]).expect_code(0);
        let skip = format!(
            "checks: {{ skip: [ {{ check: determinism, device: rocm, reason: \"{time:?}\" }} ] }}\n"
        );
        project.write(
            "model_specs/encoder_only/bert.yaml",
            format!("{BERT}{skip}"),
        );
        project.run(&["generate", "--check"]).expect_code(1);
        project.run(&["generate"]).expect_code(0);
        project.run(&["generate", "--check"]).expect_code(0);
    }
}
