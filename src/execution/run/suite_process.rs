//! The processes of a suite and their environment: which variables of the user reach them.

use super::BuiltSuite;
use std::process::Command;
use testgen_types::{TUNE_VARIABLE, TUNED_VARIABLE};

/// Variables that request other work than the checks, or a place for results.
// A command sets the variables that it needs; values of the user would change its work.
const REQUESTS: [&str; 17] = [
    "NEXTEST",
    "TESTGEN_BENCH",
    "TESTGEN_COMPILE_WORKER",
    EARLIER,
    "TESTGEN_FAILURES",
    "TESTGEN_KERNELS",
    "TESTGEN_KERNELS_NAMED",
    "TESTGEN_KERNELS_WORKER",
    "TESTGEN_REPLAY",
    "TESTGEN_REPLAY_DEVICE",
    "TESTGEN_REPLAY_OUTCOME",
    "TESTGEN_REPLAY_REDUCE",
    "TESTGEN_SOAK",
    STARTED,
    "TESTGEN_STRESS",
    TUNE_VARIABLE,
    TUNED_VARIABLE,
];

/// Variables with which a user chooses the devices and engines of a run.
const CHOICES: [&str; 3] = ["TESTGEN_DEVICE", "TESTGEN_ENGINES", "TESTGEN_REQUIRE"];

/// The environment variable that names the report to the suite.
pub(crate) const REPORT: &str = "TESTGEN_REPORT";
/// The environment variable that names the file of checks that started.
pub(crate) const STARTED: &str = "TESTGEN_STARTED";
/// The environment variable that names an earlier report.
pub(crate) const EARLIER: &str = "TESTGEN_EARLIER";

/// The test binary as cargo starts it, in the directory of its Cargo.toml. It has the
/// devices and engines that the user chose with variables.
pub(crate) fn command(suite: &BuiltSuite) -> Command {
    let mut command = Command::new(&suite.binary);
    command
        // Relative paths of the suite work there.
        .current_dir(&suite.directory)
        // Takes precedence over the directory at build time: a suite in an archive has moved.
        .env("CARGO_MANIFEST_DIR", &suite.directory)
        .env_remove(REPORT);
    // Before the caller sets the ones that it needs.
    for variable in REQUESTS {
        command.env_remove(variable);
    }
    command
}

/// The test binary with the devices and engines that the caller sets, whatever the user chose.
pub(crate) fn command_without_choices(suite: &BuiltSuite) -> Command {
    let mut command = command(suite);
    for variable in CHOICES {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Whether a process gets the variable of the user.
    fn inherits(command: &Command, variable: &str) -> bool {
        !command.get_envs().any(|(name, _)| name == variable)
    }

    #[test]
    fn the_work_of_a_process_does_not_depend_on_the_users_variables() {
        let suite = BuiltSuite {
            binary: PathBuf::from("suite"),
            directory: PathBuf::from("."),
        };
        let (run, single) = (command(&suite), command_without_choices(&suite));
        for variable in ["TESTGEN_REPLAY", "TESTGEN_BENCH", "TESTGEN_STRESS", REPORT] {
            assert!(!inherits(&run, variable), "{variable}");
            assert!(!inherits(&single, variable), "{variable}");
        }
        for variable in CHOICES {
            assert!(inherits(&run, variable), "{variable}");
            assert!(!inherits(&single, variable), "{variable}");
        }
        assert!(inherits(&single, "TESTGEN_PYTHON"));
    }
}
