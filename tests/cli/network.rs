//! Every command works in a network namespace without any interface: nothing is downloaded when
//! suites are generated, verified, built and run.

use crate::{fake::suite, project::Project};
use std::process::{Command, Stdio};

/// The flags that make a namespace: for root, or for any user where the system permits it.
const FLAGS: [&[&str]; 2] = [&["--net"], &["--net", "--map-root-user"]];

fn namespace() -> Option<&'static [&'static str]> {
    let works = |flags: &&&[&str]| {
        let status = Command::new("unshare")
            .args(**flags)
            .args(["--", "true"])
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    FLAGS.iter().find(works).copied()
}

/// The same command without a network. The environment of a project's commands is scrubbed, and so
/// is this one.
fn without_network(flags: &[&str], command: &Command) -> Command {
    let mut isolated = Command::new("unshare");
    isolated
        .env_clear()
        .args(flags)
        .arg("--")
        .arg(command.get_program())
        .args(command.get_args());
    isolated.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    isolated
        .current_dir(command.get_current_dir().expect("a project has one"))
        .stdin(Stdio::null());
    isolated
}

#[test]
fn no_command_needs_a_network() {
    let Some(flags) = namespace() else {
        eprintln!("skipped: `unshare --net` is not permitted here");
        return;
    };
    let project = Project::with_bert();
    let isolated = |command: &Command| project.finish(&mut without_network(flags, command));
    let interfaces = Command::new("unshare")
        .args(flags)
        .args(["--", "cat", "/proc/self/net/dev"])
        .output();
    let interfaces =
        String::from_utf8(interfaces.expect("unshare starts").stdout).expect("is text");
    assert_eq!(
        interfaces.matches(':').count(),
        1,
        "only the loopback interface, which is down:\n{interfaces}"
    );

    project.write(
        "checkpoint/config.json",
        r#"{"model_type": "bert", "architectures": ["BertModel"]}"#,
    );
    isolated(&suite::command(&project, "", &["--device", "cpu"])).expect_code(0);
    for arguments in [
        &["verify", "generated/src/encoder_only/bert.rs"] as &[&str],
        &["add", "checkpoint", "--specs", "other"],
        &["report", "target/testgen", "--out", "page.html"],
        &[
            "report",
            "target/testgen",
            "--base",
            "target/testgen",
            "--by",
            "changes",
        ],
        &["matrix", "--write"],
        &["show", "specs"],
        &["show", "models"],
        &["show", "operators"],
    ] {
        let outcome = isolated(project.command().args(arguments));
        assert_eq!(
            outcome.code, 0,
            "{arguments:?}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
}
