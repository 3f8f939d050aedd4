//! A signal to `testgen run` ends the suite, too.

use super::PASS;
use crate::{fake::suite::command, project::Project};
use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

/// SIGTERM to testgen alone, as a CI runner sends it; the suite would sleep for a minute.
#[test]
fn termination_ends_the_suite_too() {
    let project = Project::with_bert();
    let mut child = command(&project, &format!("{PASS}|sleep|"), &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    // The report and the log of a run get their names when it ends.
    let reports = project.path("target/testgen");
    let begun = Instant::now();
    while std::fs::read_dir(&reports).map_or(0, Iterator::count) < 2 && begun.elapsed() < Duration::from_secs(50) {
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_millis(200));
    let terminated = Instant::now();
    std::process::Command::new("kill").arg(child.id().to_string()).status().expect("kill starts");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    assert!(terminated.elapsed() < Duration::from_secs(10));
    assert_eq!(project.files("target/testgen"), ["report.jsonl.log"], "an incomplete report is not kept, its log is");
    assert!(!is_running(&project.path("generated").display().to_string()), "the suite is still running");
}

/// Whether any process works in `directory`.
pub(crate) fn is_running(directory: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("there is a /proc");
    processes.flatten().any(|process| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.display().to_string().ends_with(directory))
    })
}
