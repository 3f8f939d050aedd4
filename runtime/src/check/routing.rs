//! Where two runs of a model with experts went to the same ones, and which tokens of the two can be compared.
//!
//! The choice of experts jumps: where the last chosen expert is hardly likelier than the next one, a kernel of another shape
//! may rightly choose the other. From that token on its row is another path through the model, so only what stands in front
//! of it is compared. The probabilities are compared, too: a margin below four times an error within its tolerance excuses,
//! the error of a wrong kernel does not.

use super::{Examination, Failures};
use crate::{
    Array, Arrays, ForwardError, Model,
    compare::{Measured, measure},
    golden::{Golden, Router},
    tolerance::Tolerance,
};
use std::borrow::Cow;
use testgen_contract::Architecture;

/// How many times larger than the error of the probabilities a margin must be, to decide.
const FACTOR: f64 = 4.0;

/// What the routers of a run decided, by layer.
pub(super) type Decisions = Vec<(usize, Router)>;

/// What they decide for `inputs`; nothing for an architecture without.
pub(super) fn decisions(exam: &Examination<'_>, model: &Model, inputs: &Arrays) -> Result<Decisions, ForwardError> {
    if exam.spec().architecture != Architecture::Moe {
        return Ok(Vec::new());
    }
    let trace: Arrays = model.forward_traced(inputs)?.trace.into_iter().collect();
    let router = |name: &str| {
        let layer = name.strip_prefix("router.")?.parse().ok()?;
        let [probabilities, weights] =
            [name.to_owned(), format!("routing.{layer}")].map(|name| trace.get(&name).cloned());
        Some((layer, Router { probabilities: probabilities?, weights: weights? }))
    };
    let mut found: Decisions = trace.keys().filter_map(|name| router(name)).collect();
    found.sort_by_key(|(layer, _)| *layer);
    Ok(found)
}

/// The same decisions for a part of the run: what `part` takes of an array [batch, seq, experts].
pub(super) fn of_part(decisions: &Decisions, part: impl Fn(&Array) -> Array) -> Decisions {
    let of = |router: &Router| Router { probabilities: part(&router.probabilities), weights: part(&router.weights) };
    decisions.iter().map(|(layer, router)| (*layer, of(router))).collect()
}

/// Compares the decisions of two runs, and tells which of their tokens went the same way.
pub(super) fn comparable(
    exam: &mut Examination<'_>,
    (golden, tolerance): (&Golden, Tolerance<'_>),
    what: &str,
    [expected, got]: [&Decisions; 2],
    failures: &mut Failures,
) -> Comparable {
    let Some(&[rows, columns, _]) = expected.first().map(|(_, router)| router.weights.shape()) else {
        return Comparable::default();
    };
    let mut comparable = Comparable { columns, limits: vec![columns; rows] };
    for ((layer, one), (_, other)) in expected.iter().zip(got) {
        let tokens = comparable.tokens();
        let of = |array: &Array| by_token(array).select_rows(&tokens);
        let [one, other] = [one, other]
            .map(|router| Router { probabilities: of(&router.probabilities), weights: of(&router.weights) });
        let name = format!("router.{layer}");
        let both = [&one.probabilities, &other.probabilities];
        failures.note(exam.compare_runs(&format!("{name}, {what}"), (golden, &name), both, tolerance));
        let judged = judge(&one, &other.probabilities, &other.weights);
        for other in judged.others {
            failures.push(format!("{what}, layer {layer}, {other}"));
        }
        comparable.end_at(judged.excused.iter().map(|index| tokens[*index]));
        if comparable.tokens().is_empty() {
            failures.push(format!(
                "{what}: every row goes to other experts from its first token on, nothing can be compared"
            ));
            break;
        }
    }
    comparable
}

/// The first tokens of each row; all of an architecture without routers.
#[derive(Debug, Default)]
pub(super) struct Comparable {
    columns: usize,
    limits: Vec<usize>,
}

impl Comparable {
    /// How many tokens are left out.
    pub(super) fn left_out(&self) -> usize {
        self.limits.iter().map(|limit| self.columns - limit).sum()
    }

    /// What can be compared of an output: whole, or tokens [tokens, ...], or of one that is not per position the whole rows.
    pub(super) fn of<'a>(&self, output: &'a Array) -> Cow<'a, Array> {
        if self.left_out() == 0 {
            return Cow::Borrowed(output);
        }
        let per_position = output.shape().len() > 2 && output.shape()[..2] == [self.limits.len(), self.columns];
        Cow::Owned(if per_position {
            by_token(output).select_rows(&self.tokens())
        } else {
            let whole = |row: &usize| self.limits[*row] == self.columns;
            output.select_rows(&(0..self.limits.len()).filter(whole).collect::<Vec<_>>())
        })
    }

    fn tokens(&self) -> Vec<usize> {
        let row = |(row, limit): (usize, &usize)| row * self.columns..row * self.columns + limit;
        self.limits.iter().enumerate().flat_map(row).collect()
    }

    fn end_at(&mut self, tokens: impl Iterator<Item = usize>) {
        for token in tokens {
            let limit = &mut self.limits[token / self.columns];
            *limit = (*limit).min(token % self.columns);
        }
    }
}

