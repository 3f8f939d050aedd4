//! The result of a run on stdout.

use crate::{
    cli::{Out, text_format::TextFormat},
    report::render_human,
    results::read::Summary,
};
use std::path::Path;
use testgen_base::{cli_error::Error, exit_code::ExitCode};

/// Prints the results of the checks; green is exit code 0.
pub(super) fn show(
    format: TextFormat,
    report: &Path,
    summary: &Summary,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    match format {
        TextFormat::Human => {
            write!(out, "{}", render_human(summary))?;
            writeln!(out, "report: {}", report.display())?;
        }
        TextFormat::Json => {
            let json =
                serde_json::to_string_pretty(summary).expect("a summary has string keys only");
            writeln!(out, "{json}")?;
        }
    }
    Ok(if summary.green {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}
