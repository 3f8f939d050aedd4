//! The command line, and suites that engines in other processes compute, do not depend on burn; the
//! command line does not depend on the reference of operators either.

use std::process::Command;

/// The names of all packages that `arguments` of `cargo tree` select.
fn packages(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO"));
    command
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(arguments);
    let output = command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

fn of_burn(packages: &[String]) -> Vec<&String> {
    packages
        .iter()
        .filter(|name| name.starts_with("burn") || name.starts_with("cubecl"))
        .collect()
}

#[test]
fn the_command_line_does_not_depend_on_burn() {
    let found = packages(&["--package", "testgen"]);
    assert!(found.contains(&"clap".to_owned()), "{found:?}");
    assert!(of_burn(&found).is_empty(), "{:?}", of_burn(&found));
}

#[test]
fn the_command_line_has_calls_of_operators_without_their_cases() {
    let found = packages(&["--package", "testgen"]);
    assert!(found.contains(&"testgen-operators".to_owned()), "{found:?}");
    // Only the feature `cases` of that crate needs it.
    assert!(!found.contains(&"libm".to_owned()), "{found:?}");
}

#[test]
fn the_runtime_depends_on_burn_for_the_native_engine_alone() {
    let with = |features: &str| {
        packages(&[
            "--package",
            "testgen-runtime",
            "--no-default-features",
            "--features",
            features,
        ])
    };
    let found = with("operators,image_files");
    assert!(found.contains(&"testgen-libraries".to_owned()), "{found:?}");
    assert!(of_burn(&found).is_empty(), "{:?}", of_burn(&found));
    assert!(!of_burn(&with("native")).is_empty());
}
