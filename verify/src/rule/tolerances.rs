//! No tolerance of a spec is looser than the table allows, and each has a reason.
//!
//! A comparison with a tolerance above the table's ceiling cannot fail: f32 passes up to a relative
//! L2 error of 3e-5, tf32 and f16 up to 5e-2, bf16 up to 2e-1, and up to twice that in the largest
//! element. `SPEC.tolerances` may widen the tolerance of one output within these ceilings; each
//! entry is a `ToleranceOverride` of constants, above zero, for a precision of the spec, with a
//! reason, one for each output and precision, and the spec file has the same entries.
//!
//! Find out why the numbers differ. If the reason is good, write the tolerance and the reason into
//! the spec and generate again.

use crate::{
    expectation::ExpectedTolerance, finding::Diagnostic, harness::ParsedHarness, literal,
    spec::SpecLiteral,
};
use syn::{Expr, spanned::Spanned};

const AGAIN: &str = "generate again, or write the values of the spec";
const REASON: &str = "write the reason into the spec's `tolerance`";

/// Checks each entry alone, then compares all of them with the spec.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let Some(spec) = &harness.spec else {
        return Vec::new();
    };
    // A struct literal without `..rest` that misses a field does not compile.
    let Some(list) = spec.fields.get("tolerances") else {
        return Vec::new();
    };
    // A list from elsewhere could hold anything.
    let Some(entries) = literal::elements(list) else {
        return vec![Diagnostic::at(
            *list,
            "`SPEC.tolerances` is not written as a list",
            AGAIN,
        )];
    };
    let mut diagnostics = Vec::new();
    let mut read: Vec<ExpectedTolerance> = Vec::new();
    for entry in entries {
        match tolerance(harness, entry) {
            Some(tolerance) => {
                diagnostics.extend(one(spec, entry, &tolerance, &read));
                read.push(tolerance);
            }
            None => diagnostics.push(Diagnostic::at(
                entry,
                "this is not a `ToleranceOverride` of constants",
                AGAIN,
            )),
        }
    }
    diagnostics.extend(
        harness
            .expectation
            .and_then(|expectation| agrees(list, &read, &expectation.tolerances)),
    );
    diagnostics
}

/// Checks one entry without regard to the spec.
fn one(
    spec: &SpecLiteral<'_>,
    place: &Expr,
    tolerance: &ExpectedTolerance,
    before: &[ExpectedTolerance],
) -> Option<Diagnostic> {
    let ExpectedTolerance {
        output,
        precision,
        rel_l2,
        max_rel,
        reason,
    } = tolerance;
    let at = |message: String, help: &str| Some(Diagnostic::at(place, message, help));
    let ceiling = precision.tolerance_ceiling();
    // Before the reason: no reason justifies a tolerance with which the check cannot fail.
    if !is_within(rel_l2, ceiling[0]) || !is_within(max_rel, ceiling[1]) {
        let message = format!(
            "the tolerance of `{output}` in `{precision}` is looser than the table's, or zero"
        );
        return at(
            message,
            &format!(
                "stay within `rel_l2: {:?}` and `max_rel: {:?}`",
                ceiling[0], ceiling[1]
            ),
        );
    }
    if reason.trim().is_empty() {
        return at("a tolerance without a reason".to_owned(), REASON);
    }
    if before
        .iter()
        .any(|other| other.output == *output && other.precision == *precision)
    {
        return at(
            format!("`{output}` in `{precision}` has two tolerances"),
            "keep one of them",
        );
    }
    // Precisions that could not be read are a finding of `spec_static`.
    let named = spec
        .precisions
        .as_ref()
        .is_none_or(|precisions| precisions.contains(precision));
    if named {
        None
    } else {
        at(
            format!("the spec does not name the precision `{precision}`"),
            "remove it",
        )
    }
}

fn agrees(
    place: &impl Spanned,
    found: &[ExpectedTolerance],
    expected: &[ExpectedTolerance],
) -> Option<Diagnostic> {
    let same =
        // With the same length, so that a repeated entry does not hide a missing one.
        found.len() == expected.len() && found.iter().all(|tolerance| expected.contains(tolerance));
    (!same).then(|| Diagnostic::at(place, "`SPEC.tolerances` are not those of the spec", AGAIN))
}

fn tolerance(harness: &ParsedHarness<'_>, entry: &Expr) -> Option<ExpectedTolerance> {
    let fields = literal::fields(literal::structure(
        &harness.names,
        entry,
        "ToleranceOverride",
    )?);
    Some(ExpectedTolerance {
        output: literal::text(fields.get("output")?)?,
        precision: literal::variant(
            &harness.names,
            fields.get("precision")?,
            &literal::PRECISIONS,
        )?,
        rel_l2: literal::number(fields.get("rel_l2")?)?,
        max_rel: literal::number(fields.get("max_rel")?)?,
        reason: literal::text(fields.get("reason")?)?,
    })
}

fn is_within(number: &f64, ceiling: f64) -> bool {
    // Zero would fail for a correct result, and NaN is not above zero.
    *number > 0.0 && *number <= ceiling
}
