//! The work that an entry of a report measured, by which entries of two reports are paired.

use crate::{bench::lines::BenchLines, compare::DeviceChoice};
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_engine::EngineName;
use testgen_types::{BenchEntry, Measured, Precision};

/// Work that was measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SpeedWork {
    /// The name of the spec.
    pub subject: String,
    /// The precision.
    pub precision: Precision,
    /// The measurement.
    pub measured: Measured,
    /// The call of an operator.
    pub case: Option<String>,
    /// The number of inputs.
    pub batch: Option<usize>,
    /// The tokens of each input.
    pub tokens: Option<usize>,
    /// The bytes of a copy.
    pub bytes: Option<u64>,
    /// The device with the engine, `cuda@torch`; empty where two devices are compared.
    pub device: String,
}

/// The entries of a report by their work. Several runs of the same work are together.
pub(super) type ByWork<'a> = BTreeMap<SpeedWork, Vec<&'a BenchEntry>>;

pub(super) fn by_work<'a>(lines: &'a BenchLines, chosen: Option<&DeviceChoice>) -> ByWork<'a> {
    let mut by_work = ByWork::new();
    let timed = lines.entries.iter().filter(|entry| entry.times.is_some());
    for entry in timed.filter(|entry| chosen.is_none_or(|chosen| includes(chosen, entry))) {
        if let Some(work) = work(entry, chosen.is_none()) {
            by_work.entry(work).or_default().push(entry);
        }
    }
    by_work
}

pub(in crate::bench) fn work(entry: &BenchEntry, with_device: bool) -> Option<SpeedWork> {
    Some(SpeedWork {
        subject: entry.subject.clone(),
        precision: entry.precision,
        measured: entry.measured?,
        case: entry.case.clone(),
        batch: entry.batch,
        tokens: entry.tokens,
        bytes: entry.bytes,
        device: if with_device {
            device(entry)
        } else {
            String::new()
        },
    })
}

/// `cuda`, `rocm-sim`, `cuda@torch/eager`.
pub(super) fn device(entry: &BenchEntry) -> String {
    let engine = entry.engine.as_ref();
    format!(
        "{}{}{}",
        entry.device,
        if is_simulated(entry) { "-sim" } else { "" },
        engine.map_or_else(String::new, |engine| format!("@{engine}"))
    )
}

pub(super) fn is_simulated(entry: &BenchEntry) -> bool {
    let device = entry.device_facts.as_ref();
    device.is_some_and(|device| device.simulated)
}

/// Whether `--devices` names the device of an entry.
pub(super) fn includes(chosen: &DeviceChoice, entry: &BenchEntry) -> bool {
    let engine = chosen.engine.as_ref().and_then(EngineName::in_report);
    // A device without an engine is the native one, which does not train: then it is any trainer.
    let is_any_trainer = chosen.engine.is_none() && entry.is_training();
    chosen.device == entry.device
        && chosen.simulated == is_simulated(entry)
        && (is_any_trainer || engine == entry.engine)
        && chosen
            .index
            .is_none_or(|index| entry.device_index == Some(index))
}

/// Whether an entry without a time is about this work: one without a measurement is about all work
/// of its subject in its precision.
pub(super) fn is_of(timed: &SpeedWork, entry: &BenchEntry, with_device: bool) -> bool {
    match work(entry, with_device) {
        Some(work) => work == *timed,
        None => {
            timed.subject == entry.subject
                && timed.precision == entry.precision
                && (!with_device || timed.device == device(entry))
        }
    }
}
