//! `testgen show`: what a project has and what testgen knows, one file for each subject below
//! `show/`.

mod completions;
mod memory;
mod models;
mod operators;
mod products;
mod rules;
mod schema;
mod specs;

use super::Out;
use clap::Subcommand;
use testgen_base::{cli_error::Error, exit_code::ExitCode};

/// Show the specs of the project, the memory and the products of a model, the models and operators
/// that testgen knows, the rules of the verifier, or a schema
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show specs                       the specs, their checkpoints and harnesses
  testgen show memory llama                the memory that a model needs, estimated
  testgen show products llama              the matrix products of a model
  testgen show models                      the model types
  testgen show rules detection_paths       what a rule of the verifier means
  testgen show schema engine               the JSON Schema of the protocol of engines")]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(super) struct ShowArguments {
    #[command(subcommand)]
    subject: ShowSubject,
}

#[derive(Debug, Subcommand)]
enum ShowSubject {
    Specs(specs::SpecsArguments),
    Memory(memory::MemoryArguments),
    Models(models::ModelsArguments),
    Operators(operators::OperatorsArguments),
    Products(products::ProductsArguments),
    Rules(rules::RulesArguments),
    Schema(schema::SchemaArguments),
    Completions(completions::CompletionsArguments),
}

/// Shows one subject; `root` is the whole command line, for completions.
pub(super) fn run(
    arguments: &ShowArguments,
    root: &mut clap::Command,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    match &arguments.subject {
        ShowSubject::Specs(arguments) => specs::run(arguments, out),
        ShowSubject::Memory(arguments) => memory::run(arguments, out),
        ShowSubject::Models(arguments) => models::run(arguments, out),
        ShowSubject::Operators(arguments) => operators::run(arguments, out),
        ShowSubject::Products(arguments) => products::run(arguments, out),
        ShowSubject::Rules(arguments) => rules::run(arguments, out),
        ShowSubject::Schema(arguments) => schema::run(arguments, out),
        ShowSubject::Completions(arguments) => completions::run(arguments, root, out),
    }?;
    Ok(ExitCode::Success)
}
