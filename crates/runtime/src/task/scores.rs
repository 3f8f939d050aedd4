//! From logits to probabilities.

/// e^logit over their sum, computed in f64.
pub(super) fn softmax(logits: &[f32]) -> Vec<f32> {
    // The largest exponent is then 0: e^logit itself could overflow.
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits
        .iter()
        .map(|logit| f64::from(logit - best).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    weights
        .into_iter()
        .map(|weight| (weight / total) as f32)
        .collect()
}

/// 1 / (1 + e^-logit), computed in f64.
pub(super) fn sigmoid(logits: &[f32]) -> Vec<f32> {
    logits
        .iter()
        .map(|logit| (1.0 / (1.0 + (-f64::from(*logit)).exp())) as f32)
        .collect()
}

/// The scores of labels, as the pipelines of transformers for texts, images and recordings compute
/// them.
pub(super) fn of_labels(problem_type: Option<&str>, logits: &[f32]) -> Vec<f32> {
    match problem_type {
        // The outputs are the predicted numbers themselves.
        Some("regression") => logits.to_vec(),
        // Labels that do not exclude each other.
        Some("multi_label_classification") => sigmoid(logits),
        // A softmax over a single label is always 1.
        _ if logits.len() == 1 => sigmoid(logits),
        _ => softmax(logits),
    }
}

/// Indices and scores, best first; the first of equals first.
pub(super) fn ranked(scores: Vec<f32>) -> Vec<(usize, f32)> {
    let mut ranked: Vec<(usize, f32)> = scores.into_iter().enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_scored_as_the_problem_says() {
        let logits = [0.0, 2.0];
        assert_eq!(of_labels(Some("regression"), &logits), logits);
        let (exclusive, independent) = (
            of_labels(None, &logits),
            of_labels(Some("multi_label_classification"), &logits),
        );
        assert!(
            (exclusive.iter().sum::<f32>() - 1.0).abs() < 1e-6
                && exclusive[1] > 0.88
                && exclusive[1] < 0.881
        );
        assert_eq!(independent[0], 0.5);
        assert_eq!(
            of_labels(Some("single_label_classification"), &logits),
            exclusive
        );
        assert_eq!(of_labels(None, &[0.0]), [0.5]);
        assert_eq!(of_labels(Some("regression"), &[3.5]), [3.5]);
    }
}