/// The tokens, by whether they went to the same experts.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) same: Vec<usize>,
    pub(super) excused: Vec<usize>,
    pub(super) others: Vec<String>,
}

/// Every token of `recorded` beside what was found for it.
pub(super) fn judge(recorded: &Router, likely: &Array, weighed: &Array) -> Judged {
    let mut judged = Judged::default();
    let count = recorded.weights.shape().last().copied().unwrap_or(1);
    let rows =
        |array: &Array| array.as_floats().unwrap_or_default().chunks(count).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let recorded = rows(&recorded.probabilities).into_iter().zip(rows(&recorded.weights));
    let found = rows(likely).into_iter().zip(rows(weighed));
    for (token, ((expected, wanted), (found, got))) in recorded.zip(found).enumerate() {
        let [expected, wanted, found, got] = [&expected, &wanted, &found, &got];
        if chosen(wanted) == chosen(got) {
            judged.same.push(token);
            continue;
        }
        let Measured { max_difference: error, .. } = measure(expected, found);
        let margin = margin(expected, wanted);
        if margin < FACTOR * error {
            judged.excused.push(token);
        } else {
            let (wanted, got) = (chosen(wanted), chosen(got));
            judged.others.push(format!(
                "token {token}: experts {got:?} instead of {wanted:?}, although the margin {margin:.3e} is at least {FACTOR} \
                 times the error {error:.3e}"
            ));
        }
    }
    judged
}

fn chosen(weights: &[f32]) -> Vec<usize> {
    (0..weights.len()).filter(|expert| weights[*expert] != 0.0).collect()
}

/// Between the least likely expert that was chosen and the likeliest that was not.
fn margin(probabilities: &[f32], weights: &[f32]) -> f64 {
    let of = |wanted: bool| probabilities.iter().zip(weights).filter(move |(_, weight)| (**weight != 0.0) == wanted);
    let least = of(true).map(|(probability, _)| *probability).fold(f32::INFINITY, f32::min);
    let next = of(false).map(|(probability, _)| *probability).fold(f32::NEG_INFINITY, f32::max);
    f64::from(least) - f64::from(next)
}

/// [batch, seq, ...] as [tokens, ...].
pub(super) fn by_token(array: &Array) -> Array {
    let shape = array.shape();
    let (tokens, rest) = (shape[0] * shape[1], &shape[2..]);
    Array::floats([&[tokens], rest].concat(), array.as_floats().unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(recorded: [f32; 3], found: [f32; 3]) -> Judged {
        let two_likeliest = |probabilities: [f32; 3]| {
            let least = probabilities.iter().copied().fold(f32::INFINITY, f32::min);
            probabilities.map(|probability| if probability == least { 0.0 } else { probability })
        };
        let array = |values: [f32; 3]| Array::floats([1, 1, 3], values.to_vec());
        let recorded = Router { probabilities: array(recorded), weights: array(two_likeliest(recorded)) };
        judge(&recorded, &array(found), &array(two_likeliest(found)))
    }

    #[test]
    fn only_a_margin_below_the_error_excuses_other_experts() {
        assert_eq!(judged([0.5, 0.3, 0.2], [0.5, 0.29, 0.21]).same, [0]);
        let close = judged([0.5, 0.26, 0.24], [0.5, 0.24, 0.26]);
        assert!(close.same.is_empty() && close.excused == [0] && close.others.is_empty());
        let far = judged([0.7, 0.28, 0.02], [0.71, 0.14, 0.15]);
        assert!(far.excused == [0], "the error is as large as the margin");
    }

    #[test]
    fn another_choice_from_the_same_probabilities_is_none_to_excuse() {
        let array = |values: [f32; 3]| Array::floats([1, 1, 3], values.to_vec());
        let recorded = Router { probabilities: array([0.5, 0.3, 0.2]), weights: array([0.5, 0.3, 0.0]) };
        let found = judge(&recorded, &array([0.5, 0.3, 0.2]), &array([0.5, 0.0, 0.2]));
        assert_eq!(found.others.len(), 1);
        assert!(found.others[0].contains("[0, 2] instead of [0, 1]"), "{:?}", found.others);
    }

    #[test]
    fn only_what_stands_in_front_of_another_choice_is_compared() {
        let mut comparable = Comparable { columns: 3, limits: vec![3; 2] };
        let output = Array::floats([2, 3, 1], (0..6u8).map(f32::from).collect());
        assert_eq!(comparable.of(&output).as_floats(), output.as_floats());
        comparable.end_at([5, 4].into_iter());
        assert_eq!(comparable.left_out(), 2);
        assert_eq!(comparable.of(&output).as_floats(), Some(&[0.0, 1.0, 2.0, 3.0][..]));
        let pooled = Array::floats([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(comparable.of(&pooled).as_floats(), Some(&[1.0, 2.0][..]));
    }
}
