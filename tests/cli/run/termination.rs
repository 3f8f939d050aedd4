//! A signal to `testgen run` ends the suite, too.

use super::PASS;
use crate::{fake::suite::command, project::Project, watchdog::wait_for};
use std::process::Stdio;

/// SIGTERM to testgen alone, as a CI runner sends it; the suite would sleep for longer than the
/// test waits.
#[test]
fn termination_ends_the_suite_too() {
    let project = Project::with_bert();
    let mut child = command(&project, &format!("{PASS}|sleep|"), &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    // The log gets its name when the run ends. This is the last line that the suite prints before
    // its tests.
    let is_started = |file: &String| {
        let text = std::fs::read_to_string(project.path("target/testgen").join(file));
        text.is_ok_and(|text| text.contains("optimised: "))
    };
    wait_for("the suite runs", || {
        project.files("target/testgen").iter().any(is_started)
    });
    std::process::Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .expect("kill starts");
    wait_for("the command ends", || {
        child.try_wait().expect("the state is known").is_some()
    });
    assert_eq!(child.wait().expect("it has ended").code(), Some(1));
    assert_eq!(
        project.files("target/testgen"),
        ["report.jsonl.log"],
        "an incomplete report is not kept, its log is"
    );
    let suite = project.path("generated").display().to_string();
    wait_for("the suite ends", || !is_running(&suite));
}

/// Whether any process works in `directory`.
pub(crate) fn is_running(directory: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("there is a /proc");
    processes.flatten().any(|process| {
        std::fs::read_link(process.path().join("cwd"))
            .is_ok_and(|cwd| cwd.display().to_string().ends_with(directory))
    })
}
