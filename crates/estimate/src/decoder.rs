//! Causal decoders of text, with single MLPs and with mixtures of experts.

use crate::{
    attention::{KeyValueTensors, RotationTensors, attend, split_heads},
    call::NetworkCall,
    decoder_config::{Arrangement, DecoderSizes, PositionEncoding, ProjectionKind},
    error::EstimateError,
    layers::{MlpKind, NormKind},
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
    text_head,
};

/// Reads all tokens at once, and keeps keys and values for later steps.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let decoder = DecoderSizes::read(call)?;
    // Only a table has a last position.
    if let PositionEncoding::Table(rows) = decoder.positions {
        call.within(rows)?;
    }
    if let MlpKind::Experts(experts) = decoder.mlp {
        experts.load(&call.machine);
    }
    let hidden = decoder.hidden(call);
    text_head::decoder(
        call,
        hidden,
        [decoder.outer, decoder.vocab],
        decoder.tied,
        decoder.capped[1],
    )
}

/// The inputs of attention in a layer besides hidden states.
struct AttentionInputs {
    rotation: Option<RotationTensors>,
    bias: Option<AllocatedTensor>,
}

impl DecoderSizes {
    fn hidden(&self, call: &mut NetworkCall<'_>) -> AllocatedTensor {
        let x = self.embed(call);
        self.decode(x, call)
    }

    /// The last hidden states of embedded tokens.
    pub(crate) fn decode(
        &self,
        mut x: AllocatedTensor,
        call: &mut NetworkCall<'_>,
    ) -> AllocatedTensor {
        let context = self.context(call);
        for _ in 0..self.layers {
            x = self.layer(x, &context, call);
        }
        // After sums, the last layer has normalised it already.
        let x = if self.arrangement == Arrangement::AfterSums {
            x
        } else {
            self.norm.forward(x)
        };
        if self.outer == self.width {
            x
        } else {
            ProjectionMatrix::linear(self.width, self.outer, false).forward(x)
        }
    }

    fn embed(&self, call: &NetworkCall<'_>) -> AllocatedTensor {
        let [batch, seq] = [call.batch, call.tokens];
        let tokens = call.empty(&[batch, seq, self.outer]);
        let tokens = match self.outer == self.width {
            true => tokens,
            false => ProjectionMatrix::linear(self.outer, self.width, false).forward(tokens),
        };
        match self.positions {
            PositionEncoding::Table(_) => {
                let positions = call.empty(&[1, seq, self.width]);
                tokens.combine(positions)
            }
            _ if self.embedding_norm => self.norm.forward(tokens),
            _ => tokens,
        }
    }

    fn context(&self, call: &NetworkCall<'_>) -> AttentionInputs {
        let seq = call.tokens;
        match self.positions {
            PositionEncoding::Rotary(width) => AttentionInputs {
                rotation: Some(call.rotation(seq, width)),
                bias: call.causal_bias(seq),
            },
            PositionEncoding::Table(_) => AttentionInputs {
                rotation: None,
                bias: call.causal_bias(seq),
            },
            PositionEncoding::Alibi => {
                // One row for all queries, whose positions are constants that softmax cancels.
                let linear = call.single(&[1, self.heads, 1, seq]);
                let bias = match call.causal_bias(seq) {
                    Some(causal) => linear.combine(causal),
                    None => linear,
                };
                AttentionInputs {
                    rotation: None,
                    bias: Some(bias),
                }
            }
        }
    }

    fn layer(
        &self,
        x: AllocatedTensor,
        context: &AttentionInputs,
        call: &mut NetworkCall<'_>,
    ) -> AllocatedTensor {
        match self.arrangement {
            Arrangement::Before => {
                let x = x
                    .clone()
                    .combine(self.attention(self.norm.forward(x), context, call));
                x.clone().combine(self.mlp.forward(self.norm.forward(x)))
            }
            Arrangement::AfterEach => {
                let x = x
                    .clone()
                    .combine(self.norm.forward(self.attention(x, context, call)));
                x.clone().combine(self.norm.forward(self.mlp.forward(x)))
            }
            Arrangement::AfterSums => {
                let x = self.attention(x.clone(), context, call).add_layer_norm(x);
                self.mlp.forward(x.clone()).add_layer_norm(x)
            }
            Arrangement::Around => {
                let attended = self.attention(self.norm.forward(x.clone()), context, call);
                let x = x.combine(self.norm.forward(attended));
                let fed = self.mlp.forward(self.norm.forward(x.clone()));
                x.combine(self.norm.forward(fed))
            }
            Arrangement::Parallel { shared } => {
                let normal = self.norm.forward(x.clone());
                let attended = self.attention(normal.clone(), context, call);
                let after = x.clone().combine(attended);
                let (read, unread) = match shared {
                    true => (normal, x),
                    false => (self.norm.forward(x), normal),
                };
                let _held = unread.held_on_host();
                after.combine(self.mlp.forward(read))
            }
            Arrangement::AddsToNorm => {
                let normal = self.norm.forward(x);
                let x = normal
                    .clone()
                    .combine(self.attention(normal, context, call));
                let normal = self.norm.forward(x);
                normal.clone().combine(self.mlp.forward(normal))
            }
        }
    }

    fn attention(
        &self,
        x: AllocatedTensor,
        context: &AttentionInputs,
        call: &mut NetworkCall<'_>,
    ) -> AllocatedTensor {
        let [mut query, mut key, value] = self.project(x);
        if let Some(norm) = self.head_norm {
            [query, key] = [query, key].map(|x| self.by_head(norm, x));
        }
        let (mut query, mut key) = (
            split_heads(query, self.heads),
            split_heads(key, self.groups),
        );
        if let Some(rotation) = &context.rotation {
            (query, key) = (rotation.apply(query), rotation.apply(key));
        }
        let new = KeyValueTensors {
            key,
            value: split_heads(value, self.groups),
        };
        let all = call.with_past(new);
        let attended = attend(query, all, self.capped[0], context.bias.clone());
        ProjectionMatrix {
            order: self.output,
            ..ProjectionMatrix::linear(
                self.heads.saturating_mul(self.head_dim),
                self.width,
                self.bias,
            )
        }
        .forward(attended)
    }

    fn project(&self, x: AllocatedTensor) -> [AllocatedTensor; 3] {
        let [queries, keys] =
            [self.heads, self.groups].map(|heads| heads.saturating_mul(self.head_dim));
        match self.projections {
            ProjectionKind::Apart => {
                let map =
                    |out| ProjectionMatrix::linear(self.width, out, self.bias).forward(x.clone());
                [map(queries), map(keys), map(keys)]
            }
            ProjectionKind::Joined(order) => {
                let before_values = queries.saturating_add(keys);
                let all = before_values.saturating_add(keys);
                let matrix = ProjectionMatrix {
                    order,
                    ..ProjectionMatrix::linear(self.width, all, self.bias)
                };
                let joined = matrix.forward(x);
                [(0, queries), (queries, keys), (before_values, keys)]
                    .map(|(start, length)| joined.clone().narrow(2, start, length))
            }
        }
    }

    /// The norm of queries or keys over each head, which allocates as the one over all heads does.
    fn by_head(&self, norm: NormKind, x: AllocatedTensor) -> AllocatedTensor {
        let dims = x.dims().to_vec();
        // 0 if there are more heads than values.
        let heads = dims[2] / self.head_dim.max(1);
        norm.forward(x.reshape(&[dims[0], dims[1], heads, self.head_dim]))
            .reshape(&dims)
    }
}
