//! `testgen explain`: the documentation of a rule of the verifier.

use super::Out;
use crate::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text::Quoted,
};

/// Explain a rule of the verifier
///
/// Prints what the rule requires, why, and how to fix a violation. Without a rule it lists all rules.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen explain
  testgen explain detection_paths")]
pub(super) struct ExplainArguments {
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
        let near = names.max_by(|a, b| score(a).total_cmp(&score(b))).filter(|name| score(name) > 0.7);
        let near = near.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
        Some(format!("{near}`testgen explain` lists the rules"))
    }
}

pub(super) fn run(arguments: &ExplainArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let Some(given) = &arguments.rule else {
        let width = testgen_verify::rules().iter().map(|rule| rule.name.len()).max().unwrap_or(0);
        for rule in testgen_verify::rules() {
            writeln!(out, "{:<width$}  {}", rule.name, rule.summary)?;
        }
        return Ok(ExitCode::Success);
    };
    let rule = testgen_verify::explain(given).ok_or_else(|| UnknownRule { given: given.clone() })?;
    writeln!(out, "{}: {}\n\n{}", rule.name, rule.summary, rule.explanation)?;
    Ok(ExitCode::Success)
}
