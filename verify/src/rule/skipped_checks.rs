//! `HARNESS.skipped` leaves out what the spec skips, with the spec's reason, and nothing else.
//!
//! ```text
//! skipped: &[
//!     Skip::new(Check::PreprocessGolden, "the checkpoint has no tokenizer.json"),
//!     Skip::on_in_precision(DeviceKind::Rocm, Precision::F16, Check::Finite, "overflows"),
//! ]
//! ```
//!
//! The suite derives the required checks from architecture, devices and precisions and runs all of them, so a harness cannot
//! forget one. It can only skip one: every skip must apply to at least one required check, for every required check the
//! reason must be the one that the spec gives, and every skip of the spec must be listed.
//!
//! Generate the harness again. To skip a check, add it to `checks.skip` of the spec, with a reason.

use crate::{expectation::Demand, finding::Remark, harness::Harness, literal, skip::Skip};
use syn::Expr;
use testgen_types::{Check, Registration, required_checks};

/// Compares the skips with those of the spec.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let (Some(fields), Some(demand)) = (harness.harness_fields(), &harness.demand) else { return Vec::new() };
    let item = &harness.statics["HARNESS"][0].ident;
    let Some(list) = fields.get("skipped") else {
        return vec![Remark::at(item, "`HARNESS` has no field `skipped`", "write `skipped: &[ .. ]`")];
    };
    let Some(elements) = literal::elements(list) else {
        return vec![Remark::at(*list, "`HARNESS.skipped` is not written as a list", "write `skipped: &[ .. ]`")];
    };
    let (mut skips, mut remarks) = (Vec::new(), Vec::new());
    for element in elements {
        match Skip::read(&harness.names, element) {
            Ok(skip) => skips.push(skip),
            Err(error) => remarks.push(Remark::at(error.place, error.message, AGAIN)),
        }
    }
    let required = required_checks(demand.architecture, &demand.devices, &demand.precisions);
    remarks.extend(skips.iter().filter_map(|skip| alone(demand, skip, &required)));
    // A list that cannot be read in full is compared once it can: what it lacks may be in the rest.
    if remarks.is_empty() {
        remarks.extend(compared(harness, &skips, &required, list));
    }
    remarks
}

const AGAIN: &str = "generate the harness again";

/// What is wrong with one skip, whatever the spec says.
fn alone(demand: &Demand, entry: &Skip<'_>, required: &[Registration]) -> Option<Remark> {
    let Skip { place, skip } = entry;
    if skip.reason.trim().is_empty() {
        let message = format!("`{}` is skipped without a reason", skip.check);
        return Some(Remark::at(*place, message, "add the reason to `checks.skip` of the spec"));
    }
    if required.iter().any(|registration| skip.applies_to(registration)) {
        return None;
    }
    let message = format!("this skips `{}` where `{}` does not require it", skip.check, demand.architecture);
    Some(Remark::at(*place, message, "remove it, or name a device and a precision of the spec"))
}

/// How a required check is skipped, other than the spec says.
type Difference<'e> = (&'e Expr, &'static str, Check);

/// Every required check, compared with the spec's skips. Checks with the same difference are one finding.
fn compared(harness: &Harness<'_>, skips: &[Skip<'_>], required: &[Registration], list: &Expr) -> Vec<Remark> {
    let Some(expectation) = harness.expectation else { return Vec::new() };
    let difference = |registration: &Registration| {
        let found = skips.iter().find(|entry| entry.skip.applies_to(registration));
        let expected = expectation.skips.iter().find(|skip| skip.applies_to(registration));
        let (place, what) = match (found, expected) {
            (Some(found), None) => (found.place, "is skipped, and the spec does not skip it"),
            (Some(found), Some(expected)) if found.skip.reason != expected.reason => {
                (found.place, "is skipped with another reason than the spec's")
            }
            (None, Some(_)) => (list, "is not skipped, and the spec skips it"),
            _ => return None,
        };
        Some((place, what, registration.check))
    };
    let mut differences: Vec<(Difference<'_>, Vec<&Registration>)> = Vec::new();
    for registration in required {
        let Some(found) = difference(registration) else { continue };
        match differences.iter_mut().find(|(known, _)| *known == found) {
            Some((_, registrations)) => registrations.push(registration),
            None => differences.push((found, vec![registration])),
        }
    }
    differences.iter().map(|(difference, registrations)| finding(difference, registrations)).collect()
}

fn finding(&(place, what, check): &Difference<'_>, registrations: &[&Registration]) -> Remark {
    let written = |registration: &&Registration| format!("`{}` in `{}`", registration.device, registration.precision);
    let first = registrations.first().map(written).unwrap_or_default();
    let rest = match registrations.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Remark::at(place, format!("`{check}` {what}: on {first}{rest}"), AGAIN)
}
