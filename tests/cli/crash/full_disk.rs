//! A full disk: a limit on the size of files everywhere, and a small tmpfs where mount namespaces
//! can be made.

use super::{contents, write_report, write_specs};
use crate::project::{Outcome, Project};
use std::process::Command;

/// Runs the binary with files limited to `kib` KiB; writing more is an error, as on a full disk.
fn limited(project: &Project, kib: u32, arguments: &[&str]) -> Outcome {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command
        .current_dir(project.path(""))
        .args(["-c", &script, env!("CARGO_BIN_EXE_testgen")])
        .args(arguments);
    project.finish(&mut command)
}

#[track_caller]
fn assert_unchanged(project: &Project, kib: u32, directory: &str, old: &[&str], new: &[&str]) {
    project.run(old).expect_code(0);
    let before = contents(project, directory);
    let refused = limited(project, kib, new).expect_code(4);
    assert!(
        refused.stderr.contains("error: cannot write `"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("File too large"),
        "{}",
        refused.stderr
    );
    assert_eq!(contents(project, directory), before, "{new:?}");
    project.run(new).expect_code(0);
    assert_ne!(contents(project, directory), before, "{new:?}");
}

#[test]
fn files_that_do_not_fit_leave_the_old_ones() {
    let project = Project::empty();
    write_specs(&project, "a", "old");
    write_specs(&project, "b", "new");
    let generate = |specs| ["generate", "--specs", specs, "--out", "suite"];
    assert_unchanged(&project, 1, "suite", &generate("a"), &generate("b"));

    write_report(&project, "a.jsonl", "old", 3);
    write_report(&project, "b.jsonl", "new", 3);
    let report = |path| ["report", path, "--out", "out/page.html"];
    assert_unchanged(&project, 1, "out", &report("a.jsonl"), &report("b.jsonl"));

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
    assert_unchanged(&project, 0, "specs", &add("old"), &add("new"));

    let matrix = |out| ["matrix", "--write", "--specs", "a", "--out", out];
    assert_unchanged(&project, 0, ".github", &matrix("old"), &matrix("new"));
}

/// The tmpfs exists only in the namespace of the script, which ends with its exit code.
const TMPFS: &str = r#"
set -eu
mount -t tmpfs -o size=160k tmpfs disk || exit 77
"$0" generate --quiet --specs a --out disk/suite
cp -r disk/suite before
code=0; "$0" generate --specs b --out disk/suite 2> errors || code=$?
test "$code" = 4
grep -q 'No space left on device' errors
diff -r before disk/suite
mount -o remount,size=4m disk
"$0" generate --quiet --specs b --out disk/suite
"$0" generate --check --specs b --out disk/suite
"#;

#[test]
fn a_full_tmpfs_leaves_the_old_suite() {
    let project = Project::empty();
    write_specs(&project, "a", "old");
    write_specs(&project, "b", "new");
    std::fs::create_dir(project.path("disk")).expect("it can be made");
    let mut command = Command::new("unshare");
    command.current_dir(project.path("")).args([
        "-m",
        "bash",
        "-c",
        TMPFS,
        env!("CARGO_BIN_EXE_testgen"),
    ]);
    let outcome = project.finish(&mut command);
    if outcome.code == 77 || outcome.stderr.contains("unshare: unshare failed") {
        eprintln!(
            "skipped: only root can mount a tmpfs; the limit on the size of files is tested nevertheless"
        );
        return;
    }
    outcome.expect_code(0);
}
