//! The calls that every implementation computes: each recorded case, each case without one of its
//! optional inputs, and for attention a sequence with a cache.
//!
//! Without a mask, implementations take other kernels, and may assume another mask: a library can
//! be causal in one and not in the other.

use super::super::{
    super::{
        inputs::stream::TokenSequence,
        run::{Abort, CheckRun, SubjectUnderTest},
    },
    cached_sequences::{CachedInput, advance_in_steps, class_without_cache},
    routing::router_outputs,
};
use crate::{
    golden::{Golden, Router},
    tolerance::Tolerance,
};
use testgen_engine::Computation;
use testgen_nn::{array::Arrays, forward::ForwardError};
use testgen_types::Architecture;

/// A call with its result, or with the engine's error.
pub(super) struct TracedCall {
    pub(super) label: String,
    pub(super) inputs: Arrays,
    /// Whether the model may refuse the inputs.
    pub(super) optional: bool,
    pub(super) outcome: Result<TracedResult, String>,
}

/// The result of a call.
pub(super) struct TracedResult {
    pub(super) outputs: Arrays,
    /// Empty for models without experts.
    pub(super) routers: Vec<Router>,
}

/// Loads the model and computes every call.
pub(super) fn compute<'g>(
    run: &mut CheckRun<'_>,
    computation: Computation,
    golden: &'g Golden,
) -> Result<(Vec<TracedCall>, Tolerance<'g>), Abort> {
    let tested = run.subject_under_test()?;
    let tolerance = run.tolerance(golden, &tested);
    let mut computed = Vec::new();
    for (label, inputs, optional) in calls(golden) {
        let outcome = forward(run, &tested, &inputs);
        computed.push(TracedCall {
            label,
            inputs,
            optional,
            outcome: survived(run, outcome)?,
        });
    }
    // A sequence reports no routers, so experts that differ within their margin could not be left
    // out.
    if computation == Computation::Attention && run.spec().architecture != Architecture::Moe {
        computed.extend(sequences(run, &tested, golden)?);
    }
    Ok((computed, tolerance))
}

/// Labels and inputs, and whether the model may refuse them.
fn calls(golden: &Golden) -> Vec<(String, Arrays, bool)> {
    let mut calls = Vec::new();
    for case in &golden.cases {
        calls.push((format!("case {}", case.name), case.inputs.clone(), false));
        for name in case.inputs.keys().filter(|name| is_optional(name)) {
            let mut inputs = case.inputs.clone();
            inputs.remove(name);
            calls.push((format!("case {} without {name}", case.name), inputs, true));
        }
    }
    calls
}

/// Masks, positions and token types.
fn is_optional(name: &str) -> bool {
    // transformers has a default for most of them.
    name.ends_with("_mask") || matches!(name, "token_type_ids" | "position_ids")
}

fn forward(
    run: &CheckRun<'_>,
    tested: &SubjectUnderTest,
    inputs: &Arrays,
) -> Result<TracedResult, ForwardError> {
    let outputs = tested.model().forward(inputs)?.outputs;
    Ok(TracedResult {
        outputs,
        routers: router_outputs(run, tested.model(), inputs)?,
    })
}

/// An error that ended the engine ends the check; other errors are compared with the errors of the
/// other implementations.
fn survived<T>(
    run: &CheckRun<'_>,
    outcome: Result<T, ForwardError>,
) -> Result<Result<T, String>, Abort> {
    match outcome {
        Err(error) if run.engine.has_stopped() => Err(error.into()),
        outcome => Ok(outcome.map_err(|error| error.to_string())),
    }
}

