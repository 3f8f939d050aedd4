//! `testgen schema`: the JSON Schema of specs, and their reference.

use super::Out;
use crate::{cli_error::Error, exit_code::ExitCode, spec};

/// Print the JSON Schema of specs
///
/// Editors that know YAML check and complete specs with it; each spec names it in its first line. It is also in the
/// repository, as docs/spec.schema.json.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen schema > docs/spec.schema.json
  testgen schema --markdown > docs/spec.md")]
pub(super) struct Arguments {
    /// Print the reference for people instead, as Markdown
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Error> {
    let text = if arguments.markdown { spec::reference() } else { spec::schema() };
    write!(out, "{text}")?;
    Ok(ExitCode::Success)
}
