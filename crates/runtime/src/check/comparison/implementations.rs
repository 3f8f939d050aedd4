//! Comparing the implementations that an engine has of one computation, on one device, in one
//! precision.
//!
//! Owns loading each of them and what is reported of them; the calls are in `calls`, the comparison
//! of the outputs of one call is in `pair`.

mod calls;
mod pair;

use super::super::run::{Abort, CheckResult, CheckRun, Failures};
use crate::{golden::Golden, tolerance::Tolerance};
use calls::{TracedCall, compute};
use pair::ImplementationPair;
use testgen_engine::Computation;

/// An implementation with what it computed.
struct ImplementationResults<'g> {
    name: String,
    calls: Vec<TracedCall>,
    tolerance: Tolerance<'g>,
}

impl ImplementationResults<'_> {
    fn find(&self, label: &str) -> Option<&TracedCall> {
        self.calls.iter().find(|call| call.label == label)
    }
}

/// Compares every implementation with the first.
pub(in crate::check) fn compare_all(
    run: &mut CheckRun<'_>,
    computation: Computation,
) -> CheckResult {
    let golden = run.golden()?;
    let (mut results, mut lacking): (Vec<ImplementationResults<'_>>, _) = (Vec::new(), Vec::new());
    for name in declared(run, computation)? {
        let own = run.engine.clone();
        run.engine = own.with_implementation(computation, &name);
        let computed = compute(run, computation, &golden);
        // Before anything returns: the next implementation starts from the column's own engine.
        run.engine = own;
        match (computed, run.unsupported.take()) {
            (Ok((calls, tolerance)), _) => results.push(ImplementationResults {
                name,
                calls,
                tolerance,
            }),
            (Err(_), Some(what)) => {
                // The endpoint was a mock because the class lacks this implementation; the others
                // are compared.
                run.forget_mocks();
                lacking.push(format!("{name}: {what}"));
            }
            (Err(abort), None) => return Err(abort),
        }
    }
    let Some((first, others)) = results
        .split_first()
        .filter(|(_, others)| !others.is_empty())
    else {
        let computation = computation.as_str();
        return Err(Abort::Skip(format!(
            "there are no two implementations of {computation}: {}",
            lacking.join("; ")
        )));
    };
    let mut failures = Failures::default();
    let mut left_out = 0;
    for other in others {
        left_out += compare(run, &golden, [first, other], &mut failures);
    }
    failures.conclude()?;
    Ok(Some(summary(&results, left_out, &lacking)))
}

/// The names of the implementations that the engine declares.
fn declared(run: &mut CheckRun<'_>, computation: Computation) -> Result<Vec<String>, Abort> {
    // Opening the device starts the engine. An absent device ends the check with its reason; that
    // the engine refuses the column's own implementation for this model does not, because others
    // are compared.
    let loaded = run.subject_under_test().map(drop);
    let names = run
        .engine
        .process()
        .map(|process| process.engine().implementations(computation).to_vec())
        .unwrap_or_default();
    match (loaded, run.unsupported.take()) {
        (Err(abort), None) => return Err(abort),
        (Err(abort), Some(_)) if names.is_empty() => return Err(abort),
        _ => run.forget_mocks(),
    }
    if names.len() < 2 {
        return Err(Abort::Skip(format!(
            "the engine has one implementation of {} only",
            computation.as_str()
        )));
    }
    Ok(names)
}

/// Compares the calls of two implementations. Returns the number of tokens that are left out
/// because they were routed to other experts.
fn compare(
    run: &mut CheckRun<'_>,
    golden: &Golden,
    [first, other]: [&ImplementationResults<'_>; 2],
    failures: &mut Failures,
) -> usize {
    let mut left_out = 0;
    for (expected, got) in pairs([first, other], failures) {
        let what = format!("{}, {} against {}", expected.label, other.name, first.name);
        match (&expected.outcome, &got.outcome) {
            (Ok(left), Ok(right)) => {
                let pair = ImplementationPair {
                    golden,
                    tolerance: first.tolerance,
                    inputs: &expected.inputs,
                    left,
                    right,
                };
                left_out += pair.compare(run, &what, failures);
            }
            // A class may need an input that is optional for others.
            (Err(_), Err(_)) if expected.optional => {}
            (Err(error), _) => {
                failures.push(format!("{}, {}: {error}", expected.label, first.name))
            }
            (_, Err(error)) => {
                failures.push(format!("{}, {}: {error}", expected.label, other.name))
            }
        }
    }
    left_out
}

/// The calls of both implementations with the same label. A call of one of them alone is a failure.
fn pairs<'r>(
    [first, other]: [&'r ImplementationResults<'_>; 2],
    failures: &mut Failures,
) -> Vec<(&'r TracedCall, &'r TracedCall)> {
    // Nothing would be compared with a call of one of them alone.
    for (own, others) in [(first, other), (other, first)] {
        let alone = own.calls.iter();
        let alone = alone.filter(|call| others.find(&call.label).is_none());
        failures.extend(alone.map(|call| {
            format!(
                "{}: {} computes it, and {} does not",
                call.label, own.name, others.name
            )
        }));
    }
    let both = first.calls.iter();
    both.filter_map(|call| Some((call, other.find(&call.label)?)))
        .collect()
}

/// The implementations that were compared, and the implementations that were not.
fn summary(results: &[ImplementationResults<'_>], left_out: usize, lacking: &[String]) -> String {
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    let calls = results[0]
        .calls
        .iter()
        .filter(|call| call.outcome.is_ok())
        .count();
    let mut text = format!("{} agree in {calls} calls", names.join(", "));
    if left_out > 0 {
        text.push_str(&format!(
            "; {left_out} tokens are routed to other experts within their margin"
        ));
    }
    lacking
        .iter()
        .for_each(|what| text.push_str(&format!("; not compared: {what}")));
    text
}

#[cfg(test)]
mod tests {
    use super::{calls::TracedResult, *};
    use crate::check::tests::OnHost;
    use crate::golden::{Noise, Router};
    use testgen_nn::array::{Array, Arrays};
    use testgen_types::{Architecture, Precision};

    fn results<'g>(
        name: &str,
        noise: &'g Noise,
        outcomes: Vec<Result<TracedResult, String>>,
    ) -> ImplementationResults<'g> {
        let call = |(index, outcome)| TracedCall {
            label: format!("case {index}"),
            inputs: Arrays::new(),
            optional: false,
            outcome,
        };
        let tolerance = Tolerance::new(noise, &[], Precision::F32, false);
        ImplementationResults {
            name: name.to_owned(),
            calls: outcomes.into_iter().enumerate().map(call).collect(),
            tolerance,
        }
    }

    /// Two tokens, the second of which has two equally likely experts.
    fn routed(to_last: bool) -> TracedResult {
        let half = if to_last { 0.25_f32.next_up() } else { 0.25 };
        let probabilities = Array::floats([1, 2, 3], vec![0.6, 0.3, 0.1, 0.5, 0.25, half]);
        let chosen = if to_last { [0.0, 0.25] } else { [0.25, 0.0] };
        let weights = Array::floats([1, 2, 3], vec![0.6, 0.3, 0.0, 0.5, chosen[0], chosen[1]]);
        TracedResult {
            outputs: Arrays::new(),
            routers: vec![Router {
                layer: 0,
                probabilities,
                weights,
            }],
        }
    }

    #[test]
    fn tokens_of_other_experts_are_counted_over_all_calls() {
        let noise = Noise::default();
        let first = results("first", &noise, vec![Ok(routed(false)), Ok(routed(false))]);
        let left_out = |others: [bool; 2]| {
            let other = results(
                "second",
                &noise,
                others.map(|to_last| Ok(routed(to_last))).into(),
            );
            OnHost::for_architecture(Architecture::Moe).run(|run| {
                let (golden, mut failures) = (run.golden()?, Failures::default());
                let left_out = compare(run, &golden, [&first, &other], &mut failures);
                failures.conclude().map(|()| left_out)
            })
        };
        assert_eq!(left_out([false, false]), Ok(0));
        assert_eq!(left_out([false, true]), Ok(1));
        assert_eq!(left_out([true, true]), Ok(2));
    }

    /// A session with a cache, for instance, that one implementation cannot open.
    #[test]
    fn a_call_that_one_implementation_lacks_is_a_failure() {
        let noise = Noise::default();
        let computed = |count: usize| (0..count).map(|_| Ok(routed(false))).collect();
        let compared = |first: usize, other: usize| {
            let first = results("first", &noise, computed(first));
            let other = results("second", &noise, computed(other));
            OnHost::for_architecture(Architecture::Moe).run(|run| {
                let (golden, mut failures) = (run.golden()?, Failures::default());
                compare(run, &golden, [&first, &other], &mut failures);
                failures.conclude()
            })
        };
        assert_eq!(compared(2, 2), Ok(()));
        let lacks = |own: &str, other: &str| {
            let reason = format!("case 1: {own} computes it, and {other} does not");
            Err(Abort::Fail(reason))
        };
        assert_eq!(compared(2, 1), lacks("first", "second"));
        assert_eq!(compared(1, 2), lacks("second", "first"));
    }

    #[test]
    fn the_summary_counts_calls_and_names_what_is_left_out() {
        let noise = Noise::default();
        let computed = || Ok(routed(false));
        let both = [
            results(
                "first",
                &noise,
                vec![computed(), computed(), Err("no mask".to_owned())],
            ),
            results("second", &noise, Vec::new()),
        ];
        assert_eq!(summary(&both, 0, &[]), "first, second agree in 2 calls");
        let lacking = ["third: no such attention".to_owned()];
        assert_eq!(
            summary(&both, 3, &lacking),
            "first, second agree in 2 calls; 3 tokens are routed to other experts within their margin; \
             not compared: third: no such attention"
        );
    }
}
