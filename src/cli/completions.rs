//! `testgen completions`: shell completions.

use super::Out;
use crate::{Error, ExitCode};
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen completions bash > ~/.local/share/bash-completion/completions/testgen
  testgen completions zsh > ~/.zfunc/_testgen
  testgen completions fish > ~/.config/fish/completions/testgen.fish")]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "testgen", &mut script);
    write!(out, "{}", String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Success)
}
