//! `--tune` and `--tuned`, for every command that computes with the vendor's libraries.

use crate::{execution::run::RunError, results::tuning::TuningSummary};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};
use testgen_base::cli_error::Error;
use testgen_engine::EngineName;
use testgen_types::{TUNE_VARIABLE, TUNED_VARIABLE};

/// The algorithms of the matrix products and convolutions of `native/vendor`.
#[derive(Debug, clap::Args)]
pub(super) struct TuningArguments {
    /// Measure every algorithm of the vendor's libraries for each matrix product and convolution of
    /// the engine native/vendor, and compute with the fastest correct one; the results are added to
    /// FILE
    ///
    /// Each algorithm is compared with float64 before it is timed; a wrong one is never used and is
    /// listed. What FILE already has, from the same libraries and device, is not measured again. A
    /// product or convolution for which a library's own choice is wrong fails the run.
    #[arg(long, value_name = "FILE", conflicts_with = "tuned")]
    tune: Option<PathBuf>,
    /// Compute the matrix products and convolutions of the engine native/vendor as `--tune` stored
    /// it in FILE; others as the library chooses
    #[arg(long, value_name = "FILE")]
    tuned: Option<PathBuf>,
}

impl TuningArguments {
    /// The variable of the suite's processes, if an argument was given.
    pub(super) fn variable(
        &self,
        engines: &[EngineName],
    ) -> Result<Option<(&'static str, OsString)>, RunError> {
        let (variable, path) = match (&self.tune, &self.tuned) {
            (Some(path), _) => (TUNE_VARIABLE, path),
            (None, Some(path)) => (TUNED_VARIABLE, path),
            (None, None) => return Ok(None),
        };
        if !engines.iter().any(EngineName::has_vendor_products) {
            return Err(RunError::NothingTuned);
        }
        // The file of `--tune` need not exist: the suite writes it.
        if variable == TUNED_VARIABLE && !path.is_file() {
            return Err(RunError::NotTuned { path: path.clone() });
        }
        // Absolute, because the suite runs in another directory.
        let absolute = std::path::absolute(path).map_err(|source| RunError::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Some((variable, absolute.into())))
    }

    /// Prints what was measured to stderr. False if a library's own choice is wrong.
    pub(super) fn report(&self) -> Result<bool, Error> {
        // The suite creates the file when it opens the libraries; without them it has said why.
        let Some(path) = self.tune.as_deref().filter(|path| Path::is_file(path)) else {
            return Ok(true);
        };
        let summary = TuningSummary::read(path)?;
        eprint!("{}", summary.render());
        Ok(summary.is_green())
    }
}
