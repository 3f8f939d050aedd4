//! Pairs the checks of one report with the checks of the other.

use super::device_choice::{DeviceChoice, DevicePair};
use crate::results::read::{MergedEntry, MergedReport};
use std::collections::BTreeMap;
use testgen_types::{Check, DeviceKind, Precision};

/// A check in both reports, or in one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckPair<'m> {
    pub(super) a: Option<&'m MergedEntry>,
    pub(super) b: Option<&'m MergedEntry>,
}

/// The fields that the two sides of a pair share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairKey<'m> {
    model: &'m str,
    /// None if the user chose the two devices.
    device: Option<PairedDevice<'m>>,
    check: Check,
    precision: Precision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairedDevice<'m> {
    kind: DeviceKind,
    simulated: bool,
    engine: Option<&'m str>,
}

type Groups<'m> = BTreeMap<PairKey<'m>, Vec<&'m MergedEntry>>;

/// Pairs checks by model, check, precision and kind of device. `devices` selects one of each
/// report.
pub(super) fn pairs<'m>(
    a: &'m MergedReport,
    b: &'m MergedReport,
    devices: Option<&DevicePair>,
) -> Vec<CheckPair<'m>> {
    // With one device of a kind in each report the device's name does not matter, so that two
    // machines can be compared; with several it decides, with the index.
    let mut left = group(a, devices.map(|devices| &devices.a));
    let mut right = group(b, devices.map(|devices| &devices.b));
    let mut keys: Vec<PairKey<'m>> = left.keys().chain(right.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let mut pairs = Vec::new();
    for key in keys {
        let (left, right) = (
            left.remove(&key).unwrap_or_default(),
            right.remove(&key).unwrap_or_default(),
        );
        match (left.as_slice(), right.as_slice()) {
            ([only_a], [only_b]) => pairs.push(CheckPair {
                a: Some(only_a),
                b: Some(only_b),
            }),
            _ => pairs.extend(pair_by_name(a, b, left, right)),
        }
    }
    pairs
}

fn group<'m>(merged: &'m MergedReport, choice: Option<&DeviceChoice>) -> Groups<'m> {
    let mut groups = Groups::new();
    for merged_entry in &merged.entries {
        let column = &merged.columns[merged_entry.column];
        if !choice.is_none_or(|choice| choice.includes(column)) {
            continue;
        }
        let device = PairedDevice {
            kind: column.device,
            simulated: column.simulated,
            engine: column.engine.as_deref(),
        };
        let entry = &merged_entry.entry;
        let key = PairKey {
            model: &entry.model,
            // Two chosen devices may be of different kinds, which must not keep their checks apart.
            device: choice.is_none().then_some(device),
            check: entry.check,
            precision: entry.precision,
        };
        groups.entry(key).or_default().push(merged_entry);
    }
    groups
}

fn pair_by_name<'m>(
    a: &MergedReport,
    b: &MergedReport,
    left: Vec<&'m MergedEntry>,
    right: Vec<&'m MergedEntry>,
) -> Vec<CheckPair<'m>> {
    let mut pairs = Vec::new();
    let mut right: Vec<Option<&MergedEntry>> = right.into_iter().map(Some).collect();
    for entry in left {
        let column = &a.columns[entry.column];
        let found = right.iter_mut().find(|other| {
            other.is_some_and(|other| {
                let other = &b.columns[other.column];
                (&other.name, other.index) == (&column.name, column.index)
            })
        });
        pairs.push(CheckPair {
            a: Some(entry),
            // Taken out, so that no entry is paired twice.
            b: found.and_then(Option::take),
        });
    }
    pairs.extend(right.into_iter().flatten().map(|entry| CheckPair {
        a: None,
        b: Some(entry),
    }));
    pairs
}
