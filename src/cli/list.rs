//! `testgen list`: what specs there are.

use super::Out;
use crate::{Error, ExitCode};

/// List the specs
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
