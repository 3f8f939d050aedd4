//! Detectors of objects: DETR and YOLOS.

use crate::{
    attention::{KeyValueTensors, attend, split_heads},
    call::NetworkCall,
    convolution::ImageConvolution,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    resnet,
    tensor::AllocatedTensor,
    vision::{layers, patches, with_special},
};
use testgen_types::{Head, ModelType};

/// Reads images with a ResNet, whose places an encoder and a decoder of queries read.
pub(crate) fn detr(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("d_model")?;
    let backbone = config.part("backbone_config", ModelType::ResNet.as_str());
    let encoder = DetrLayer::read(call, "encoder")?;
    let decoder = DetrLayer::read(call, "decoder")?;
    let features = resnet::features(call, &backbone)?;
    let [batch, channels, height, breadth] = [0, 1, 2, 3].map(|index| features.dims()[index]);
    let places = height.saturating_mul(breadth);
    let projected = ImageConvolution::square([channels, width], 1, 1, 0).forward(features);
    let mut x = projected.reshape(&[batch, width, places]).swap(1, 2);
    let positions = positions(call, [height, breadth], width);
    for _ in 0..call.layers("encoder_layers")? {
        x = encoder.read_places(x, &positions);
    }
    let places = x;
    call.output(places.clone());
    let count = config.size("num_queries")?;
    let queries = call.weight(&[1, count, width]);
    // As `DetrDecoder`: the queries are positions, which each layer adds to states that begin as
    // zeros.
    let mut x = call.empty(&[batch, count, width]);
    for _ in 0..call.layers("decoder_layers")? {
        x = decoder.read_queries(x, &queries, [&places, &positions]);
    }
    let last = x.layer_norm();
    call.output(last.clone());
    if call.head == Head::ObjectDetection {
        detection_head(call, last, LabelMap::Linear);
    }
    Ok(())
}

/// [1, places, width]: sines, or rows and columns of tables side by side.
fn positions(call: &NetworkCall<'_>, [height, breadth]: [u64; 2], width: u64) -> AllocatedTensor {
    let places = height.saturating_mul(breadth);
    if call.config.text("position_embedding_type") != "learned" {
        return call.floats(&[1, places, width]);
    }
    // Both tables are repeated while they are joined.
    let tables = [0; 2].map(|_| call.empty(&[height, breadth, width / 2]));
    cat(tables.into(), 2).reshape(&[1, places, width])
}

/// Attention whose queries and keys get positions and whose values do not, and an MLP.
struct DetrLayer {
    attention: Attention,
    mlp: MlpKind,
}

impl DetrLayer {
    fn read(call: &NetworkCall<'_>, stack: &str) -> Result<Self, EstimateError> {
        let config = call.config;
        let width = config.size("d_model")?;
        let activation = ActivationMemory::named(config.text("activation_function"));
        let inner = config.size(&format!("{stack}_ffn_dim"))?;
        let heads = config.size(&format!("{stack}_attention_heads"))?;
        Ok(Self {
            attention: Attention::new(width, heads, true),
            mlp: MlpKind::plain([width, inner], activation, true),
        })
    }

    fn read_places(&self, x: AllocatedTensor, positions: &AllocatedTensor) -> AllocatedTensor {
        let placed = x.clone().combine(positions.clone());
        let seen = self.attend([placed.clone(), placed, x.clone()]);
        let x = seen.add_layer_norm(x);
        self.mlp.forward(x.clone()).add_layer_norm(x)
    }

    fn read_queries(
        &self,
        x: AllocatedTensor,
        queries: &AllocatedTensor,
        [places, positions]: [&AllocatedTensor; 2],
    ) -> AllocatedTensor {
        let asked = x.clone().combine(queries.clone());
        let x = self
            .attend([asked.clone(), asked, x.clone()])
            .add_layer_norm(x);
        let keys = places.clone().combine(positions.clone());
        let asked = x.clone().combine(queries.clone());
        let x = self.attend([asked, keys, places.clone()]).add_layer_norm(x);
        self.mlp.forward(x.clone()).add_layer_norm(x)
    }

    /// Attention of queries to keys with values.
    fn attend(&self, [query, key, value]: [AllocatedTensor; 3]) -> AllocatedTensor {
        let Attention { width, heads, .. } = self.attention;
        let square = ProjectionMatrix::linear(width, width, true);
        let [query, key, value] =
            [query, key, value].map(|x| split_heads(square.forward(x), heads));
        square.forward(attend(query, KeyValueTensors { key, value }, false, None))
    }
}

/// Reads images as patches, with tokens for objects after them.
pub(crate) fn yolos(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("hidden_size")?;
    let activation = ActivationMemory::named(config.text("hidden_act"));
    let mlp = MlpKind::plain([width, config.size("intermediate_size")?], activation, true);
    let heads = config.size("num_attention_heads")?;
    let attention = Attention::new(width, heads, config.flag("qkv_bias"));
    let queries = config.size("num_detection_tokens")?;
    let mut x = with_special(call, patches(call, config, width)?, 1 + queries);
    let (count, tokens) = (call.layers("num_hidden_layers")?, x.dims()[1]);
    for index in 0..count {
        x = layers(x, 1, (attention, None), mlp, false);
        // As `YolosEncoder`: between layers, and so not after the last one.
        if config.flag("use_mid_position_embeddings") && index + 1 < count {
            x = x.clone().combine(call.weight(&[1, tokens, width]));
        }
    }
    let last = x.layer_norm();
    call.output(last.clone());
    if call.head == Head::ObjectDetection {
        let objects = last.narrow(1, tokens - queries, queries);
        detection_head(call, objects, LabelMap::Mlp);
    } else {
        let first = last.narrow(1, 0, 1).reshape(&[call.batch, width]);
        call.output(ProjectionMatrix::linear(width, width, true).forward(first));
    }
    Ok(())
}

/// The map to the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelMap {
    Linear,
    /// Three projections, as for boxes.
    Mlp,
}

/// Labels and boxes of [batch, queries, width].
fn detection_head(call: &mut NetworkCall<'_>, queries: AllocatedTensor, labels: LabelMap) {
    let width = queries.dims()[2];
    let relu = ActivationMemory::named("relu");
    let square = ProjectionMatrix::linear(width, width, true);
    let mlp = |x: AllocatedTensor, out| {
        let x = square.forward(x).activate(relu);
        let x = square.forward(x).activate(relu);
        ProjectionMatrix::linear(width, out, true).forward(x)
    };
    let boxes = mlp(queries.clone(), 4).activate(ActivationMemory::named("sigmoid"));
    // One more for "no object".
    let count = call.labels + 1;
    let logits = match labels {
        LabelMap::Linear => ProjectionMatrix::linear(width, count, true).forward(queries),
        LabelMap::Mlp => mlp(queries, count),
    };
    call.output(logits);
    call.output(boxes);
}
