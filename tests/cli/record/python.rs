//! The Python that runs the recorder, and its input.

use super::{fake_python, record, with_checkpoint};
use std::collections::BTreeSet;

#[test]
fn messages_of_the_recorder_are_passed_through() {
    let project = with_checkpoint();
    let missing = record(
        &project,
        "echo 'error: Python package `torch` is missing' >&2; exit 3",
        &["bert"],
    )
    .expect_code(3);
    assert!(
        missing.stderr.contains("package `torch` is missing"),
        "{}",
        missing.stderr
    );
    assert!(
        missing
            .stderr
            .contains("help: install that for the Python in use"),
        "{}",
        missing.stderr
    );
    let refused = record(
        &project,
        "echo 'error: no such head' >&2; exit 1",
        &["bert"],
    )
    .expect_code(2);
    assert!(
        refused
            .stderr
            .contains("error: no such head\nerror: nothing was recorded"),
        "{}",
        refused.stderr
    );
    let crashed = record(&project, "kill -9 $$", &["bert"]).expect_code(4);
    assert!(crashed.stderr.contains("signal: 9"), "{}", crashed.stderr);
}

#[test]
fn python_is_found_by_flag_then_variable_then_name() {
    let project = with_checkpoint();
    let absent = project
        .run(&["record", "bert", "--python", "no/such/python"])
        .expect_code(3);
    assert!(
        absent.stderr.contains("cannot start `no/such/python`"),
        "{}",
        absent.stderr
    );
    assert!(
        absent.stderr.contains("help: install Python 3"),
        "{}",
        absent.stderr
    );
    let python = fake_python(&project, "exit 0");
    project
        .finish(
            project
                .command()
                .args(["record", "bert"])
                .env("TESTGEN_PYTHON", &python),
        )
        .expect_code(0);
    let named = project
        .finish(
            project
                .command()
                .args(["record", "bert"])
                .env("PATH", "/nowhere"),
        )
        .expect_code(3);
    assert!(
        named.stderr.contains("cannot start `python3`"),
        "{}",
        named.stderr
    );
}

/// `-I -S`: a Python without any package, whatever this machine has.
#[test]
fn without_packages_it_names_them_and_leaves_no_files() {
    let project = with_checkpoint();
    let outcome = record(&project, "exec python3 -I -S \"$@\"", &["bert"]).expect_code(3);
    assert!(
        outcome.stderr.contains("pip install torch transformers"),
        "{}",
        outcome.stderr
    );
    assert_eq!(project.files("fixtures/bert"), ["config.json"]);
}

/// Only listed variables reach Python, which reads none of its own and imports nothing from the
/// working directory.
#[test]
fn python_is_isolated_from_the_environment_and_the_working_directory() {
    let project = with_checkpoint();
    let listing = project.path("environment");
    let python = fake_python(&project, &format!("env > \"{}\"", listing.display()));
    let mut command = project.command();
    command.args(["record", "bert", "--python"]).arg(python);
    for name in [
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "LD_PRELOAD",
        "HF_TOKEN",
        "HTTPS_PROXY",
        "VIRTUAL_ENV",
        "HF_ENDPOINT",
    ] {
        command.env(name, "/nowhere");
    }
    project
        .finish(command.env("HF_HUB_OFFLINE", "0").env("LANG", "C.UTF-8"))
        .expect_code(0);
    assert!(
        project.read("seen").starts_with("-I "),
        "{}",
        project.read("seen")
    );
    let text = project.read("environment");
    // The shell of the fake Python sets some itself.
    let own = ["PWD", "SHLVL", "OLDPWD", "_"];
    let names = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .filter(|name| !own.contains(name));
    let expected = [
        "HF_HUB_DISABLE_TELEMETRY",
        "HF_HUB_OFFLINE",
        "HOME",
        "LANG",
        "PATH",
        "TOKENIZERS_PARALLELISM",
    ];
    assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    assert!(text.contains("HF_HUB_OFFLINE=1\n"), "{text}");
}

/// The recorder imports modules of its own directory only, also where the working directory has a
/// module of the same name.
#[test]
fn modules_in_the_working_directory_are_not_imported() {
    let project = with_checkpoint();
    for module in ["argparse", "numpy", "reference", "runpy", "torch"] {
        project.write(format!("{module}.py"), "open('imported', 'w')\n");
    }
    record(
        &project,
        "export PYTHONPATH=\"$PWD\"; exec python3 -S \"$@\"",
        &["bert"],
    )
    .expect_code(3);
    assert!(!project.exists("imported"));
}
