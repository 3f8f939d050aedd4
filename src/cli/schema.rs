//! `testgen schema`: the JSON Schema of specs.

use super::Out;
use crate::{Error, ExitCode};

/// Print the JSON Schema of specs
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
