//! Matching tokens of two runs of a mixture of experts: those routed to the same experts, whose
//! outputs can be compared.
//!
//! Choosing experts is discontinuous: if the last chosen expert is hardly likelier than the next
//! one, a kernel for another shape may legitimately choose the other. From that token on, the row
//! is computed by other weights, so only the tokens before it are compared. The router
//! probabilities are compared as well: a margin below four times an error within its tolerance is
//! excused, the larger error of a wrong kernel is not.

mod choices;

use super::super::run::{CheckRun, Failures, RecordedOutput};
use crate::{
    golden::{Golden, Router},
    tolerance::Tolerance,
};
pub(in crate::check) use choices::compare_choices;
use std::borrow::Cow;
use testgen_models::Model;
use testgen_nn::{
    array::{Array, Arrays},
    forward::ForwardError,
};
use testgen_types::Architecture;

/// Two runs whose tokens are compared.
pub(in crate::check) struct RouterRuns<'a> {
    pub(in crate::check) golden: &'a Golden,
    pub(in crate::check) tolerance: Tolerance<'a>,
    pub(in crate::check) expected: &'a [Router],
    pub(in crate::check) got: &'a [Router],
}

/// The router outputs of a run by layer; empty for architectures without routers.
pub(in crate::check) fn router_outputs(
    run: &CheckRun<'_>,
    model: &Model,
    inputs: &Arrays,
) -> Result<Vec<Router>, ForwardError> {
    if run.spec().architecture != Architecture::Moe {
        return Ok(Vec::new());
    }
    let trace: Arrays = model.forward_traced(inputs)?.trace.into_iter().collect();
    let routers = trace.iter().filter_map(|(name, probabilities)| {
        let layer = name.strip_prefix("router.")?.parse().ok()?;
        let weights = trace.get(&format!("routing.{layer}"))?.clone();
        Some(Router {
            layer,
            probabilities: probabilities.clone(),
            weights,
        })
    });
    let mut routers: Vec<Router> = routers.collect();
    routers.sort_by_key(|router| router.layer);
    Ok(routers)
}

/// The router outputs for a part of the run; `part` selects it from an array [batch, seq, experts].
pub(in crate::check) fn of_part(routers: &[Router], part: impl Fn(&Array) -> Array) -> Vec<Router> {
    routers.iter().map(|router| router.map(&part)).collect()
}

/// Compares the router outputs of two runs, and returns the tokens that were routed to the same
/// experts.
pub(in crate::check) fn matching_tokens(
    run: &mut CheckRun<'_>,
    what: &str,
    runs: RouterRuns<'_>,
    failures: &mut Failures,
) -> MatchingTokens {
    let routers = runs.expected;
    let Some(&[rows, columns, _]) = routers.first().map(|router| router.weights.shape()) else {
        return MatchingTokens::default();
    };
    let mut matching = MatchingTokens {
        columns,
        limits: vec![columns; rows],
    };
    for expected in routers {
        let Some(got) = runs.got.iter().find(|got| got.layer == expected.layer) else {
            failures.push(format!(
                "{what}: `router.{}` was not computed",
                expected.layer
            ));
            continue;
        };
        // In every layer again: tokens after another choice of experts are computed by other
        // weights in all later layers.
        let tokens = matching.tokens();
        let [expected, got] =
            [expected, got].map(|router| router.map(|array| by_token(array).select_rows(&tokens)));
        failures.extend(compare_probabilities(run, what, &runs, &expected, &got));
        let choices = compare_choices(&expected, &got);
        failures.extend(
            choices
                .different
                .into_iter()
                .map(|difference| format!("{what}, layer {}, {difference}", expected.layer)),
        );
        matching.end_rows_at(choices.within_margin.iter().map(|index| tokens[*index]));
        if matching.tokens().is_empty() {
            failures.push(format!(
                "{what}: every row is routed to other experts from its first token on, so nothing can be compared"
            ));
            break;
        }
    }
    matching
}

/// The failure if the probabilities of a layer's router differ.
fn compare_probabilities(
    run: &mut CheckRun<'_>,
    what: &str,
    runs: &RouterRuns<'_>,
    expected: &Router,
    got: &Router,
) -> Option<String> {
    let name = format!("router.{}", expected.layer);
    let output = RecordedOutput {
        golden: runs.golden,
        name: &name,
        tolerance: runs.tolerance,
    };
    let label = format!("{name}, {what}");
    run.compare_runs(&label, output, &expected.probabilities, &got.probabilities)
}

/// The leading tokens of each row that were routed to the same experts; all tokens if there are no
/// routers.
#[derive(Debug, Default)]
pub(in crate::check) struct MatchingTokens {
    columns: usize,
    /// The number of leading tokens of each row.
    limits: Vec<usize>,
}

impl MatchingTokens {
    /// How many tokens are left out.
    pub(in crate::check) fn left_out(&self) -> usize {
        self.limits.iter().map(|limit| self.columns - limit).sum()
    }

