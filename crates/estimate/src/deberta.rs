//! DeBERTa v2: an encoder whose attention weighs distances apart from contents.

use crate::{
    attention::{KeyValueTensors, attend, split_heads},
    call::NetworkCall,
    config::CompleteConfig,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::MlpKind,
    product::{ProjectionMatrix, matmul},
    sequence_convolution::SequenceConvolution,
    tensor::{AllocatedTensor, ElementType, empty, weight, workspace},
    text_head,
};
use testgen_types::Head;

/// Reads all tokens at once, without padding.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("hidden_size")?;
    let outer = config.size_if_set("embedding_size")?.unwrap_or(width);
    let activation = ActivationMemory::named(config.text("hidden_act"));
    let layer = DebertaLayer::read(call, width, activation)?;
    let embedded = embed(call, [outer, width])?;
    let mut x = embedded.clone();
    for index in 0..call.layers("num_hidden_layers")? {
        x = layer.forward(x);
        // `DebertaV2Encoder` adds it after its first layer only.
        if let Some(convolution) = convolution(config, width)?.filter(|_| index == 0) {
            let near = convolution.forward(embedded.clone());
            let after = ActivationMemory::named(config.text("conv_act"));
            x = near.activate(after).add_layer_norm(x);
        }
    }
    drop(embedded);
    // Only `LegacyDebertaV2PredictionHeadTransform` maps to the width of the embeddings.
    let inner = match config.flag("legacy") {
        true => outer,
        false => width,
    };
    let vocab = config.size("vocab_size")?;
    if call.head == Head::Base {
        // Without the pooled state of other encoders.
        call.output(x);
        return Ok(());
    }
    text_head::encoder(call, x, [width, inner, vocab], activation)
}

/// Words, types and positions, if the model has them.
fn embed(
    call: &NetworkCall<'_>,
    [outer, width]: [u64; 2],
) -> Result<AllocatedTensor, EstimateError> {
    let (config, seq) = (call.config, call.tokens);
    let mut sum = call.empty(&[call.batch, seq, outer]);
    // One row for all texts.
    let row = || call.empty(&[1, seq, outer]);
    if config.positive("type_vocab_size").is_some() {
        sum = sum.combine(row());
    }
    if config.flag("position_biased_input") {
        call.within(config.size("max_position_embeddings")?)?;
        sum = sum.combine(row());
    }
    if outer != width {
        sum = ProjectionMatrix::linear(outer, width, false).forward(sum);
    }
    Ok(sum.layer_norm())
}

/// The convolution of the embeddings, which is added to the first layer's output.
fn convolution(
    config: &CompleteConfig,
    width: u64,
) -> Result<Option<SequenceConvolution>, EstimateError> {
    let Some(kernel) = config.positive("conv_kernel_size") else {
        return Ok(None);
    };
    Ok(Some(SequenceConvolution {
        channels: [width; 2],
        kernel: config.followed("conv_kernel_size", kernel)?,
        stride: 1,
        // As long as the input: the model refuses even kernels.
        padding: kernel / 2,
        groups: 1,
        bias: true,
    }))
}

struct DebertaLayer {
    width: u64,
    heads: u64,
    mlp: MlpKind,
    /// The rows of the table of distances, if attention is relative.
    rows: Option<u64>,
    /// Whether contents are compared with distances, and distances with contents.
    terms: [bool; 2],
}

impl DebertaLayer {
    fn read(
        call: &NetworkCall<'_>,
        width: u64,
        activation: ActivationMemory,
    ) -> Result<Self, EstimateError> {
        let config = call.config;
        let span = config
            .positive("position_buckets")
            .or_else(|| config.positive("max_relative_positions"));
        let span = match span {
            Some(span) => span,
            // As `DebertaV2Encoder`: without a limit, every distance between positions has a row.
            None => config.size("max_position_embeddings")?,
        };
        // A list, or the names joined by bars.
        let joined = config.text("pos_att_type").to_lowercase();
        let listed = config.texts("pos_att_type");
        let terms = ["c2p", "p2c"].map(|term| joined.contains(term) || listed.contains(&term));
        Ok(Self {
            width,
            heads: config.size("num_attention_heads")?,
            mlp: MlpKind::plain([width, config.size("intermediate_size")?], activation, true),
            // Distances have two directions.
            rows: config.flag("relative_attention").then_some(2 * span),
            terms,
        })
    }

    fn forward(&self, x: AllocatedTensor) -> AllocatedTensor {
        let x = self.attend(x.clone()).add_layer_norm(x);
        self.mlp.forward(x.clone()).add_layer_norm(x)
    }

    fn attend(&self, x: AllocatedTensor) -> AllocatedTensor {
        let square = ProjectionMatrix::linear(self.width, self.width, true);
        let [query, key, value] =
            [(); 3].map(|()| split_heads(square.forward(x.clone()), self.heads));
        let _held = x.held_on_host();
        let scores = self
            .rows
            .and_then(|rows| self.distances(&query, &key, rows));
        let bias = scores.map(|scores| scores.cast(ElementType::F32).map());
        square.forward(attend(query, KeyValueTensors { key, value }, false, bias))
    }

    /// The scores of distances, [batch, heads, query, key].
    fn distances(
        &self,
        query: &AllocatedTensor,
        key: &AllocatedTensor,
        rows: u64,
    ) -> Option<AllocatedTensor> {
        let machine = query.machine().clone();
        let of_table = |x: &AllocatedTensor| {
            let square = ProjectionMatrix::linear(self.width, self.width, true);
            let table = weight(&machine, &[1, rows, self.width], x.element);
            let table = split_heads(square.forward(table), self.heads);
            self.gathered(with_table(x.clone(), table))
        };
        let [to, from] = self.terms;
        let to = to.then(|| of_table(query));
        let from = from.then(|| of_table(key).swap(2, 3));
        match (to, from) {
            (Some(to), Some(from)) => Some(to.combine(from)),
            (to, from) => to.or(from),
        }
    }

    /// Of [heads, batch, seq, rows] the row of each pair of positions: [batch, heads, seq, seq].
    fn gathered(&self, scores: AllocatedTensor) -> AllocatedTensor {
        let [heads, batch, seq] = [0, 1, 2].map(|index| scores.dims()[index]);
        let (machine, element) = (scores.machine().clone(), scores.element);
        let pairs = [heads, batch, seq, seq];
        // Repeated for every head and text, as 32-bit numbers; Flex reads them as 64-bit ones.
        let indices = workspace(&machine, &pairs, ElementType::F32);
        let wide = (!machine.is_gpu()).then(|| {
            let [heads, batch, seq, keys] = pairs;
            workspace(&machine, &[2 * heads, batch, seq, keys], ElementType::F32)
        });
        let scores = scores.contiguous();
        let picked = empty(&machine, &pairs, element);
        drop((indices, wide, scores));
        picked.swap(0, 1)
    }
}

/// `x` [batch, heads, seq, head_dim] times the transposed table [1, heads, rows, head_dim]:
/// [heads, batch, seq, rows].
fn with_table(x: AllocatedTensor, table: AllocatedTensor) -> AllocatedTensor {
    let [batch, heads, seq, head_dim] = [0, 1, 2, 3].map(|index| x.dims()[index]);
    let rows = table.dims()[2];
    let x = x
        .swap(0, 1)
        .reshape(&[1, heads, batch.saturating_mul(seq), head_dim]);
    matmul(x, table.swap(2, 3)).reshape(&[heads, batch, seq, rows])
}
