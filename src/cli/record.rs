//! `testgen record`: goldens through Python.

use super::Out;
use crate::{Error, ExitCode};

/// Record goldens by running Hugging Face transformers
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments, _out: &mut Out) -> Result<ExitCode, Error> {
    Ok(ExitCode::Success)
}
