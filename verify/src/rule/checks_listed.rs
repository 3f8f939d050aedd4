//! `HARNESS.checks` lists every check that the spec requires, once, and skips none without the spec's reason.
//!
//! Which checks those are follows from the architecture, the devices and the precisions; a check that is not listed is never
//! run and nobody misses it, so it must stand here, as `Registered::run(device, check, precision)` or, where the spec
//! skips it, as `Registered::skip(device, check, precision, "the spec's reason")`. Further checks may be listed when they
//! apply to the architecture and to a device and precision of the spec.
//!
//! Generate again. To skip a check, write it into the spec's `checks.skip` with a reason.

use crate::{
    expectation::Demand,
    finding::Remark,
    harness::Harness,
    literal,
    registration::{self, Registered},
};
use std::collections::BTreeMap;
use syn::Expr;
use testgen_contract::{Registration, required_checks};

/// Compares the list with what the contract requires.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let (Some(fields), Some(demand)) = (harness.harness_fields(), &harness.demand) else { return Vec::new() };
    let item = &harness.statics["HARNESS"][0].ident;
    let Some(checks) = fields.get("checks") else {
        return vec![Remark::at(item, "`HARNESS` has no field `checks`", "write `checks: &[ .. ]`")];
    };
    let Some(elements) = literal::elements(checks) else {
        return vec![Remark::at(*checks, "`HARNESS.checks` is not written as a list", "write `checks: &[ .. ]`")];
    };
    let mut remarks = Vec::new();
    let mut listed: BTreeMap<Registration, Registered<'_>> = BTreeMap::new();
    for element in elements {
        match registration::read(&harness.names, element) {
            Err(illegible) => remarks.push(Remark::at(illegible.place, illegible.why, AGAIN)),
            Ok(found) => remarks.extend(add(&mut listed, found)),
        }
    }
    remarks.extend(missing(demand, &listed, checks));
    remarks.extend(listed.values().filter_map(|found| out_of_place(demand, found)));
    remarks.extend(listed.values().filter_map(|found| skipped(harness, found)));
    remarks
}

const AGAIN: &str = "generate again";

/// How many missing checks are named; the others are counted.
const SHOWN: usize = 5;

fn add<'a>(listed: &mut BTreeMap<Registration, Registered<'a>>, found: Registered<'a>) -> Option<Remark> {
    let (place, registration) = (found.place, found.registration);
    listed.insert(registration, found)?;
    Some(Remark::at(place, format!("{} is listed twice", written(&registration)), "keep one of the two"))
}

fn missing(demand: &Demand, listed: &BTreeMap<Registration, Registered<'_>>, checks: &Expr) -> Vec<Remark> {
    let required = required_checks(demand.architecture, &demand.devices, &demand.precisions);
    let missing = required.iter().filter(|registration| !listed.contains_key(registration));
    let remarks = missing.map(|registration| {
        let help = format!(
            "add `Registered::run(DeviceKind::{}, Check::{}, Precision::{})`",
            registration.device.variant_name(),
            registration.check.variant_name(),
            registration.precision.variant_name(),
        );
        Remark::at(checks, format!("{} is not listed", written(registration)), help)
    });
    let mut remarks: Vec<Remark> = remarks.collect();
    if remarks.len() > SHOWN {
        let message = format!("{} more checks are not listed", remarks.len() - SHOWN);
        remarks.truncate(SHOWN);
        remarks.push(Remark::at(checks, message, AGAIN));
    }
    remarks
}

/// A check that this harness cannot have.
fn out_of_place(demand: &Demand, found: &Registered<'_>) -> Option<Remark> {
    let Registration { device, check, precision } = found.registration;
    let why = if !demand.devices.contains(&device) {
        format!("the spec does not name the device `{device}`")
    } else if !demand.precisions.contains(&precision) {
        format!("the spec does not name the precision `{precision}`")
    } else if !check.applies_to(demand.architecture) {
        format!("`{check}` is no check of the architecture `{}`", demand.architecture)
    } else if !check.applies_on(device) {
        format!("`{check}` is no check of the device `{device}`")
    } else {
        return None;
    };
    Some(Remark::at(found.place, why, "remove it"))
}

fn skipped(harness: &Harness<'_>, found: &Registered<'_>) -> Option<Remark> {
    let registration = &found.registration;
    if found.skip.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        let message = format!("{} is skipped without a reason", written(registration));
        return Some(Remark::at(found.place, message, "write the reason into the spec's `checks.skip`"));
    }
    let expectation = harness.expectation?;
    let wanted = expectation.skips.iter().find(|(skip, _)| skip == registration).map(|(_, reason)| reason);
    let message = match (&found.skip, wanted) {
        (Some(_), None) => "is skipped, and the spec does not skip it",
        (Some(given), Some(reason)) if given != reason => "is skipped with another reason than the spec's",
        (None, Some(_)) => "is run, and the spec skips it",
        _ => return None,
    };
    Some(Remark::at(found.place, format!("{} {message}", written(registration)), AGAIN))
}

fn written(registration: &Registration) -> String {
    let Registration { device, check, precision } = registration;
    format!("`{check}` on `{device}` in `{precision}`")
}
