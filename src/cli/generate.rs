//! `testgen generate`: writes the suite for the specs.

use super::{
    Out,
    project_arguments::{FilterArguments, ProjectArguments},
};
use crate::{
    generate::{ChangeKind, Changes, FileChange, plan, write_suite},
    settings::Settings,
};
use std::{
    io::{IsTerminal, Write},
    path::Path,
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text::Quoted,
};

/// Write the suite for all specs
///
/// Reads every spec below the directory of specs and writes one cargo crate with a harness for each
/// model. When any spec is wrong, every error of every spec is shown and nothing is written. Files
/// that are up to date are not touched, generated files without a spec are deleted, and a file
/// without the generated marker is never overwritten.
///
/// With --name, --architecture or --device only the harnesses of matching specs are written; the
/// other files of the suite stay as they are, and the suite lists the new and the existing ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen generate                                   model_specs/ to generated/
  testgen generate --specs specs --out suite         cargo test --manifest-path suite/Cargo.toml
  testgen generate --check                           for CI: exit code 1 when out of date
  testgen generate --name 'llama*' --device rocm     some of the harnesses
  testgen generate --templates mine --dry-run        what other templates would change")]
pub(super) struct GenerateArguments {
    #[command(flatten)]
    project: ProjectArguments,
    #[command(flatten)]
    filter: FilterArguments,
    /// Write nothing; show what is out of date and fail if anything is
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Write nothing; show what would be written and deleted
    #[arg(long)]
    dry_run: bool,
    /// Show nothing but errors, and what --check or --dry-run find
    #[arg(long, short)]
    quiet: bool,
}

/// `--check` found differences.
#[derive(Debug, thiserror::Error)]
#[error("{count} {} not up to date", if *count == 1 { "file of the suite is" } else { "files of the suite are" })]
struct OutOfDate {
    count: usize,
    command: String,
}

impl CliError for OutOfDate {
    fn help(&self) -> Option<String> {
        Some(format!("run `{}`", self.command))
    }

    fn exit_code(&self) -> ExitCode {
        ExitCode::Findings
    }
}

pub(super) fn run(arguments: &GenerateArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.project.settings()?;
    // In a block, so that the line of progress is removed before anything else is printed.
    let changes = {
        let progress = RenderProgress::new(!arguments.quiet);
        let (filter, show) = (arguments.filter.filter(), |name: &str| progress.show(name));
        if arguments.check || arguments.dry_run {
            plan(&settings, &filter, &show)?.compare()?
        } else {
            write_suite(&settings, &filter, &show)?
        }
    };
    let suite = shown(&settings.out);
    if arguments.check {
        return check(&changes, &settings, arguments.quiet, out);
    }
    if arguments.dry_run {
        show(&changes, &suite, out)?;
    }
    if !arguments.quiet {
        summarise(&changes, arguments.dry_run, &suite, out)?;
    }
    Ok(ExitCode::Success)
}

fn check(
    changes: &Changes,
    settings: &Settings,
    quiet: bool,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let suite = shown(&settings.out);
    show(changes, &suite, out)?;
    if changes.files.is_empty() {
        if !quiet {
            writeln!(
                out,
                "{suite} is up to date: {} harnesses",
                changes.plan.harnesses
            )?;
        }
        return Ok(ExitCode::Success);
    }
    // The error below goes to stderr, and belongs after the list.
    out.flush()?;
    Err(OutOfDate {
        count: changes.files.len(),
        command: settings.command(),
    }
    .into())
}

fn shown(path: &Path) -> String {
    Quoted(&path.display().to_string()).bare()
}

fn show(changes: &Changes, suite: &str, out: &mut Out) -> Result<(), Error> {
    for FileChange {
        path,
        change,
        first_difference,
    } in &changes.files
    {
        let word = match change {
            ChangeKind::Create => "create",
            ChangeKind::Update => "update",
            ChangeKind::Delete => "delete",
        };
        writeln!(out, "{word} {suite}/{}", Quoted(path).bare())?;
        if let Some((line, old, new)) = first_difference {
            writeln!(out, "  line {line}: - {}", Quoted(old).bare())?;
            writeln!(out, "  line {line}: + {}", Quoted(new).bare())?;
        }
    }
    Ok(())
}

fn summarise(changes: &Changes, dry_run: bool, suite: &str, out: &mut Out) -> Result<(), Error> {
    let (created, updated, deleted) = (
        changes.count(ChangeKind::Create),
        changes.count(ChangeKind::Update),
        changes.count(ChangeKind::Delete),
    );
    // Deleted files are not in the plan.
    let unchanged = changes.plan.files.len() - created - updated;
    let prefix = if dry_run { "would be " } else { "" };
    let harnesses = changes.plan.harnesses;
    let noun = if harnesses == 1 {
        "harness"
    } else {
        "harnesses"
    };
    writeln!(
        out,
        "{suite}: {harnesses} {noun}; files {prefix}created {created}, updated {updated}, deleted {deleted}, unchanged \
         {unchanged}"
    )
}

/// Shows the model being rendered on one line of a terminal; prints nothing elsewhere.
struct RenderProgress {
    shown: bool,
}

impl RenderProgress {
    fn new(enabled: bool) -> Self {
        Self {
            // In a file, each name would stay, with the characters that should delete it.
            shown: enabled && std::io::stderr().is_terminal(),
        }
    }

    fn show(&self, name: &str) {
        if self.shown {
            // Progress that cannot be shown must not end the command.
            let _ = write!(std::io::stderr(), "\r\x1b[Kgenerating {name}");
        }
    }
}

impl Drop for RenderProgress {
    fn drop(&mut self) {
        if self.shown {
            // Also when an error ends the command: its message must begin on an empty line.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
