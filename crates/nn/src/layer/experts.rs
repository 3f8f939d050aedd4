//! An MLP that is a mixture of experts (Shazeer et al. 2017): a router chooses a few for each
//! token.
//!
//! All experts are computed, and the others get the weight zero: two large matrix products whose
//! shapes do not depend on the tokens, without a synchronisation with the host.

use super::Linear;
use crate::{
    backend::{Activation, Ops, activate, linear},
    routing::Routing,
    weights::{Weights, WeightsError},
};
use burn_tensor::{Bool, DType, Tensor, TensorData, activation::softmax};

/// The sizes of a mixture, and how its router weighs.
#[derive(Debug, Clone, Copy)]
pub struct ExpertsShape {
    /// The width of the hidden states.
    pub width: usize,
    /// The width inside an expert.
    pub inner: usize,
    /// The number of experts.
    pub count: usize,
    /// Experts for each token.
    pub chosen: usize,
    /// Whether the weights of the chosen sum to one.
    pub normalised: bool,
    /// Of the gate.
    pub activation: Activation,
    /// An expert's gate, up and down.
    pub names: [&'static str; 3],
}

/// The names of an expert's gate, up and down projections in most model types.
pub const EXPERT_NAMES: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];

impl ExpertsShape {
    /// Whether as many can be chosen; the message names the fields.
    pub fn validate(chosen: usize, count: usize) -> Result<(), String> {
        if (1..=count).contains(&chosen) {
            return Ok(());
        }
        Err(format!(
            "`num_experts_per_tok` {chosen} is not between 1 and the {count} experts"
        ))
    }
}

/// down(activation(gate(x)) * up(x)) of the chosen experts, weighed and summed.
pub struct Experts<B: Ops> {
    router: Linear<B>,
    /// [width, count * 2 * inner]
    gate_and_up: Tensor<B, 2>,
    /// [count * inner, width]
    down: Tensor<B, 2>,
    /// Whether expert j comes before expert i: f32 [1, i, j].
    earlier: Tensor<B, 3>,
    shape: ExpertsShape,
}

/// The result of a mixture of experts.
pub struct Mixed<B: Ops> {
    /// [batch, seq, width].
    pub hidden: Tensor<B, 3>,
    /// The decision of the router.
    pub routing: Routing<B>,
}

impl<B: Ops> Experts<B> {
    /// `gate.weight` [count, width] is the router's, `experts.<index>.<name>.weight` are the
    /// experts'.
    pub fn load(w: &Weights<B>, shape: ExpertsShape) -> Result<Self, WeightsError> {
        let ExpertsShape {
            width,
            inner,
            count,
            ..
        } = shape;
        let [gate, up, down] = shape.names;
        let (mut inward, mut outward) = (Vec::with_capacity(2 * count), Vec::with_capacity(count));
        for index in 0..count {
            let w = w.module("experts").module(index);
            // Gate and up of an expert are neighbours, as `mix` cuts them.
            inward.push(w.module(gate).transposed("weight", [inner, width])?);
            inward.push(w.module(up).transposed("weight", [inner, width])?);
            outward.push(w.module(down).transposed("weight", [width, inner])?);
        }
        let earlier = (0..count * count)
            .map(|flat| f32::from(flat % count < flat / count))
            .collect();
        Ok(Self {
            router: Linear::load_with_bias(&w.module("gate"), width, count, false)?,
            gate_and_up: Tensor::cat(inward, 1),
            down: Tensor::cat(outward, 0),
            earlier: Tensor::from_data(
                TensorData::new(earlier, [1, count, count]),
                (w.device(), DType::F32),
            ),
            shape,
        })
    }

    /// [batch, seq, width].
    pub fn forward(&self, x: Tensor<B, 3>) -> Mixed<B> {
        let ([batch, seq, width], count) = (x.dims(), self.shape.count);
        let x = x.reshape([batch * seq, width]);
        let dtype = x.dtype();
        let ExpertChoice {
            probabilities,
            weights,
            left_out,
        } = self.choose(x.clone());
        let y = self.mix(x, weights.clone(), left_out);
        let by_token = |decided: Tensor<B, 2>| decided.cast(dtype).reshape([batch, seq, count]);
        let routing = Routing {
            probabilities: by_token(probabilities),
            weights: by_token(weights),
        };
        Mixed {
            hidden: y.reshape([batch, seq, width]),
            routing,
        }
    }

