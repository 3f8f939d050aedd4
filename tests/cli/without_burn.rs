//! The command line, and suites that engines in other processes compute, do not depend on burn.

use std::process::Command;

/// The names of all packages that `arguments` of `cargo tree` select.
fn packages(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"]).args(arguments);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn of_burn(packages: &[String]) -> Vec<&String> {
    packages.iter().filter(|name| name.starts_with("burn") || name.starts_with("cubecl")).collect()
}

#[test]
fn the_command_line_does_not_depend_on_burn() {
    let found = packages(&["--package", "testgen"]);
    assert!(found.contains(&"clap".to_owned()), "{found:?}");
    assert!(of_burn(&found).is_empty(), "{:?}", of_burn(&found));
}

#[test]
fn the_runtime_depends_on_burn_for_the_native_engine_alone() {
    let with =
        |features: &str| packages(&["--package", "testgen-runtime", "--no-default-features", "--features", features]);
    let found = with("operators,image_files");
    assert!(found.contains(&"testgen-libraries".to_owned()), "{found:?}");
    assert!(of_burn(&found).is_empty(), "{:?}", of_burn(&found));
    assert!(!of_burn(&with("native")).is_empty());
}
