//! `testgen completions`: shell completions.

use super::Out;
use crate::{Error, ExitCode};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
