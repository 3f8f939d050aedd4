//! The experts that two runs choose for each token, and whether another choice is excused.

use crate::{
    compare::{MeasuredError, measure},
    golden::Router,
};
use testgen_nn::array::Array;

/// How many times larger than the error of the probabilities a margin must be to decide the choice.
const MARGIN_FACTOR: f64 = 4.0;

/// Token numbers, by whether the same experts were chosen.
#[derive(Default)]
pub(in crate::check) struct Choices {
    pub(in crate::check) same: Vec<usize>,
    /// Other experts, but the margin is below the error.
    pub(in crate::check) within_margin: Vec<usize>,
    /// Other experts although the margin decides, as failures.
    pub(in crate::check) different: Vec<String>,
}

/// Compares the experts chosen for every token.
pub(in crate::check) fn compare_choices(expected: &Router, got: &Router) -> Choices {
    let mut choices = Choices::default();
    let experts = expected.weights.shape().last().copied().unwrap_or(1);
    let expected = rows(&expected.probabilities, experts)
        .into_iter()
        .zip(rows(&expected.weights, experts));
    let got = rows(&got.probabilities, experts)
        .into_iter()
        .zip(rows(&got.weights, experts));
    for (token, ((probabilities, weights), (got_probabilities, got_weights))) in
        expected.zip(got).enumerate()
    {
        let (expected, got) = (chosen(&weights), chosen(&got_weights));
        if expected == got {
            choices.same.push(token);
            continue;
        }
        let MeasuredError {
            max_difference: error,
            ..
        } = measure(&probabilities, &got_probabilities);
        let margin = margin(&probabilities, &weights);
        if margin < MARGIN_FACTOR * error {
            choices.within_margin.push(token);
        } else {
            choices.different.push(format!(
                "token {token}: experts {got:?} instead of {expected:?}, although the margin {margin:.3e} is at least \
                 {MARGIN_FACTOR} times the error {error:.3e}"
            ));
        }
    }
    choices
}

fn chosen(weights: &[f32]) -> Vec<usize> {
    (0..weights.len())
        // The weight of every expert that a router does not choose is 0.
        .filter(|expert| weights[*expert] != 0.0)
        .collect()
}

/// The difference between the least likely chosen expert and the likeliest other one.
fn margin(probabilities: &[f32], weights: &[f32]) -> f64 {
    let experts = |chosen: bool| {
        probabilities
            .iter()
            .zip(weights)
            .filter(move |(_, weight)| (**weight != 0.0) == chosen)
    };
    let least = experts(true)
        .map(|(probability, _)| *probability)
        .fold(f32::INFINITY, f32::min);
    // If every expert is chosen, this is minus infinity, and the infinite margin excuses nothing.
    let next = experts(false)
        .map(|(probability, _)| *probability)
        .fold(f32::NEG_INFINITY, f32::max);
    f64::from(least) - f64::from(next)
}

fn rows(array: &Array, experts: usize) -> Vec<Vec<f32>> {
    array
        .as_floats()
        .unwrap_or_default()
        .chunks(experts)
        .map(<[f32]>::to_vec)
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A router of one token.
    pub(in crate::check::comparison::routing) fn router(
        probabilities: [f32; 3],
        weights: [f32; 3],
    ) -> Router {
        let array = |values: [f32; 3]| Array::floats([1, 1, 3], values.to_vec());
        Router {
            layer: 0,
            probabilities: array(probabilities),
            weights: array(weights),
        }
    }

    fn two_likeliest(probabilities: [f32; 3]) -> Router {
        let least = probabilities.iter().copied().fold(f32::INFINITY, f32::min);
        router(
            probabilities,
            probabilities.map(|probability| {
                if probability == least {
                    0.0
                } else {
                    probability
                }
            }),
        )
    }

    fn choices(expected: [f32; 3], got: [f32; 3]) -> Choices {
        compare_choices(&two_likeliest(expected), &two_likeliest(got))
    }

    #[test]
    fn only_a_margin_below_the_error_excuses_other_experts() {
        assert_eq!(choices([0.5, 0.3, 0.2], [0.5, 0.29, 0.21]).same, [0]);
        let close = choices([0.5, 0.26, 0.24], [0.5, 0.24, 0.26]);
        assert!(close.same.is_empty() && close.within_margin == [0] && close.different.is_empty());
        let far = choices([0.7, 0.28, 0.02], [0.71, 0.14, 0.15]);
        assert!(
            far.within_margin == [0],
            "the error is as large as the margin"
        );
    }

    #[test]
    fn another_choice_from_the_same_probabilities_is_a_failure() {
        let got = compare_choices(
            &router([0.5, 0.3, 0.2], [0.5, 0.3, 0.0]),
            &router([0.5, 0.3, 0.2], [0.5, 0.0, 0.2]),
        );
        assert_eq!(got.different.len(), 1);
        assert!(
            got.different[0].contains("[0, 2] instead of [0, 1]"),
            "{:?}",
            got.different
        );
    }

    #[test]
    fn a_tie_excuses_other_experts_only_where_there_is_an_error() {
        let tied = [0.5, 0.25, 0.25];
        let got = compare_choices(
            &router(tied, [0.5, 0.25, 0.0]),
            &router(tied, [0.5, 0.0, 0.25]),
        );
        assert!(got.within_margin.is_empty() && got.different.len() == 1);
    }
}
