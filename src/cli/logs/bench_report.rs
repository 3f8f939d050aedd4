//! The speed of a training log, written as a report of `testgen bench`.

use crate::cli::{Out, written::write_result};
use std::path::PathBuf;
use testgen_base::cli_error::{CliError, Error};
use testgen_logs::{GpuTable, LogReport, TrainingRun, training_entries};
use testgen_types::{DeviceKind, Precision};

/// The report, and what a log does not say.
#[derive(Debug, clap::Args)]
pub(super) struct BenchReportArguments {
    /// Write the speed of the log as a report of `testgen bench`, too: one JSON line for each
    /// measurement
    #[arg(
        long,
        value_name = "FILE",
        requires = "subject",
        requires = "precision"
    )]
    report: Option<PathBuf>,
    /// The name of the training run in the report, the same for runs that are compared
    #[arg(long, value_name = "NAME", requires = "report")]
    subject: Option<String>,
    /// The precision of the training run: f32, tf32, f16, bf16
    #[arg(long, value_name = "PRECISION", requires = "report")]
    precision: Option<Precision>,
    /// The device of the training run: cpu, cuda, rocm [default: the device of its table of GPUs]
    #[arg(long, value_name = "DEVICE", requires = "report")]
    device: Option<DeviceKind>,
    /// Steps before the counted ones
    #[arg(long, value_name = "COUNT", default_value_t = 3, requires = "report")]
    warmup: u32,
}

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
enum BenchReportError {
    #[error("`--report` writes the speed of one log, found {found}")]
    SeveralLogs { found: usize },
    #[error("the device of the training run is not known")]
    UnknownDevice,
    #[error("`--device {named}` is not the device of the table of GPUs: {found}")]
    OtherDevice {
        named: DeviceKind,
        found: DeviceKind,
    },
    #[error("the tables of GPUs are of several devices: {first} and {second}")]
    SeveralDevices {
        first: DeviceKind,
        second: DeviceKind,
    },
}

impl CliError for BenchReportError {
    fn help(&self) -> Option<String> {
        Some(match self {
            Self::SeveralLogs { .. } => {
                "write a report of each, then `testgen report B --base A --by speed --devices cuda,rocm`"
                    .to_owned()
            }
            Self::UnknownDevice => {
                "name it: `--device rocm`, or its table of GPUs: `--gpus FILE`".to_owned()
            }
            Self::OtherDevice { .. } | Self::SeveralDevices { .. } => {
                "name the table of this run".to_owned()
            }
        })
    }
}

impl BenchReportArguments {
    /// Writes the report, if there is one to write.
    pub(super) fn write(&self, report: &LogReport, out: &mut Out) -> Result<(), Error> {
        let (Some(path), Some(subject), Some(precision)) =
            (&self.report, &self.subject, self.precision)
        else {
            return Ok(());
        };
        let (logs, sources) = (report.logs.as_slice(), report.sources.as_slice());
        let ([log], [source]) = (logs, sources) else {
            let found = report.logs.len();
            return Err(BenchReportError::SeveralLogs { found }.into());
        };
        let run = TrainingRun {
            subject: subject.clone(),
            device: self.device(&source.gpus)?,
            precision,
            warmup: self.warmup,
        };
        let mut text = String::new();
        for entry in training_entries(log, &source.gpus, &run) {
            text += &serde_json::to_string(&entry).expect("an entry has string keys only");
            text.push('\n');
        }
        write_result(Some(path), &text, out)
    }

    fn device(&self, tables: &[GpuTable]) -> Result<DeviceKind, BenchReportError> {
        let mut found = tables.iter().map(|table| table.tool.device());
        let Some(first) = found.next() else {
            return self.device.ok_or(BenchReportError::UnknownDevice);
        };
        if let Some(second) = found.find(|device| *device != first) {
            return Err(BenchReportError::SeveralDevices { first, second });
        }
        match self.device {
            Some(named) if named != first => Err(BenchReportError::OtherDevice {
                named,
                found: first,
            }),
            Some(_) | None => Ok(first),
        }
    }
}
