//! `causal_leak`: replacing a later token changes no bit of the outputs before it.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::outputs_by_position::{OutputsByPosition, forward_by_position, pairs},
    inputs::sequences::Sequences,
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::{compare::compare, golden::Golden, tolerance::Threshold};
use serde_json::Value;

/// A hidden token gets the attention weight 0, so not even rounding may differ.
const EXACT: Threshold = Threshold {
    rel_l2: 0.0,
    max_rel: 0.0,
};
const LENGTH: usize = 24;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::FirstSeesLast,
    "the first position sees the last",
    "before position 1",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    Abort::skip_if(inapplicable(tested.model().class()))?;
    let facts = run.text_facts(&tested, &golden);
    if !facts.causal {
        return Err(Abort::Skip(format!(
            "`{}` reads the whole text at once",
            tested.model().class()
        )));
    }
    Abort::skip_if(facts.too_short_for(2))?;
    let length = LENGTH.min(facts.longest);
    let rows = Sequences::generated(2, length, facts);
    let mut failures = Failures::default();
    let mut seen = false;
    let before = forward_by_position(run, &tested, facts.stream, &rows.unpadded(facts))?
        .require_positions()?;
    // Both ends, too: a mask that is off by one may show at the first or the last token alone.
    for start in [1, length / 2, length - 1] {
        let after = forward_by_position(
            run,
            &tested,
            facts.stream,
            &rows.changed_from(start, facts).unpadded(facts),
        )?;
        for (name, one, other) in pairs(&before.positions, &after.positions)? {
            let (earlier, got) = (one.narrow(1, 0, start), other.narrow(1, 0, start));
            let label = format!("{name} before position {start}");
            let threshold = allowed(run, &golden, &tested, name);
            failures.extend(run.compare_made(&label, &earlier, &got, threshold));
        }
        // Equal outputs before the change also come from a model that ignores its ids, so some
        // later output has to differ.
        seen |= is_seen(&before, &after, start, length - start);
    }
    if !seen {
        failures.push("the replaced tokens change no output at all, so this check proves nothing");
    }
    failures.conclude()?;
    Ok(None)
}

fn allowed(
    run: &CheckRun<'_>,
    golden: &Golden,
    tested: &SubjectUnderTest,
    output: &str,
) -> Threshold {
    // An expert of the native engine computes each token by itself. Libraries compute the tokens of
    // an expert as one product, and choose its kernel by their number, which a later token changes:
    // the threshold is then the threshold of two runs.
    if run.engine.process_name().is_some() && has_experts(tested.model().config()) {
        run.tolerance(golden, tested).metamorphic(output)
    } else {
        EXACT
    }
}

/// Whether a field, or one of a nested configuration, is a number of experts.
fn has_experts(config: &Value) -> bool {
    let Value::Object(fields) = config else {
        return false;
    };
    fields.iter().any(|(name, value)| {
        // A single expert computes all tokens, and no choice moves any.
        (name.contains("experts") && value.as_u64() > Some(1)) || has_experts(value)
    })
}

/// Why a class is not causal.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    // The text encoder of CLIP is causal, the one of SigLIP is not.
    class
        .starts_with("Siglip")
        .then(|| format!("`{class}` reads a text in both directions"))
}

/// Whether the change is visible at the changed position or after it.
fn is_seen(
    before: &OutputsByPosition,
    after: &OutputsByPosition,
    start: usize,
    rest: usize,
) -> bool {
    before
        .positions
        .iter()
        .zip(&after.positions)
        .any(|((name, one), (_, other))| {
            compare(
                name,
                &one.narrow(1, start, rest),
                &other.narrow(1, start, rest),
                EXACT,
            )
            .failure
            .is_some()
        })
}

#[cfg(test)]
mod tests {
    use super::{super::tests::OnHost, *};
    use crate::engine::CheckEngine;
    use serde_json::json;
    use testgen_nn::array::Array;
    use testgen_types::Architecture;

    #[test]
    fn only_classes_that_read_in_both_directions_are_left_out() {
        assert!(inapplicable("SiglipModel").is_some_and(|why| why.contains("`SiglipModel` reads")));
        assert_eq!(inapplicable("CLIPModel"), None);
    }

    #[test]
    fn a_change_is_seen_at_its_position_or_after_it() {
        let outputs = |values: [f32; 4]| OutputsByPosition {
            positions: vec![(
                "logits".to_owned(),
                Array::floats([1, 4, 1], values.to_vec()),
            )],
            pooled: Vec::new(),
        };
        let seen = |after: [f32; 4]| is_seen(&outputs([1.0, 2.0, 3.0, 4.0]), &outputs(after), 2, 2);
        assert!(seen([1.0, 2.0, 3.5, 4.0]) && seen([1.0, 2.0, 3.0, 4.5]));
        assert!(!seen([1.0, 2.0, 3.0, 4.0]));
        assert!(!seen([1.5, 2.5, 3.0, 4.0]), "that is a leak");
    }

    #[test]
    fn only_experts_of_an_engine_may_round_otherwise() {
        let threshold = |architecture, on_engine: bool| {
            OnHost::for_architecture(architecture).run(|run| {
                let (golden, tested) = (run.golden()?, run.subject_under_test()?);
                if on_engine {
                    run.engine = CheckEngine::new("scripted".parse()?);
                }
                Ok::<_, Abort>(allowed(run, &golden, &tested, "logits"))
            })
        };
        assert_eq!(threshold(Architecture::Moe, false), Ok(EXACT));
        assert_eq!(threshold(Architecture::DecoderOnly, false), Ok(EXACT));
        assert_eq!(threshold(Architecture::DecoderOnly, true), Ok(EXACT));
        assert!(threshold(Architecture::Moe, true).is_ok_and(|threshold| threshold.rel_l2 > 0.0));
    }

    #[test]
    fn experts_are_found_in_any_configuration() {
        assert!(has_experts(&json!({ "n_routed_experts": 4 })));
        assert!(has_experts(
            &json!({ "text_config": { "num_local_experts": 4 } })
        ));
        assert!(!has_experts(
            &json!({ "num_experts": 1, "n_shared_experts": null, "layers": 2 })
        ));
    }
}
