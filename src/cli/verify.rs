//! `testgen verify`: the rules over templates and generated files.

use super::Out;
use crate::{Error, ExitCode};

/// Prove from the syntax tree that every template and harness covers all devices
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
