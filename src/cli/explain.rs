//! `testgen explain`: what a rule means.

use super::Out;
use crate::{Error, ExitCode};

/// Explain a rule of the verifier
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