/// Sequences that are read in chunks with a cache; empty for a model without a cache.
fn sequences(
    run: &CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
) -> Result<Vec<TracedCall>, Abort> {
    if !run.spec().architecture.generates() || class_without_cache(tested.model().class()).is_some()
    {
        return Ok(Vec::new());
    }
    let mut session = match tested.model().session() {
        Ok(session) => session,
        // No call: whether a model has a cache is the subject of `kv_cache_equivalence`.
        Err(error) if has_no_session(&error) => return Ok(Vec::new()),
        Err(error) => {
            return Ok(vec![TracedCall {
                label: "with a cache".to_owned(),
                inputs: Arrays::new(),
                optional: true,
                outcome: survived(run, Err(error))?,
            }]);
        }
    };
    let facts = run.text_facts(tested, golden);
    let mut computed = Vec::new();
    // Padding before a decoder's text sees no token, and `generate` makes none where there is an
    // encoder.
    let padded =
        |input: &CachedInput| facts.stream == TokenSequence::Text || input.label == "unpadded";
    for input in CachedInput::recorded(golden, facts)?
        .into_iter()
        .filter(padded)
    {
        let CachedInput { label, arrays } = input;
        let length = arrays[facts.stream.ids()].shape()[1];
        let steps = steps(length);
        let outcome = advance_in_steps(session.as_mut(), facts.stream, &arrays, &steps);
        let outcome = survived(run, outcome)?.map(|outputs| TracedResult {
            outputs,
            routers: Vec::new(),
        });
        // `kv_cache_equivalence` shows whether the model takes them.
        computed.push(TracedCall {
            label: format!("with a cache, {label}"),
            inputs: arrays,
            optional: true,
            outcome,
        });
        session.reset();
    }
    Ok(computed)
}

/// A prefix, a chunk after it, and single tokens, which take different kernels; of a short sequence
/// fewer of them.
fn steps(length: usize) -> [usize; 4] {
    let singles = length.min(2);
    let prefix = (length / 2).min(length - singles);
    [
        prefix,
        length - singles - prefix,
        singles.min(1),
        singles / 2,
    ]
}

/// Whether a model has no sequences with a cache, or the engine does not support them.
fn has_no_session(error: &ForwardError) -> bool {
    matches!(
        error,
        ForwardError::NoCache { .. } | ForwardError::Unsupported(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::OnHost;
    use testgen_types::ModelType;

    #[test]
    fn each_case_is_called_with_and_without_its_optional_inputs() {
        let calls = OnHost::for_architecture(Architecture::DecoderOnly)
            .run(|run| Ok::<_, Abort>(calls(&run.golden()?)));
        let called = calls.map(|calls| {
            calls
                .into_iter()
                .map(|(label, _, optional)| (label, optional))
                .collect()
        });
        let expected = [
            ("case main", false),
            ("case main without attention_mask", true),
            ("case case.1", false),
            ("case case.1 without attention_mask", true),
            ("case case.2", false),
            ("case case.2 without attention_mask", true),
            ("case case.2 without position_ids", true),
        ];
        assert_eq!(
            called,
            Ok::<Vec<_>, Abort>(
                expected
                    .map(|(label, optional)| (label.to_owned(), optional))
                    .into()
            )
        );
        assert!(
            is_optional("token_type_ids")
                && is_optional("pixel_attention_mask")
                && !is_optional("input_ids")
        );
    }

    #[test]
    fn the_steps_of_a_sequence_are_as_long_as_it() {
        for length in 0..40 {
            assert_eq!(steps(length).iter().sum::<usize>(), length);
        }
        assert_eq!(steps(24), [12, 10, 1, 1]);
        assert_eq!(
            [1, 2, 3].map(steps),
            [[0, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 1]]
        );
    }

    #[test]
    fn only_attention_of_a_generator_without_experts_is_called_with_a_cache() {
        let cached = |host: OnHost, computation| {
            host.run(|run| {
                let golden = run.golden()?;
                let (calls, _) = compute(run, computation, &golden)?;
                assert!(calls.iter().all(|call| call.outcome.is_ok()));
                let labels = calls.into_iter().map(|call| call.label);
                Ok::<Vec<_>, Abort>(
                    labels
                        .filter_map(|label| Some(label.strip_prefix("with a cache, ")?.to_owned()))
                        .collect(),
                )
            })
        };
        let both = ["unpadded", "padded left"].map(str::to_owned);
        assert_eq!(
            cached(
                OnHost::for_architecture(Architecture::DecoderOnly),
                Computation::Attention
            ),
            Ok(both.to_vec())
        );
        assert_eq!(
            cached(
                OnHost::for_architecture(Architecture::DecoderOnly),
                Computation::Experts
            ),
            Ok(Vec::new())
        );
        assert_eq!(
            cached(
                OnHost::for_architecture(Architecture::Moe),
                Computation::Attention
            ),
            Ok(Vec::new())
        );
        assert_eq!(
            cached(
                OnHost::for_architecture(Architecture::EncoderOnly),
                Computation::Attention
            ),
            Ok(Vec::new())
        );
        let classifier = OnHost::of_fixture(
            Architecture::DecoderOnly,
            ModelType::Llama,
            "llama_classification",
        );
        assert_eq!(cached(classifier, Computation::Attention), Ok(Vec::new()));
    }
}
