//! `testgen schema`: the JSON Schema of specs, their reference, and the JSON Schema of the protocol of engines.

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
  testgen schema --markdown > docs/spec.md
  testgen schema --engine > docs/engine.schema.json")]
pub(super) struct SchemaArguments {
    /// Print the reference for people instead, as Markdown
    #[arg(long)]
    markdown: bool,
    /// Print the JSON Schema of the protocol of engines instead (docs/engines.md)
    #[arg(long, conflicts_with = "markdown")]
    engine: bool,
}

pub(super) fn run(arguments: &SchemaArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let text = match (arguments.markdown, arguments.engine) {
        (true, _) => spec::reference(),
        (false, true) => testgen_engine::protocol_schema(),
        (false, false) => spec::schema(),
    };
    write!(out, "{text}")?;
    Ok(ExitCode::Success)
}
