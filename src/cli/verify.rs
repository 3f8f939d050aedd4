//! `testgen verify`: applies the rules to templates and generated files.

use super::{Out, project_arguments::ProjectArguments};
use crate::verification::{
    FixedFile, Verification, fix_files, fix_project, render_github, render_human, render_json,
    render_junit, render_sarif, verify_files, verify_project,
};
use clap::ValueEnum;
use std::path::PathBuf;
use testgen_base::{cli_error::Error, exit_code::ExitCode, text::Quoted};

/// Prove from the syntax tree that every template and harness covers all devices
///
/// Renders each template for every spec and for synthetic specs (every task, every set of devices,
/// hostile names), and checks the results; then checks every generated file against its spec. A
/// harness whose spec has changed, a spec without harness, and a file without spec are findings,
/// too. Nothing is compiled, and nothing is written without `--fix`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen verify                               templates and suite of this project
  testgen verify --format json                 for a script
  testgen verify --format sarif > verify.sarif for a code host; junit and github are there, too
  testgen verify --fix                         stale headers and missing checks are fixed first
  testgen verify --templates my_templates      templates of your own
  testgen verify some/harness.rs               single files, each by what its own SPEC says
  testgen show rules detection_paths              what a rule means

Exit codes: 0 no findings, or all of them fixed; 1 findings, or nothing to verify; 2 wrong usage or input; 4 internal \
error, or a file that cannot be written.")]
pub(super) struct VerifyArguments {
    /// Harnesses to verify by themselves, without specs; without any, the whole project
    #[arg(value_name = "PATH", conflicts_with_all = ["specs", "out", "templates", "runtime"])]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    project: ProjectArguments,
    /// Apply automatic fixes first: stale headers and unlisted checks; the remaining findings are
    /// reported
    #[arg(long)]
    fix: bool,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = VerifyFormat::Human)]
    format: VerifyFormat,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerifyFormat {
    /// Findings with their line, as a compiler shows errors
    Human,
    /// One JSON object with a version
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML with one case for each rule
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

pub(super) fn run(arguments: &VerifyArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.fix {
        print_fixed(&fix(arguments)?);
    }
    // After the fixes and from the files, so that a fix that did not help is a finding.
    let verification = verify(arguments)?;
    let text = match arguments.format {
        VerifyFormat::Human => render_human(&verification),
        VerifyFormat::Json => render_json(&verification),
        VerifyFormat::Sarif => render_sarif(&verification),
        VerifyFormat::Junit => render_junit(&verification),
        VerifyFormat::Github => render_github(&verification),
    };
    write!(out, "{text}")?;
    Ok(if verification.is_clean() {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

fn fix(arguments: &VerifyArguments) -> Result<Vec<FixedFile>, Error> {
    if arguments.paths.is_empty() {
        return fix_project(&arguments.project.settings()?);
    }
    fix_files(&arguments.paths)
}

/// Prints to stderr, because stdout contains the result alone.
fn print_fixed(fixed: &[FixedFile]) {
    for FixedFile { path, fixes } in fixed {
        eprintln!("fixed {}: {}", Quoted(path), fixes.join(", "));
    }
}

fn verify(arguments: &VerifyArguments) -> Result<Verification, Error> {
    if arguments.paths.is_empty() {
        return verify_project(&arguments.project.settings()?);
    }
    Ok(verify_files(&arguments.paths)?)
}
