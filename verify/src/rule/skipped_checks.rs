//! `HARNESS.skipped` contains the checks that the spec skips, with the spec's reason, and no
//! others.
//!
//! ```text
//! skipped: &[
//!     Skip::new(Check::PreprocessGolden, "the checkpoint has no tokenizer.json"),
//!     Skip::on_in_precision(DeviceKind::Rocm, Precision::F16, Check::Finite, "overflows"),
//! ]
//! ```
//!
//! The suite derives the required checks from architecture, devices and precisions and runs all of
//! them, so a harness cannot forget one. It can only skip one: every skip must apply to at least
//! one required check, for every required check it must give the reason in the spec, and every skip
//! of the spec must be listed.
//!
//! Generate the harness again. To skip a check, add it to `checks.skip` of the spec, with a reason.

use crate::{
    expectation::RequiredChecks, finding::Diagnostic, harness::ParsedHarness, literal,
    skip::SkipEntry,
};
use syn::Expr;
use testgen_types::{Check, Registration, engine_checks, required_checks};

/// Compares the skips with the spec's skips.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let (Some(fields), Some(requirements)) = (harness.harness_fields(), &harness.requirements)
    else {
        return Vec::new();
    };
    // `harness_fields` has read this static, so both exist.
    let item = &harness.statics["HARNESS"][0].ident;
    let Some(list) = fields.get("skipped") else {
        return vec![Diagnostic::at(
            item,
            "`HARNESS` has no field `skipped`",
            "write `skipped: &[ .. ]`",
        )];
    };
    let Some(elements) = literal::elements(list) else {
        return vec![Diagnostic::at(
            *list,
            "`HARNESS.skipped` is not written as a list",
            "write `skipped: &[ .. ]`",
        )];
    };
    let (mut skips, mut diagnostics) = (Vec::new(), Vec::new());
    for element in elements {
        match SkipEntry::read(&harness.names, element) {
            Ok(skip) => skips.push(skip),
            Err(error) => diagnostics.push(Diagnostic::at(error.place, error.message, AGAIN)),
        }
    }
    let RequiredChecks {
        architecture,
        devices,
        precisions,
        ..
    } = requirements;
    let mut required = required_checks(*architecture, devices, precisions);
    // Checks that run only on an engine that is a process may be skipped, too.
    required.extend(engine_checks(*architecture, devices, precisions));
    diagnostics.extend(
        skips
            .iter()
            .filter_map(|skip| check_entry(requirements, skip, &required)),
    );
    // A list that cannot be read completely is compared after it is fixed: missing entries may be
    // in the rest.
    if diagnostics.is_empty() {
        diagnostics.extend(compared(harness, &skips, &required, list));
    }
    diagnostics
}

const AGAIN: &str = "generate the harness again";

/// Checks one skip without regard to the spec.
fn check_entry(
    requirements: &RequiredChecks,
    entry: &SkipEntry<'_>,
    required: &[Registration],
) -> Option<Diagnostic> {
    let SkipEntry { place, skip } = entry;
    if skip.reason.trim().is_empty() {
        let message = format!("`{}` is skipped without a reason", skip.check);
        return Some(Diagnostic::at(
            *place,
            message,
            "add the reason to `checks.skip` of the spec",
        ));
    }
    // A skip has an effect only on a required check; any other one would look like an exception that
    // the suite makes.
    if required
        .iter()
        .any(|registration| skip.applies_to(registration))
    {
        return None;
    }
    let message = format!(
        "this skips `{}` where `{}` does not require it",
        skip.check, requirements.architecture
    );
    Some(Diagnostic::at(
        *place,
        message,
        "remove it, or name a device and a precision of the spec",
    ))
}

/// How a required check is skipped, differing from the spec.
type Difference<'e> = (&'e Expr, &'static str, Check);

/// Every required check, compared with the spec's skips. Checks with the same difference are one
/// finding.
fn compared(
    harness: &ParsedHarness<'_>,
    skips: &[SkipEntry<'_>],
    required: &[Registration],
    list: &Expr,
) -> Vec<Diagnostic> {
    let Some(expectation) = harness.expectation else {
        return Vec::new();
    };
    // By required check and not by entry: one skip for all devices equals one for each of them.
    let difference = |registration: &Registration| {
        let found = skips
            .iter()
            .find(|entry| entry.skip.applies_to(registration));
        let expected = expectation
            .skips
            .iter()
            .find(|skip| skip.applies_to(registration));
        let (place, what) = match (found, expected) {
            (Some(found), None) => (found.place, "is skipped, and the spec does not skip it"),
            (Some(found), Some(expected)) if found.skip.reason != expected.reason => (
                found.place,
                "is skipped with another reason than the spec's",
            ),
            (None, Some(_)) => (list, "is not skipped, and the spec skips it"),
            _ => return None,
        };
        Some((place, what, registration.check))
    };
    let mut differences: Vec<(Difference<'_>, Vec<&Registration>)> = Vec::new();
    for registration in required {
        let Some(found) = difference(registration) else {
            continue;
        };
        match differences.iter_mut().find(|(known, _)| *known == found) {
            Some((_, registrations)) => registrations.push(registration),
            None => differences.push((found, vec![registration])),
        }
    }
    differences
        .iter()
        .map(|(difference, registrations)| finding(difference, registrations))
        .collect()
}

fn finding(&(place, what, check): &Difference<'_>, registrations: &[&Registration]) -> Diagnostic {
    let first = registrations
        .first()
        .map(|registration| format!("`{}` in `{}`", registration.device, registration.precision))
        .unwrap_or_default();
    let rest = match registrations.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Diagnostic::at(place, format!("`{check}` {what}: on {first}{rest}"), AGAIN)
}
