//! `testgen show schema`: the JSON Schemas of what testgen reads and writes, and the reference of
//! specs.

use crate::{cli::Out, report::structured_schema, spec};
use clap::ValueEnum;
use testgen_base::cli_error::{CliError, Error};

/// Print the JSON Schema of specs, of the protocol of engines, or of reports
///
/// Editors that know YAML check and complete specs with the first; each spec names it in its
/// first line. The schemas are also in the repository, below docs/.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show schema > docs/spec.schema.json
  testgen show schema spec --format markdown > docs/reference/spec.md
  testgen show schema engine > docs/engine.schema.json
  testgen show schema report > docs/report.schema.json")]
pub(super) struct SchemaArguments {
    /// The subject of the schema
    #[arg(value_enum, default_value_t = SchemaSubject::Spec)]
    subject: SchemaSubject,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = SchemaFormat::Json)]
    format: SchemaFormat,
}

/// The subject of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaSubject {
    /// Specs
    Spec,
    /// The protocol of engines (docs/engines.md)
    Engine,
    /// `testgen report --format json`
    Report,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaFormat {
    /// JSON Schema
    Json,
    /// A reference for people, of specs only
    Markdown,
}

/// Only specs have a reference for people.
#[derive(Debug, thiserror::Error)]
#[error("only `testgen show schema spec` has the format `markdown`")]
struct NoReference;

impl CliError for NoReference {
    fn help(&self) -> Option<String> {
        Some("leave out `--format markdown`".to_owned())
    }
}

pub(super) fn run(arguments: &SchemaArguments, out: &mut Out) -> Result<(), Error> {
    let text = match (arguments.subject, arguments.format) {
        (SchemaSubject::Spec, SchemaFormat::Json) => spec::schema(),
        (SchemaSubject::Spec, SchemaFormat::Markdown) => spec::reference(),
        (SchemaSubject::Engine, SchemaFormat::Json) => testgen_engine::protocol_schema(),
        (SchemaSubject::Report, SchemaFormat::Json) => structured_schema(),
        (SchemaSubject::Engine | SchemaSubject::Report, SchemaFormat::Markdown) => {
            return Err(NoReference.into());
        }
    };
    write!(out, "{text}")
}
