//! `testgen add`: a spec from a checkpoint's config.json.

use super::Out;
use crate::{Error, ExitCode};

/// Write a spec from the config.json of a checkpoint
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
