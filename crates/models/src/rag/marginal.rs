//! Marginalisation over passages: log-probabilities of tokens, weighted by the probabilities of the
//! passages.
//!
//! Follows `marginalize` and `get_nll` of `RagTokenForGeneration` and `RagSequenceForGeneration`.
//! Everything is f32 and rounded once by the caller.

use burn_tensor::{DType, Int, Tensor, TensorData, activation::log_softmax};
use testgen_nn::backend::Ops;

/// The log-probabilities given each passage alone.
pub(super) struct PassageEvidence<B: Ops> {
    /// Log-probabilities [batch, docs, seq, vocab].
    tokens: Tensor<B, 4>,
    /// Log-probabilities [batch, docs, 1, 1].
    docs: Tensor<B, 4>,
}

/// The inputs of a loss.
pub(super) struct LossTarget<'a> {
    /// [batch, seq], as the decoder read them; the loss is about the tokens that follow.
    pub(super) ids: &'a [i64],
    pub(super) pad: i64,
    pub(super) label_smoothing: f64,
    /// Of sequences: the token that a target may begin with and that then does not count.
    pub(super) excluded: Option<i64>,
}

impl<B: Ops> PassageEvidence<B> {
    /// `logits` [batch * docs, seq, vocab], `doc_scores` [batch, docs].
    pub(super) fn new(logits: Tensor<B, 3>, doc_scores: Tensor<B, 2>) -> Self {
        let ([_, seq, vocab], [batch, docs]) = (logits.dims(), doc_scores.dims());
        let tokens = log_softmax(logits.cast(DType::F32), 2).reshape([batch, docs, seq, vocab]);
        Self {
            tokens,
            docs: log_softmax(doc_scores, 1).reshape([batch, docs, 1, 1]),
        }
    }

    /// Every token's log-probability over all passages, [batch, seq, vocab].
    pub(super) fn by_token(self) -> Tensor<B, 3> {
        let [batch, _, seq, vocab] = self.tokens.dims();
        log_sum_exp(self.tokens + self.docs).reshape([batch, seq, vocab])
    }

    /// The loss [batch] where each token may come from another passage.
    pub(super) fn loss_by_token(self, target: &LossTarget<'_>) -> Tensor<B, 1> {
        let log = log_sum_exp(self.tokens + self.docs);
        let [batch, _, seq, vocab] = log.dims();
        let next = Next::new(target, [batch, seq]);
        combine(next.sums(log, &next.counted), target, vocab)
    }

    /// The loss [batch] where one passage determines the whole text.
    pub(super) fn loss_by_sequence(self, target: &LossTarget<'_>) -> Tensor<B, 1> {
        let [batch, _, seq, vocab] = self.tokens.dims();
        let second = (0..seq)
            // As in transformers, the passages count at the second token.
            .map(|place| if place == 1 { 1.0 } else { 0.0 })
            .collect();
        let log =
            self.tokens + self.docs.clone() * floats(second, [1, 1, seq, 1], &self.docs.device());
        let next = Next::new(target, [batch, seq]);
        let counted = next.without_first(target.excluded);
        let LogProbabilitySums { picked, all } = next.sums(log, &counted);
        combine(
            LogProbabilitySums {
                picked: log_sum_exp(picked),
                all: log_sum_exp(all),
            },
            target,
            vocab,
        )
    }
}

/// The token after each, padded at the end, and 1 if it counts, else 0.
struct Next {
    ids: Vec<i64>,
    counted: Vec<f32>,
    shape: [usize; 2],
}

/// Sums of log-probabilities over the tokens of a target, [batch, docs, 1, 1].
struct LogProbabilitySums<B: Ops> {
    /// Of the tokens that the target has.
    picked: Tensor<B, 4>,
    /// Of the whole vocabulary, at every place that is not padding.
    // Label smoothing needs them.
    all: Tensor<B, 4>,
}

impl Next {
    fn new(target: &LossTarget<'_>, shape: [usize; 2]) -> Self {
        // The logits of a token are compared with the token after it, which the last one does not
        // have.
        let ids: Vec<i64> = target
            .ids
            .chunks(shape[1])
            .flat_map(|row| {
                row[1..]
                    .iter()
                    .copied()
                    .chain([target.pad])
                    .collect::<Vec<i64>>()
            })
            .collect();
        let counted = ids
            .iter()
            .map(|id| if *id == target.pad { 0.0 } else { 1.0 })
            .collect();
        Self {
            ids,
            counted,
            shape,
        }
    }

    /// The mask of the tokens that count where all rows begin with `excluded`.
    fn without_first(&self, excluded: Option<i64>) -> Vec<f32> {
        let seq = self.shape[1];
        let mut counted = self.counted.clone();
        // One row without it keeps the first token of all, as `use_bos` of `get_nll`.
        if excluded.is_some_and(|first| self.ids.chunks(seq).all(|row| row[0] == first)) {
            counted
                .iter_mut()
                .step_by(seq)
                .for_each(|factor| *factor = 0.0);
        }
        counted
    }

    /// The sums of `log` [batch, docs, seq, vocab]; `counted` selects the picked tokens.
    fn sums<B: Ops>(&self, log: Tensor<B, 4>, counted: &[f32]) -> LogProbabilitySums<B> {
        let ([_, docs, _, _], [batch, seq], device) = (log.dims(), self.shape, log.device());
        let ids: Vec<i32> = self.ids.iter().map(|id| *id as i32).collect();
        let ids = Tensor::<B, 4, Int>::from_data(
            TensorData::new(ids, [batch, 1, seq, 1]),
            (&device, DType::I32),
        );
        let picked = log.clone().gather(3, ids.repeat_dim(1, docs))
            * floats(counted.to_vec(), [batch, 1, seq, 1], &device);
        // With the first token even if it is excluded: `get_nll` cuts it off the likelihoods only.
        let all = log.sum_dim(3) * floats(self.counted.to_vec(), [batch, 1, seq, 1], &device);
        LogProbabilitySums {
            picked: picked.sum_dim(2),
            all: all.sum_dim(2),
        }
    }
}

/// The smoothed negative log-likelihood [batch].
fn combine<B: Ops>(
    LogProbabilitySums { picked, all }: LogProbabilitySums<B>,
    target: &LossTarget<'_>,
    vocab: usize,
) -> Tensor<B, 1> {
    let (batch, epsilon) = (picked.dims()[0], target.label_smoothing);
    (picked * -(1.0 - epsilon) - all * (epsilon / vocab as f64)).reshape([batch])
}

/// log(sum(exp(x))) over the second dimension, which becomes one.
fn log_sum_exp<B: Ops>(x: Tensor<B, 4>) -> Tensor<B, 4> {
    // Taken out of the sum, so that no exponential overflows.
    let largest = x.clone().max_dim(1);
    (x - largest.clone()).exp().sum_dim(1).log() + largest
}

fn floats<B: Ops>(values: Vec<f32>, shape: [usize; 4], device: &B::Device) -> Tensor<B, 4> {
    Tensor::from_data(TensorData::new(values, shape), (device, DType::F32))
}
