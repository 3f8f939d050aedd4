//! `testgen completions`: shell completions.

use super::Out;
use crate::{cli_error::Error, exit_code::ExitCode};
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen completions bash > ~/.local/share/bash-completion/completions/testgen
  testgen completions zsh > ~/.zfunc/_testgen
  testgen completions fish > ~/.config/fish/completions/testgen.fish")]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the completions of `command`.
pub(super) fn run(
    arguments: &CompletionsArguments,
    command: &mut clap::Command,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, "testgen", &mut script);
    write!(out, "{}", String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Success)
}
