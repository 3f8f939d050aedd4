//! The reports that others are compared with, and how.

use crate::{
    bench::{BenchLines, SpeedComparison, SpeedOptions, read_bench_reports},
    compare::{CompareOptions, DeviceChoice, DevicePair, ReportComparison},
    results::{
        expected_failure::ExpectedFailures,
        read::{MergedReport, read_sources},
    },
};
use std::{path::PathBuf, slice};
use testgen_base::cli_error::{CliError, Error};

/// The base, and how reports are compared with it.
#[derive(Debug, clap::Args)]
pub(super) struct BaseArguments {
    /// Reports to compare with, for instance of the last release
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Compare this device of the base with that one of the reports: cuda,rocm or rocm,rocm-sim;
    /// with an engine cuda,cuda@torch
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        num_args = 1,
        requires = "base"
    )]
    devices: Vec<DeviceChoice>,
    /// From this ratio of two errors on, the larger one counts as worse
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0, value_parser = factor)]
    factor: f64,
    /// By speed, fail when work takes longer than this many times the base, and the interval of
    /// 95 % excludes equal times
    #[arg(long, value_name = "RATIO", value_parser = factor)]
    fail_slower: Option<f64>,
}

/// `--devices` with a number of devices other than two.
#[derive(Debug, thiserror::Error)]
#[error("`--devices` takes two devices, found {found}")]
struct WrongDeviceCount {
    found: usize,
}

impl CliError for WrongDeviceCount {
    fn help(&self) -> Option<String> {
        Some(
            "write `--devices cuda,rocm`: the first of the base, the second of the reports"
                .to_owned(),
        )
    }
}

/// `--by changes` or `--by speed` without a base.
#[derive(Debug, thiserror::Error)]
#[error("`--by {by}` needs `--base`")]
pub(super) struct NoBase {
    pub(super) by: &'static str,
}

impl CliError for NoBase {
    fn help(&self) -> Option<String> {
        Some(format!(
            "name the earlier reports: `testgen report reports --base last-release --by {}`",
            self.by
        ))
    }
}

/// A base for rows that are not compared.
#[derive(Debug, thiserror::Error)]
#[error("`--by {by}` does not compare reports, so that it takes no `--base`")]
struct BaseNotCompared {
    by: String,
}

impl CliError for BaseNotCompared {
    fn help(&self) -> Option<String> {
        Some("compare by checks, or write `--by changes`".to_owned())
    }
}

/// An option that the rows do not have.
#[derive(Debug, thiserror::Error)]
#[error("`--by {by}` takes no `{option}`")]
pub(super) struct NoSuchOption {
    pub(super) by: String,
    pub(super) option: &'static str,
}

impl CliError for NoSuchOption {
    fn help(&self) -> Option<String> {
        Some(format!("remove `{}`", self.option))
    }
}

impl BaseArguments {
    /// Refuses a limit of times for the rows `by`, which have no times.
    pub(super) fn confirm_no_limit(&self, by: String) -> Result<(), Error> {
        match self.fail_slower {
            None => Ok(()),
            Some(_) => Err(NoSuchOption {
                by,
                option: "--fail-slower",
            }
            .into()),
        }
    }

    /// Refuses a base for the rows `by`, which have no comparison.
    pub(super) fn confirm_absent(&self, by: String) -> Result<(), Error> {
        match self.base {
            None => Ok(()),
            Some(_) => Err(BaseNotCompared { by }.into()),
        }
    }

    /// The changes of `merged` since the base, if there is one.
    pub(super) fn compare(
        &self,
        merged: &MergedReport,
        expected: &ExpectedFailures,
    ) -> Result<Option<ReportComparison>, Error> {
        // Also without a base, so that a wrong number of devices is not ignored.
        let devices = self.pair()?;
        let Some(path) = &self.base else {
            return Ok(None);
        };
        let base = MergedReport::new(read_sources(slice::from_ref(path))?, expected);
        Ok(Some(ReportComparison::new(
            &base,
            merged,
            &CompareOptions {
                devices,
                factor: self.factor,
            },
        )))
    }

    /// The speed of `reports` compared with the speed of the base, if there is one.
    pub(super) fn speed(&self, reports: &BenchLines) -> Result<Option<SpeedComparison>, Error> {
        let options = SpeedOptions {
            devices: self.pair()?,
            fail_slower: self.fail_slower,
        };
        let Some(path) = &self.base else {
            return Ok(None);
        };
        let base = read_bench_reports(slice::from_ref(path))?;
        Ok(Some(SpeedComparison::new(&base, reports, &options)))
    }

    fn pair(&self) -> Result<Option<DevicePair>, WrongDeviceCount> {
        match self.devices.as_slice() {
            [] => Ok(None),
            [a, b] => Ok(Some(DevicePair {
                a: a.clone(),
                b: b.clone(),
            })),
            more => Err(WrongDeviceCount { found: more.len() }),
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    // Below 1, equal errors would count as worse.
    if factor.is_finite() && factor >= 1.0 {
        Ok(factor)
    } else {
        Err(format!("`{text}` is not a number from 1 on"))
    }
}
