//! The speed of a training log as lines of the report of `testgen bench`, so that runs on CUDA and
//! ROCm are compared by the same command.
//!
//! A log has no calls that were timed: a time is the value of a step, or the mean of an interval of
//! a long log. Losses that are NaN or infinite are a wrong result, which has no time.

use super::{
    curve::Curve,
    gpu_table::{GpuMetric, GpuSummary, GpuTable},
    metric::Metric,
    report::POINTS,
    statistics::MetricSummary,
    summary::LogSummary,
};
use std::collections::BTreeSet;
use testgen_types::{
    BenchDevice, BenchEntry, BenchStatus, BenchTimes, DeviceKind, Measured, Precision, Repetitions,
};

/// The facts about a training run that its log does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingRun {
    /// The name of the training run, alike for the runs that are compared.
    pub subject: String,
    /// The kind of its devices.
    pub device: DeviceKind,
    /// The precision of its products.
    pub precision: Precision,
    /// The first steps that are not counted, in which kernels are compiled and tuned.
    pub warmup: u32,
}

/// A measurement of a log: what a unit of work is, and its milliseconds.
struct Speed {
    measured: Measured,
    metric: Metric,
    tokens: Option<usize>,
    batch: Option<usize>,
    milliseconds: fn(f64) -> f64,
}

const SPEEDS: [Speed; 5] = [
    Speed {
        measured: Measured::TrainStep,
        metric: Metric::StepSeconds,
        tokens: None,
        batch: None,
        milliseconds: |seconds| seconds * 1e3,
    },
    Speed {
        measured: Measured::TrainTokens,
        metric: Metric::TokensPerSecond,
        tokens: Some(1000),
        batch: None,
        milliseconds: |rate| 1e6 / rate,
    },
    Speed {
        measured: Measured::TrainTokensPerDevice,
        metric: Metric::TokensPerSecondPerDevice,
        tokens: Some(1000),
        batch: None,
        milliseconds: |rate| 1e6 / rate,
    },
    Speed {
        measured: Measured::TrainSample,
        metric: Metric::SamplesPerSecond,
        tokens: None,
        batch: Some(1),
        milliseconds: |rate| 1e3 / rate,
    },
    Speed {
        measured: Measured::TrainTeraflop,
        metric: Metric::Tflops,
        tokens: None,
        batch: None,
        milliseconds: |rate| 1e3 / rate,
    },
];

/// A line for each speed that a log has; one without a time if it has none.
pub fn training_entries(log: &LogSummary, gpus: &[GpuTable], run: &TrainingRun) -> Vec<BenchEntry> {
    if let Some((status, reason)) = without_time(log) {
        return vec![without_speed(log, gpus, run, status, reason)];
    }
    let entries: Vec<_> = SPEEDS
        .iter()
        .filter_map(|speed| {
            let times = BenchTimes::new(milliseconds(log, speed, run.warmup))?;
            Some(BenchEntry {
                measured: Some(speed.measured),
                batch: speed.batch,
                tokens: speed.tokens,
                repetitions: Repetitions {
                    warmup: run.warmup,
                    iterations: u32::try_from(times.milliseconds.len()).unwrap_or(u32::MAX),
                    min_time_ms: 0,
                },
                times: Some(times),
                reason: None,
                ..without_speed(log, gpus, run, BenchStatus::Timed, String::new())
            })
        })
        .collect();
    if !entries.is_empty() {
        return entries;
    }
    let reason = format!("the log has no speed after {} steps", run.warmup);
    vec![without_speed(log, gpus, run, BenchStatus::NotTimed, reason)]
}

fn without_time(log: &LogSummary) -> Option<(BenchStatus, String)> {
    // First: a run whose losses are NaN computes nothing that a speed could be of.
    if log.has_non_finite_losses() {
        let count = log.non_finite_losses;
        return Some((
            BenchStatus::Wrong,
            format!("NaN or infinite losses: {count}"),
        ));
    }
    let reason = "no line has a loss, so that none was checked";
    let is_unchecked = log.metric(Metric::Loss).is_none();
    is_unchecked.then(|| (BenchStatus::NotTimed, reason.to_owned()))
}

