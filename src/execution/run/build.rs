//! Builds a suite with cargo, and finds its test binary.

use super::{
    RunError, build_directory,
    cargo::{self, Artifact},
    clock,
    suite::BuiltSuite,
};
use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};
use testgen_base::{child_process, progress::RunProgress};

/// Options of a build.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// The suite's Cargo.toml.
    pub manifest: PathBuf,
    /// Enables optimisation.
    pub release: bool,
    /// Leaves out CUDA and ROCm.
    pub cpu_only: bool,
    /// Leaves out burn if the suite is a separate workspace; in another one, the other crates need
    /// it in any case.
    pub engines_only: bool,
    /// Compiles every kernel that an autotuner could choose.
    pub all_kernels: bool,
}

/// Builds the suite. Cargo's progress and the compiler's errors are passed on to stderr.
///
/// # Errors
///
/// When cargo is missing, the suite does not compile, or it does not have exactly one test binary.
pub fn build(options: &BuildOptions, progress: &mut RunProgress) -> Result<BuiltSuite, RunError> {
    child_process::watch_interrupts();
    progress.stage("building", &options.manifest.display().to_string());
    let program = cargo::program();
    let directory = build_directory::arguments(&options.manifest);
    // Before cargo, which takes a suite that is dated in the future for up to date.
    clock::forget_future_builds(&options.manifest, options.release, &directory);
    let features = features(
        options,
        build_directory::is_own_workspace(&options.manifest),
    );
    let mut command = command(&program, options, &features, progress.is_quiet());
    command.args(directory);
    let mut child = command
        .spawn()
        .map_err(|source| RunError::CargoMissing { program, source })?;
    let mut stdout = child.stdout.take().expect("stdout is piped");
    // Read while cargo runs: it would wait forever once the pipe is full.
    let reader = thread::spawn(move || {
        let mut messages = String::new();
        // Without readable messages the test binary is missing below, which is an error.
        let _ = stdout.read_to_string(&mut messages);
        messages
    });
    let status = child_process::wait(&mut child, || {})?;
    if !status.success() {
        return Err(RunError::Build {
            manifest: options.manifest.clone(),
            status,
        });
    }
    let messages = reader.join().expect("reading does not panic");
    let suite = only_test_binary(&messages, &options.manifest)?;
    progress.end("built", &suite.binary.display().to_string());
    Ok(suite)
}

/// Crates that compute numbers of the native engine, and little where another one computes.
// Optimised, they are half of the build.
const UNOPTIMISED: [&str; 6] = [
    "--config",
    "profile.dev.package.testgen-nn.opt-level=0",
    "--config",
    "profile.dev.package.testgen-processing.opt-level=0",
    "--config",
    "profile.dev.package.testgen-runtime.opt-level=0",
];

/// Cargo's arguments for the features of the suite.
fn features(options: &BuildOptions, own_workspace: bool) -> Vec<&'static str> {
    let mut features = Vec::new();
    // In a workspace other crates need burn, so that leaving it out would only build it twice.
    if options.engines_only && own_workspace {
        features.push("--no-default-features");
        features.extend(UNOPTIMISED);
    } else if options.cpu_only {
        features.extend(["--no-default-features", "--features", "native"]);
    }
    if options.all_kernels {
        features.extend(["--features", "all_kernels"]);
    }
    features
}

fn command(program: &Path, options: &BuildOptions, features: &[&str], quiet: bool) -> Command {
    let mut command = Command::new(program);
    // With `--workspace` cargo unifies features exactly as `cargo test --workspace` does. Otherwise
    // each of the two commands would compile burn again after the other one.
    command.args(["test", "--workspace", "--test", "conformance", "--no-run"]);
    command
        .args(cargo::MESSAGES)
        .arg("--manifest-path")
        .arg(&options.manifest);
    let flags = [(options.release, "--release"), (quiet, "--quiet")];
    command.args(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag));
    command.args(features);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn only_test_binary(messages: &str, manifest: &Path) -> Result<BuiltSuite, RunError> {
    let mut suites: Vec<BuiltSuite> = cargo::artifacts(messages).filter_map(suite).collect();
    // Exactly one: with several, a run could test another suite than the one that was generated.
    match (suites.pop(), suites.len()) {
        (Some(suite), 0) => Ok(suite),
        (suite, others) => {
            let count = others + usize::from(suite.is_some());
            Err(RunError::TestBinaries {
                manifest: manifest.to_path_buf(),
                count,
            })
        }
    }
}

/// The suite, when the artifact is its test binary.
fn suite(artifact: Artifact) -> Option<BuiltSuite> {
    let is_test = artifact.target.kind.iter().any(|kind| kind == "test");
    let directory = artifact.manifest.parent()?.to_path_buf();
    is_test.then_some(BuiltSuite {
        binary: artifact.executable?,
        directory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = r#"{"reason":"compiler-artifact","manifest_path":"/s/Cargo.toml","target":{"name":"suite","kind":["lib"]},"executable":"/t/lib-1"}"#;
    const TEST: &str = r#"{"reason":"compiler-artifact","manifest_path":"/s/Cargo.toml","target":{"name":"conformance","kind":["test"]},"executable":"/t/suite-1"}"#;
    const END: &str = r#"{"reason":"build-finished","success":true}"#;

    #[test]
    fn the_integration_test_is_the_suite() {
        let messages = format!("{LIBRARY}\n{TEST}\nwarning: not json\n{END}\n");
        let suite = only_test_binary(&messages, Path::new("s/Cargo.toml")).expect("there is one");
        assert_eq!(
            suite,
            BuiltSuite {
                binary: "/t/suite-1".into(),
                directory: "/s".into()
            }
        );
    }

    #[test]
    fn none_and_two_are_errors() {
        for (messages, expected) in [(LIBRARY.to_owned(), 0), (format!("{TEST}\n{TEST}"), 2)] {
            let error =
                only_test_binary(&messages, Path::new("s/Cargo.toml")).expect_err("is not one");
            assert!(
                matches!(error, RunError::TestBinaries { count, .. } if count == expected),
                "{error}"
            );
        }
    }
}
