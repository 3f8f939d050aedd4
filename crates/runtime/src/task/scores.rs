//! From logits to probabilities.

/// e^logit over their sum, computed in f64.
pub(super) fn softmax(logits: &[f32]) -> Vec<f32> {
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - best).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| (weight / total) as f32).collect()
}

/// 1 / (1 + e^-logit), computed in f64.
pub(super) fn sigmoid(logits: &[f32]) -> Vec<f32> {
    logits.iter().map(|logit| (1.0 / (1.0 + (-f64::from(*logit)).exp())) as f32).collect()
}

/// Indices and scores, best first; the first of equals first.
pub(super) fn ranked(scores: Vec<f32>) -> Vec<(usize, f32)> {
    let mut ranked: Vec<(usize, f32)> = scores.into_iter().enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}