/// The times of the steps after the first `warmup`, or the time of the whole run if only that is
/// printed.
fn milliseconds(log: &LogSummary, speed: &Speed, warmup: u32) -> Vec<f64> {
    // DeepSpeed prints its times below the losses of another trainer.
    for curve in [&log.curve, &log.other_curve] {
        let values = values(curve, speed.metric, warmup);
        if let Some(values) = values {
            return values
                .into_iter()
                .filter_map(|it| time(speed, it))
                .collect();
        }
    }
    // The last line of the Trainer has means of the run, which no curve has.
    let whole = log.metric(speed.metric).and_then(|summary| summary.mean);
    whole.and_then(|it| time(speed, it)).into_iter().collect()
}

/// The values of a metric after the warm-up, or `None` if no step has it.
fn values(curve: &Curve, metric: Metric, warmup: u32) -> Option<Vec<f64>> {
    // Before the warm-up is cut off: a log that is shorter than it still has the metric.
    curve
        .points()
        .find(|point| point.values[metric.index()].is_some())?;
    // An interval with steps of the warm-up is left out as a whole.
    let first = curve.points().next()?.step;
    let start = first.saturating_add(u64::from(warmup));
    // After the start is known: a reduced first point begins at a multiple of its interval, which
    // can be before the first step.
    let reduced = curve.reduced(1, POINTS);
    let points = reduced.points().filter(|point| point.step >= start);
    Some(
        points
            .filter_map(|point| point.values[metric.index()])
            .collect(),
    )
}

fn time(speed: &Speed, value: f64) -> Option<f64> {
    let milliseconds = (speed.milliseconds)(value);
    // A rate of 0 would become an infinite time.
    (value > 0.0 && milliseconds.is_finite()).then_some(milliseconds)
}

fn without_speed(
    log: &LogSummary,
    gpus: &[GpuTable],
    run: &TrainingRun,
    status: BenchStatus,
    reason: String,
) -> BenchEntry {
    // A log may have lines of several trainers: DeepSpeed's below another one's.
    let most = log.formats.iter().max_by_key(|(_, count)| **count);
    BenchEntry {
        version: BenchEntry::VERSION,
        testgen: env!("CARGO_PKG_VERSION").to_owned(),
        optimised: !cfg!(debug_assertions),
        subject: run.subject.clone(),
        config: None,
        architecture: None,
        device: run.device,
        device_index: None,
        device_facts: device(gpus),
        // A log does not name its machine, and this one may be another.
        host: None,
        engine: most.map(|(format, _)| format.as_str().to_owned()),
        engine_versions: None,
        precision: run.precision,
        measured: None,
        case: None,
        batch: None,
        tokens: None,
        steps: None,
        bytes: None,
        overlap: None,
        calls: None,
        repetitions: Repetitions {
            warmup: run.warmup,
            iterations: 0,
            min_time_ms: 0,
        },
        status,
        reason: Some(reason),
        times: None,
        energy_joules: None,
    }
}

/// The facts that tables have: `None` without a name.
fn device(gpus: &[GpuTable]) -> Option<BenchDevice> {
    let all: Vec<&GpuSummary> = gpus.iter().flat_map(|table| table.gpus.values()).collect();
    let clocks = all
        .iter()
        .filter_map(|gpu| gpu.metrics.get(&GpuMetric::Clock));
    let clocks: Vec<f64> = clocks
        .filter_map(|clock: &MetricSummary| clock.last)
        .collect();
    // Without any clock this is NaN, and the field stays empty.
    let clock = clocks.iter().sum::<f64>() / clocks.len() as f64;
    Some(BenchDevice {
        name: distinct(&all, |gpu| gpu.name.as_deref())?,
        architecture: None,
        pci_address: None,
        driver_version: distinct(&all, |gpu| gpu.driver.as_deref()),
        runtime_version: None,
        simulated: false,
        tf32: None,
        compute_units: None,
        clock_mhz: clock.is_finite().then_some(clock as u32),
        max_clock_mhz: None,
    })
}

/// The distinct values of a field, sorted; `None` if no GPU has one.
fn distinct(gpus: &[&GpuSummary], field: fn(&GpuSummary) -> Option<&str>) -> Option<String> {
    let values: BTreeSet<&str> = gpus.iter().filter_map(|gpu| field(gpu)).collect();
    let values: Vec<&str> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.join(", "))
}

#[cfg(test)]
mod tests;
