//! One measurement, without what it has in common with others of its subject.

use std::time::Duration;
use testgen_types::{BenchStatus, BenchTimes, Measured, Repetitions};

/// One measurement; see the fields of [`testgen_types::BenchEntry`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BenchRow {
    pub(super) measured: Option<Measured>,
    pub(super) case: Option<String>,
    pub(super) batch: Option<usize>,
    pub(super) tokens: Option<usize>,
    pub(super) steps: Option<u32>,
    pub(super) bytes: Option<u64>,
    pub(super) overlap: Option<f64>,
    pub(super) calls: Option<usize>,
    /// `None` for the repetitions of the request.
    pub(super) repetitions: Option<Repetitions>,
    pub(super) status: BenchStatus,
    pub(super) reason: Option<String>,
    pub(super) times: Option<BenchTimes>,
    pub(super) energy_joules: Option<f64>,
}

/// Why a call has no times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTime {
    /// It failed.
    Failed(String),
    /// It cannot be computed or timed here.
    NotComputed(String),
}

impl BenchRow {
    /// A measurement of which only the status is known.
    const fn with_status(status: BenchStatus) -> Self {
        Self {
            measured: None,
            case: None,
            batch: None,
            tokens: None,
            steps: None,
            bytes: None,
            overlap: None,
            calls: None,
            repetitions: None,
            status,
            reason: None,
            times: None,
            energy_joules: None,
        }
    }

    /// A measurement without a time.
    pub(super) fn without_time(status: BenchStatus, reason: String) -> Self {
        Self {
            reason: Some(reason),
            ..Self::with_status(status)
        }
    }

    /// Work that was done once.
    pub(super) fn once(measured: Measured, time: Duration) -> Self {
        Self {
            repetitions: Some(Repetitions::exactly(1)),
            ..Self::timed(measured, Ok(vec![time.as_secs_f64() * 1e3]))
        }
    }

    /// The milliseconds of repeated calls.
    pub(super) fn timed(measured: Measured, times: Result<Vec<f64>, NoTime>) -> Self {
        let times = times.and_then(|times| {
            BenchTimes::new(times)
                .ok_or_else(|| NoTime::NotComputed("nothing was timed".to_owned()))
        });
        let (status, reason, times) = match times {
            Ok(times) => (BenchStatus::Timed, None, Some(times)),
            // A wrong result, or an error of a repeated call, is a fault; only what is not computed
            // is a gap.
            Err(NoTime::Failed(reason)) => (BenchStatus::Wrong, Some(reason), None),
            Err(NoTime::NotComputed(reason)) => (BenchStatus::NotTimed, Some(reason), None),
        };
        Self {
            measured: Some(measured),
            reason,
            times,
            ..Self::with_status(status)
        }
    }
}
