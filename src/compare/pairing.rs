//! Which check of one report belongs to which of the other.

use super::{CompareOptions, DeviceChoice};
use crate::report::{Entry, Merged};
use std::collections::BTreeMap;
use testgen_contract::{Check, DeviceKind, Precision};

/// A check on both sides, or on one.
pub(super) type Pair<'m> = (Option<&'m Entry>, Option<&'m Entry>);

/// What pairs have in common. Where two devices are chosen, the device is not part of it.
type Key<'m> = (&'m str, Option<(DeviceKind, bool)>, Check, Precision);

/// Pairs by model, check, precision and device. One machine on each side is a pair whatever the devices are called; with
/// several of one kind the name decides.
pub(super) fn pairs<'m>(a: &'m Merged, b: &'m Merged, options: &CompareOptions) -> Vec<Pair<'m>> {
    let [first, second] = options.devices.map_or([None, None], |devices| devices.map(Some));
    let (mut left, mut right) = (group(a, first), group(b, second));
    let mut keys: Vec<Key<'m>> = left.keys().chain(right.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let mut pairs = Vec::new();
    for key in keys {
        let (left, right) = (left.remove(&key).unwrap_or_default(), right.remove(&key).unwrap_or_default());
        match (left.as_slice(), right.as_slice()) {
            ([one], [other]) => pairs.push((Some(*one), Some(*other))),
            _ => pair_by_name(a, b, left, right, &mut pairs),
        }
    }
    pairs
}

fn group<'m>(merged: &'m Merged, choice: Option<DeviceChoice>) -> BTreeMap<Key<'m>, Vec<&'m Entry>> {
    let mut groups: BTreeMap<Key<'m>, Vec<&'m Entry>> = BTreeMap::new();
    for entry in &merged.entries {
        let column = &merged.columns[entry.column];
        let place = (column.device, column.simulated);
        let is_chosen = |choice: DeviceChoice| (choice.device, choice.simulated) == place && column.name.is_some();
        if !choice.is_none_or(is_chosen) {
            continue;
        }
        let place = if choice.is_some() { None } else { Some(place) };
        let record = &entry.record;
        groups.entry((record.model.as_str(), place, record.check, record.precision)).or_default().push(entry);
    }
    groups
}

fn pair_by_name<'m>(a: &Merged, b: &Merged, left: Vec<&'m Entry>, right: Vec<&'m Entry>, pairs: &mut Vec<Pair<'m>>) {
    let mut right: Vec<Option<&Entry>> = right.into_iter().map(Some).collect();
    for entry in left {
        let name = &a.columns[entry.column].name;
        let found = right.iter_mut().find(|other| other.is_some_and(|other| b.columns[other.column].name == *name));
        pairs.push((Some(entry), found.and_then(Option::take)));
    }
    pairs.extend(right.into_iter().flatten().map(|entry| (None, Some(entry))));
}