    /// The part of an output that can be compared, or `None` if nothing is left.
    ///
    /// An output with an entry per position becomes [tokens, ...].
    pub(in crate::check) fn select<'a>(&self, output: &'a Array) -> Option<Cow<'a, Array>> {
        // Most runs choose the same experts, and nothing is copied.
        if self.left_out() == 0 {
            return Some(Cow::Borrowed(output));
        }
        let per_position =
            output.shape().len() > 2 && output.shape()[..2] == [self.limits.len(), self.columns];
        // A pooled output keeps the rows of which no token is left out, because it depends on all
        // of them.
        let kept = if per_position {
            by_token(output).select_rows(&self.tokens())
        } else {
            output.select_rows(
                &(0..self.limits.len())
                    .filter(|row| self.limits[*row] == self.columns)
                    .collect::<Vec<_>>(),
            )
        };
        (kept.shape()[0] > 0).then_some(Cow::Owned(kept))
    }

    fn tokens(&self) -> Vec<usize> {
        self.limits
            .iter()
            .enumerate()
            .flat_map(|(row, limit)| row * self.columns..row * self.columns + limit)
            .collect()
    }

    fn end_rows_at(&mut self, tokens: impl Iterator<Item = usize>) {
        for token in tokens {
            let limit = &mut self.limits[token / self.columns];
            *limit = (*limit).min(token % self.columns);
        }
    }
}

/// [batch, seq, ...] as [tokens, ...].
pub(in crate::check) fn by_token(array: &Array) -> Array {
    let shape = array.shape();
    let (tokens, rest) = (shape[0] * shape[1], &shape[2..]);
    Array::floats(
        [&[tokens], rest].concat(),
        array.as_floats().unwrap_or_default().to_vec(),
    )
}

#[cfg(test)]
mod tests {
    use super::{choices::tests::router, *};
    use crate::check::{run::Abort, tests::OnHost};

    #[test]
    fn only_tokens_before_another_choice_are_compared() {
        let mut matching = MatchingTokens {
            columns: 3,
            limits: vec![3; 2],
        };
        let output = Array::floats([2, 3, 1], (0..6u8).map(f32::from).collect());
        let kept = |matching: &MatchingTokens, output: &Array| {
            Some(matching.select(output)?.as_floats()?.to_vec())
        };
        assert_eq!(kept(&matching, &output).as_deref(), output.as_floats());
        matching.end_rows_at([5, 4].into_iter());
        assert_eq!(matching.left_out(), 2);
        assert_eq!(kept(&matching, &output), Some(vec![0.0, 1.0, 2.0, 3.0]));
        let pooled = Array::floats([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(kept(&matching, &pooled), Some(vec![1.0, 2.0]));
        matching.end_rows_at([2].into_iter());
        assert_eq!(kept(&matching, &pooled), None);
    }

    #[test]
    fn a_row_ends_at_the_position_of_its_token() {
        for (token, left_out) in [(0, 3), (1, 2), (2, 1), (3, 3), (5, 1)] {
            let mut matching = MatchingTokens {
                columns: 3,
                limits: vec![3; 2],
            };
            matching.end_rows_at([token].into_iter());
            assert_eq!(matching.left_out(), left_out, "token {token}");
        }
    }

    /// Neither a width that is the number of positions nor a third dimension makes an output one of
    /// positions.
    #[test]
    fn outputs_without_positions_keep_whole_rows() {
        let mut matching = MatchingTokens {
            columns: 3,
            limits: vec![3; 2],
        };
        matching.end_rows_at([5].into_iter());
        for shape in [&[2, 3][..], &[2, 1, 3], &[2, 4, 3]] {
            let output = Array::floats(shape, vec![1.0; shape.iter().product()]);
            let kept = matching.select(&output).map(|kept| kept.shape().to_vec());
            assert_eq!(kept, Some([&[1], &shape[1..]].concat()));
        }
    }

    #[test]
    fn a_missing_router_is_a_failure() {
        let expected = [router([0.5, 0.3, 0.2], [1.0, 0.0, 0.0])];
        let failure = OnHost::for_architecture(Architecture::Moe).run(|run| {
            let (golden, tested) = (run.golden()?, run.subject_under_test()?);
            let runs = RouterRuns {
                golden: &golden,
                tolerance: run.tolerance(&golden, &tested),
                expected: &expected,
                got: &[],
            };
            let mut failures = Failures::default();
            matching_tokens(run, "alone", runs, &mut failures);
            failures.conclude()
        });
        let why = "alone: `router.0` was not computed".to_owned();
        assert_eq!(failure, Err(Abort::Fail(why)));
    }

    #[test]
    fn a_part_is_taken_of_every_router() {
        let whole = [
            router([0.5, 0.3, 0.2], [1.0, 0.0, 0.0]),
            router([0.1, 0.2, 0.7], [0.0, 0.0, 1.0]),
        ];
        let parts = of_part(&whole, |array| array.narrow(2, 1, 2));
        let values = |array: &Array| array.as_floats().unwrap_or_default().to_vec();
        let parts: Vec<_> = parts
            .iter()
            .map(|part| (values(&part.probabilities), values(&part.weights)))
            .collect();
        assert_eq!(
            parts,
            [
                (vec![0.3, 0.2], vec![0.0, 0.0]),
                (vec![0.2, 0.7], vec![0.0, 1.0])
            ]
        );
    }
}
