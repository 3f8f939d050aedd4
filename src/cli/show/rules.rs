//! `testgen show rules`: the documentation of the rules of the verifier.

use crate::cli::Out;
use testgen_base::{
    cli_error::{CliError, Error},
    text::Quoted,
};

/// List the rules of the verifier, or explain one
///
/// Prints what the rule requires, why, and how to fix a violation.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show rules
  testgen show rules detection_paths")]
pub(super) struct RulesArguments {
    /// The rule, as findings name it
    rule: Option<String>,
}

/// There is no such rule.
#[derive(Debug, thiserror::Error)]
#[error("there is no rule {}", Quoted(given))]
struct UnknownRule {
    given: String,
}

impl CliError for UnknownRule {
    fn help(&self) -> Option<String> {
        let score = |name: &str| strsim::jaro_winkler(&self.given, name);
        let names = testgen_verify::rules().iter().map(|rule| rule.name);
        let near = names
            .max_by(|a, b| score(a).total_cmp(&score(b)))
            // The threshold of clap, which suggests subcommands and options.
            .filter(|name| score(name) > 0.7);
        let near = near
            .map(|name| format!("did you mean `{name}`? "))
            .unwrap_or_default();
        Some(format!("{near}`testgen show rules` lists the rules"))
    }
}

pub(super) fn run(arguments: &RulesArguments, out: &mut Out) -> Result<(), Error> {
    let Some(given) = &arguments.rule else {
        let width = testgen_verify::rules()
            .iter()
            .map(|rule| rule.name.len())
            .max()
            .unwrap_or(0);
        for rule in testgen_verify::rules() {
            writeln!(out, "{:<width$}  {}", rule.name, rule.summary)?;
        }
        return Ok(());
    };
    let rule = testgen_verify::explain(given).ok_or_else(|| UnknownRule {
        given: given.clone(),
    })?;
    writeln!(
        out,
        "{}: {}\n\n{}",
        rule.name, rule.summary, rule.explanation
    )
}
