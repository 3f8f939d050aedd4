//! LLaVA: an image encoder whose hidden states are tokens of a decoder.

use crate::{
    call::NetworkCall,
    config::{CompleteConfig, TIED},
    decoder_config::DecoderSizes,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
    text_head::vocabulary,
    vision::{layers, patches, with_special},
};
use testgen_types::{Head, ModelType};

/// Reads an image and `tokens` tokens of text in each input.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let text = config.part("text_config", ModelType::Llama.as_str());
    let vision = config.part("vision_config", "clip_vision_model");
    let width = text.size("hidden_size")?;
    let [rows, columns] = grid(&vision)?;
    let patches = rows.saturating_mul(columns);
    // With the other strategy, `LlavaModel` leaves out the class token.
    let full = config.text("vision_feature_select_strategy") == "full";
    let image_tokens = patches + u64::from(full);
    let seq = call.tokens.saturating_add(image_tokens);
    let counts = [call.labels, call.batch, seq, call.limit];
    let about = (ModelType::Llama, &text, Head::CausalLm);
    let mut decoder_call = NetworkCall::new(call.machine.clone(), about, counts, call.images);
    let decoder = DecoderSizes::read(&decoder_call)?;
    let embedded = call.empty(&[call.batch, seq, width]);
    let features = features(call, &vision, width, full)?;
    // Tokens and features are rows of one table, which is then looked up.
    let tokens = call.batch.saturating_mul(seq);
    let table = cat(vec![embedded.reshape(&[tokens, width]), features], 0);
    let x = call.empty(&[call.batch, seq, width]);
    drop(table);
    let hidden = decoder.decode(x, &mut decoder_call);
    // As the model reads it: either level of the file may have the flag.
    let tied = config.flag(TIED) || text.flag(TIED);
    call.output(vocabulary([width, text.size("vocab_size")?], tied).forward(hidden));
    call.keep_from(decoder_call);
    Ok(())
}

fn grid(vision: &CompleteConfig) -> Result<[u64; 2], EstimateError> {
    let (image, patch) = (vision.sides("image_size")?, vision.sides("patch_size")?);
    Ok([image[0] / patch[0], image[1] / patch[1]])
}

/// [images * tokens, width]; every hidden state of the encoder is kept until they are projected.
fn features(
    call: &NetworkCall<'_>,
    vision: &CompleteConfig,
    width: u64,
    full: bool,
) -> Result<AllocatedTensor, EstimateError> {
    let states = hidden_states(call, vision)?;
    let inner = vision.size("hidden_size")?;
    let chosen = chosen(call.config, &states);
    let read = inner.saturating_mul(chosen.len() as u64);
    let features = cat(chosen, 2);
    let (images, places) = (features.dims()[0], features.dims()[1]);
    let features = match full {
        true => features,
        false => features.narrow(1, 1, places.saturating_sub(1)),
    };
    let tokens = images.saturating_mul(features.dims()[1]);
    let bias = call.config.flag("multimodal_projector_bias");
    let between = ActivationMemory::named(call.config.text("projector_hidden_act"));
    let x = features.reshape(&[1, tokens, read]);
    let x = ProjectionMatrix::linear(read, width, bias).forward(x);
    let x = ProjectionMatrix::linear(width, width, bias).forward(x.activate(between));
    drop(states);
    Ok(x.reshape(&[tokens, width]))
}

/// The embeddings and the hidden state after every layer.
fn hidden_states(
    call: &NetworkCall<'_>,
    vision: &CompleteConfig,
) -> Result<Vec<AllocatedTensor>, EstimateError> {
    let inner = vision.size("hidden_size")?;
    let activation = ActivationMemory::named(vision.text("hidden_act"));
    let mlp = MlpKind::plain([inner, vision.size("intermediate_size")?], activation, true);
    let attention = Attention::new(inner, vision.size("num_attention_heads")?, true);
    let embedded = with_special(call, patches(call, vision, inner)?, 1).layer_norm();
    let mut states = vec![embedded.clone()];
    let mut x = embedded;
    for _ in 0..call.layers_of(vision, "num_hidden_layers")? {
        x = layers(x, 1, (attention, None), mlp, false);
        states.push(x.clone());
    }
    Ok(states)
}

/// The hidden states of the layers in `vision_feature_layer`, counted from the end below zero.
fn chosen(config: &CompleteConfig, states: &[AllocatedTensor]) -> Vec<AllocatedTensor> {
    let found: Vec<_> = config
        .integers("vision_feature_layer")
        .iter()
        .filter_map(|layer| states.get(state_index(*layer, states.len())?).cloned())
        .collect();
    // A file without a usable layer is refused when it is loaded.
    match (found.is_empty(), states.last()) {
        (true, Some(last)) => vec![last.clone()],
        _ => found,
    }
}

/// The index of a layer's state among `count` states.
fn state_index(layer: i64, count: usize) -> Option<usize> {
    match usize::try_from(layer) {
        Ok(index) => Some(index),
        Err(_) => count.checked_sub(layer.unsigned_abs() as usize),
    }
}
