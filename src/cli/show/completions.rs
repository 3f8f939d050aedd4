//! `testgen show completions`: shell completions.

use crate::cli::Out;
use clap_complete::Shell;
use testgen_base::cli_error::Error;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show completions bash > ~/.local/share/bash-completion/completions/testgen
  testgen show completions zsh > ~/.zfunc/_testgen
  testgen show completions fish > ~/.config/fish/completions/testgen.fish")]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the completions of `command`.
pub(super) fn run(
    arguments: &CompletionsArguments,
    command: &mut clap::Command,
    out: &mut Out,
) -> Result<(), Error> {
    // Into memory first: `generate` panics if a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, "testgen", &mut script);
    write!(out, "{}", String::from_utf8_lossy(&script))
}
