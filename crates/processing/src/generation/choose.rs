//! Chooses one token from logits.

use super::{
    rules::TokenContext,
    settings::{GenerationSettings, Sampling},
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use std::collections::BTreeSet;

/// Chooses the tokens of one row, with its previous tokens and its random numbers.
///
/// ChaCha with 8 rounds: its stream for a seed is fixed by its definition, on every machine and in
/// every version.
pub(super) struct Chooser {
    seen: BTreeSet<i64>,
    /// The prompt and what was chosen since.
    sequence: Vec<i64>,
    random: ChaCha8Rng,
}

impl Chooser {
    pub(super) fn new(prompt: Vec<i64>, settings: &GenerationSettings) -> Self {
        let seed = settings.sampling.map_or(0, |sampling| sampling.seed);
        let seen = prompt.iter().copied().collect();
        Self {
            seen,
            sequence: prompt,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// The token chosen from `logits` [vocabulary] when `added` tokens were chosen before, or
    /// `None` if NaN or +infinity is there, or nothing that can be chosen.
    pub(super) fn choose(
        &mut self,
        logits: &[f32],
        added: usize,
        settings: &GenerationSettings,
    ) -> Option<i64> {
        // Minus infinity is allowed: it is how a token is forbidden.
        if logits
            .iter()
            .any(|logit| logit.is_nan() || *logit == f32::INFINITY)
        {
            return None;
        }
        let mut scores = logits.to_vec();
        self.penalize(&mut scores, settings.repetition_penalty);
        let context = TokenContext {
            sequence: &self.sequence,
            added,
            min_new_tokens: settings.min_new_tokens,
            max_new_tokens: settings.max_new_tokens,
            end: &settings.eos,
        };
        settings.rules.apply(&mut scores, &context);
        let token = match &settings.sampling {
            None => likeliest(&scores)?,
            Some(sampling) => draw(&scores, sampling, self.uniform())?,
        };
        self.seen.insert(token as i64);
        self.sequence.push(token as i64);
        Some(token as i64)
    }

    /// `RepetitionPenaltyLogitsProcessor`.
    fn penalize(&self, scores: &mut [f32], penalty: f32) {
        // A set: a token that occurs several times is penalized once.
        for token in &self.seen {
            if let Some(score) = usize::try_from(*token)
                .ok()
                .and_then(|token| scores.get_mut(token))
            {
                *score = if *score < 0.0 {
                    *score * penalty
                } else {
                    *score / penalty
                };
            }
        }
    }

    /// A number of 53 bits from 0 to below 1.
    fn uniform(&mut self) -> f64 {
        // The 53 bits that f64 keeps.
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The first of the largest.
fn likeliest(scores: &[f32]) -> Option<usize> {
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if best == f32::NEG_INFINITY {
        None
    } else {
        scores.iter().position(|score| *score == best)
    }
}

/// The token in whose share of the whole `uniform` falls, tokens taken in the order of their ids.
fn draw(scores: &[f32], sampling: &Sampling, uniform: f64) -> Option<usize> {
    let best = f64::from(scores[likeliest(scores)?]);
    let temperature = f64::from(sampling.temperature);
    // Relative to the best, so that no exponential overflows at a low temperature.
    let mut weights: Vec<f64> = scores
        .iter()
        .map(|score| ((f64::from(*score) - best) / temperature).exp())
        .collect();
    keep_top_k(&mut weights, sampling.top_k);
    keep_top_p(&mut weights, f64::from(sampling.top_p));
    let mut left = uniform * weights.iter().sum::<f64>();
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding can leave a remainder after the last subtraction.
    chosen.or_else(|| weights.iter().rposition(|weight| *weight > 0.0))
}

/// Removes the weight of all but the `count` largest.
fn keep_top_k(weights: &mut [f64], count: usize) {
    if count == 0 || count >= weights.len() {
        return;
    }
    let mut sorted = weights.to_vec();
    let (_, smallest, _) = sorted.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    // Weights equal to the last of them stay, as in `TopKLogitsWarper`.
    let smallest = *smallest;
    weights
        .iter_mut()
        .filter(|weight| **weight < smallest)
        .for_each(|weight| *weight = 0.0);
}

/// Removes the smallest weights that together have at most `1 - share` of the whole, as
/// `TopPLogitsWarper`.
fn keep_top_p(weights: &mut [f64], share: f64) {
    if share >= 1.0 {
        return;
    }
    // Of what top-k left: `TopPLogitsWarper` takes the softmax of scores that are filtered already.
    let total: f64 = weights.iter().sum();
    // The largest stays, whatever its weight.
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // Of equal weights the later one is removed first, so that the token that greedy search takes
    // stays.
    order.sort_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
    order.pop();
    let mut taken = 0.0;
    for index in order {
        taken += weights[index];
        if taken > (1.0 - share) * total {
            break;
        }
        weights[index] = 0.0;
    }
}
