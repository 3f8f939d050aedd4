//! `testgen devices`: what this machine has.

use super::Out;
use crate::{Error, ExitCode};

/// Show the devices of this machine, and why one is not usable
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
