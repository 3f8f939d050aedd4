//! Where `testgen run` builds suites: one directory for all, or the user's, and never over the
//! binary of another suite.

use crate::{
    fake::suite::{command, run},
    project::{BERT, Project},
    run::rows,
};
use std::path::Path;

#[test]
fn suites_outside_a_workspace_share_a_build_directory() {
    let cache = tempfile::tempdir().expect("the temporary directory can be written");
    // Both have one architecture: a suite of other architectures enables other features, with which
    // cargo compiles the runtime and the models again, though not burn.
    let (first, second) = (Project::with_bert(), Project::with_bert());
    second.write(
        "model_specs/encoder_only/second.yaml",
        BERT.replace("name: bert", "name: second"),
    );
    let run = |project: &Project| {
        let mut command = command(project, "", &["--device", "cpu"]);
        let outcome = project
            .finish(command.env("TESTGEN_CACHE", cache.path()))
            .expect_code(0);
        assert!(!project.exists("generated/target"), "{}", outcome.stderr);
        (rows(&outcome).len(), outcome.stderr)
    };
    let (rows, stderr) = run(&first);
    assert!(
        rows == 1 && stderr.contains("Compiling testgen-runtime"),
        "{stderr}"
    );
    let (rows, stderr) = run(&second);
    assert!(
        rows == 2 && !stderr.contains("Compiling testgen-runtime"),
        "{stderr}"
    );
    // Neither suite overwrites the binary of the other one.
    let (rows, stderr) = run(&first);
    assert!(rows == 1 && !stderr.contains("Compiling"), "{stderr}");
    let (rows, stderr) = run(&second);
    assert!(rows == 2 && !stderr.contains("Compiling"), "{stderr}");
    let builds = std::fs::read_dir(cache.path().join("build"))
        .expect("it was written")
        .count();
    assert_eq!(builds, 1, "one runtime");
}

/// The executables of suites in a target directory.
fn suites_in(directory: &Path) -> usize {
    let files = std::fs::read_dir(directory.join("debug/deps"))
        .expect("it was written")
        .flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.starts_with("conformance-") && !name.contains('.'))
        .count()
}

#[test]
fn suites_in_one_target_directory_keep_their_own_binaries() {
    let target = tempfile::tempdir().expect("the temporary directory can be written");
    // Both have one architecture: a suite of other architectures enables other features, with which
    // cargo compiles the runtime and the models again, though not burn.
    let (first, second) = (Project::with_bert(), Project::with_bert());
    second.write(
        "model_specs/encoder_only/second.yaml",
        BERT.replace("name: bert", "name: second"),
    );
    for project in [&first, &second] {
        run(project, "", &["--cpu-only"]).expect_code(0);
        let mut cargo = command(project, "", &[]);
        let mut plain = std::process::Command::new("cargo");
        plain
            .current_dir(project.path("generated"))
            .args(["test", "--no-run"])
            .env_clear();
        plain.envs(
            cargo
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        project
            .finish(plain.env("CARGO_TARGET_DIR", target.path()))
            .expect_code(0);
        // The same directory with the name of the suite of a second checkout.
        let name = project
            .read("generated/Cargo.toml")
            .replace(&package(project), "twin-generated");
        project.write("generated/Cargo.toml", name);
        project
            .finish(
                cargo
                    .args(["--device", "cpu"])
                    .env("CARGO_TARGET_DIR", target.path().join("run")),
            )
            .expect_code(0);
    }
    assert_eq!(suites_in(target.path()), 2, "packages of different names");
    assert_eq!(
        package(&first),
        package(&second),
        "a name that testgen wrote is kept"
    );
    assert_eq!(
        suites_in(&target.path().join("run")),
        2,
        "packages of one name, built by testgen"
    );
}

/// The name of a suite's package.
fn package(project: &Project) -> String {
    let manifest: toml::Table = project
        .read("generated/Cargo.toml")
        .parse()
        .expect("is TOML");
    manifest["package"]["name"]
        .as_str()
        .expect("is text")
        .to_owned()
}

#[test]
fn a_build_directory_of_the_user_is_kept() {
    let cache = tempfile::tempdir().expect("the temporary directory can be written");
    let run = |project: &Project, variable: Option<&str>| {
        let mut command = command(project, "", &["--device", "cpu"]);
        command.env("TESTGEN_CACHE", cache.path());
        variable.map(|name| command.env(name, project.path("mine")));
        project.finish(&mut command).expect_code(0);
    };
    let project = Project::with_bert();
    run(&project, Some("CARGO_TARGET_DIR"));
    assert!(project.exists("mine/debug") && !project.exists("generated/target"));
    let project = Project::with_bert();
    project.write("generated/target/.gitkeep", "");
    run(&project, None);
    assert!(project.exists("generated/target/debug"));
    assert!(!cache.path().join("build").exists());
}
