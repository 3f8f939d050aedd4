//! `testgen run`: generate, verify, build and run the suite.

use super::Out;
use crate::{Error, ExitCode};

/// Generate, verify, build and run the suite, and show what passed where
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