    /// Chooses the experts of each row of `x` [tokens, width].
    fn choose(&self, x: Tensor<B, 2>) -> ExpertChoice<B> {
        // f32 in every precision, as the routers of transformers: close probabilities decide which
        // expert runs.
        let probabilities = softmax(self.router.forward(x).cast(DType::F32), 1);
        let ranks = ranks(probabilities.clone(), self.earlier.clone());
        // By rank and not by value: of equal probabilities exactly as many are chosen as the
        // configuration says.
        let left_out = ranks.greater_equal_elem(self.shape.chosen as f32);
        let weights = probabilities.clone().mask_fill(left_out.clone(), 0.0);
        let weights = if self.shape.normalised {
            // After the choice: the sum is over the chosen experts.
            weights.clone() / weights.sum_dim(1)
        } else {
            weights
        };
        ExpertChoice {
            probabilities,
            weights,
            left_out,
        }
    }

    /// The results of all experts that are not left out for `x` [tokens, width], weighed and summed.
    fn mix(
        &self,
        x: Tensor<B, 2>,
        weights: Tensor<B, 2>,
        left_out: Tensor<B, 2, Bool>,
    ) -> Tensor<B, 2> {
        let ([tokens, _], ExpertsShape { inner, count, .. }) = (x.dims(), self.shape);
        let dtype = x.dtype();
        let inward = linear(x, self.gate_and_up.clone(), None).reshape([tokens, count, 2 * inner]);
        let gate = activate(inward.clone().narrow(2, 0, inner), self.shape.activation);
        let hidden = (gate * inward.narrow(2, inner, inner)).cast(DType::F32);
        // The output of an expert that was not chosen may overflow, and zero times infinity is NaN.
        let left_out = left_out
            .reshape([tokens, count, 1])
            .expand([tokens, count, inner]);
        // Weighed before `down`, which is linear, so that one product
        // also sums the experts; transformers weighs after it.
        let hidden = hidden.mask_fill(left_out, 0.0) * weights.reshape([tokens, count, 1]);
        linear(
            hidden.cast(dtype).reshape([tokens, count * inner]),
            self.down.clone(),
            None,
        )
    }
}

/// The decision of the router, f32 [tokens, count].
struct ExpertChoice<B: Ops> {
    /// The softmax over all experts.
    probabilities: Tensor<B, 2>,
    /// 0 for experts that were not chosen.
    weights: Tensor<B, 2>,
    /// Whether an expert was not chosen.
    left_out: Tensor<B, 2, Bool>,
}

/// How many experts come before each of [tokens, count]: the likelier ones, and of equally likely
/// ones those with a smaller index.
fn ranks<B: Ops>(probabilities: Tensor<B, 2>, earlier: Tensor<B, 3>) -> Tensor<B, 2> {
    let [tokens, count] = probabilities.dims();
    // By comparisons: `topk` of a backend need not order equal probabilities by their index.
    let own = probabilities.clone().reshape([tokens, count, 1]);
    let sign = (probabilities.reshape([tokens, 1, count]) - own).sign();
    let ties = (sign.clone().abs().neg() + 1.0) * earlier;
    (sign.clamp_min(0.0) + ties)
        .sum_dim(2)
        .reshape([tokens, count])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;

    #[test]
    fn equally_likely_experts_are_chosen_by_their_index() {
        let device = Default::default();
        let probabilities = Tensor::<Cpu, 2>::from_data([[0.2, 0.3, 0.2, 0.3], [0.25; 4]], &device);
        let earlier = [
            [0.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 0.0],
        ];
        let ranks = ranks(
            probabilities,
            Tensor::<Cpu, 2>::from_data(earlier, &device).reshape([1, 4, 4]),
        );
        assert_eq!(
            ranks.into_data().to_vec::<f32>().expect("ranks are f32"),
            [2.0, 0.0, 3.0, 1.0, 0.0, 1.0, 2.0, 3.0]
        );
    }
}
