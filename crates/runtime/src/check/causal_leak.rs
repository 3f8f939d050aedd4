//! `causal_leak`: replacing a later token changes no bit of the outputs before it.

use super::{
    check_run::{CheckRun, ModelUnderTest},
    outcome::{Abort, CheckResult, Failures},
    outputs_by_position::{OutputsByPosition, forward_by_position},
    sequences::Sequences,
};
use crate::{compare::compare, engine, golden::Golden, tolerance::Threshold};
use testgen_types::Architecture;

/// A hidden token gets the attention weight 0, so not even rounding may differ.
const EXACT: Threshold = Threshold { rel_l2: 0.0, max_rel: 0.0 };
const LENGTH: usize = 24;

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.model_under_test()?;
    if let Some(reason) = inapplicable(tested.model().class()) {
        return Err(Abort::Skip(reason));
    }
    let facts = run.text_facts(&tested, &golden);
    if !facts.causal {
        return Err(Abort::Skip(format!("`{}` reads the whole text at once", tested.model().class())));
    }
    let length = LENGTH.min(facts.longest);
    let rows = Sequences::generated(2, length, facts);
    let mut failures = Failures::default();
    let mut seen = false;
    let before = forward_by_position(tested.model(), facts.stream, &rows.unpadded(facts))?;
    for start in [1, length / 2, length - 1] {
        let after =
            forward_by_position(tested.model(), facts.stream, &rows.changed_from(start, facts).unpadded(facts))?;
        for ((name, one), (_, other)) in before.positions.iter().zip(&after.positions) {
            let (earlier, got) = (one.narrow(1, 0, start), other.narrow(1, 0, start));
            let label = format!("{name} before position {start}");
            let threshold = allowed(run, &golden, &tested, name);
            failures.extend(run.compare(&label, &earlier, &got, threshold));
        }
        // Equal outputs before the change also come from a model that ignores its ids, so some later output has to
        // differ.
        seen |= is_seen(&before, &after, start, length - start);
    }
    // Then the loop above compared nothing, which must not count as a pass.
    if before.positions.is_empty() {
        return Err(Abort::Fail("the model returns nothing per position".to_owned()));
    }
    if !seen {
        failures.push("the replaced tokens change no output at all, so this check proves nothing");
    }
    failures.conclude()?;
    Ok(None)
}

/// An expert of the native engine computes each token by itself. Libraries compute the tokens of an expert as one product, and
/// choose its kernel by their number, which a later token changes: the threshold is that of two runs then.
fn allowed(run: &CheckRun<'_>, golden: &Golden, tested: &ModelUnderTest, output: &str) -> Threshold {
    let grouped = run.spec().architecture == Architecture::Moe && engine::current().is_some();
    if grouped { run.tolerance(golden, tested).metamorphic(output) } else { EXACT }
}

/// Why a class is not causal: the text encoder of CLIP is, that of SigLIP is not.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    class.starts_with("Siglip").then(|| format!("`{class}` reads a text in both directions"))
}

/// Whether the change is visible at the changed position or after it.
fn is_seen(before: &OutputsByPosition, after: &OutputsByPosition, start: usize, rest: usize) -> bool {
    before.positions.iter().zip(&after.positions).any(|((name, one), (_, other))| {
        compare(name, &one.narrow(1, start, rest), &other.narrow(1, start, rest), EXACT).failure.is_some()
    })
}
