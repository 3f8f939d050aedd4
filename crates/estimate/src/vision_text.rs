//! Pairs of encoders, of texts and of images: CLIP and SigLIP.

use crate::{
    call::NetworkCall,
    config::CompleteConfig,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
    vision::{layers, patches, with_special},
};
use testgen_types::ModelType;

/// Reads a batch of texts of `tokens` tokens, and as many images.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let names = match call.model_type {
        ModelType::Siglip => ["siglip_text_model", "siglip_vision_model"],
        _ => ["clip_text_model", "clip_vision_model"],
    };
    let text = part(call.config, ["text_config_dict", "text_config"], names[0]);
    let vision = part(
        call.config,
        ["vision_config_dict", "vision_config"],
        names[1],
    );
    let texts = texts(call, &text)?;
    let images = images(call, &vision)?;
    call.output(texts);
    call.output(images);
    Ok(())
}

/// The configuration of an encoder; the first name overrules the second one in files of older
/// releases.
fn part(
    config: &CompleteConfig,
    [dictionary, name]: [&str; 2],
    model_type: &str,
) -> CompleteConfig {
    config.part(
        if config.has(dictionary) {
            dictionary
        } else {
            name
        },
        model_type,
    )
}

fn texts(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
) -> Result<AllocatedTensor, EstimateError> {
    call.within(config.size("max_position_embeddings")?)?;
    let (width, seq) = (config.size("hidden_size")?, call.tokens);
    let tokens = call.empty(&[call.batch, seq, width]);
    let positions = call.empty(&[1, seq, width]);
    let x = tokens.combine(positions);
    // Texts of CLIP are read causally.
    let bias = if call.model_type == ModelType::Clip {
        call.causal_bias(seq)
    } else {
        None
    };
    let last = encode(call, config, x, bias.as_ref())?.layer_norm();
    // The picked state of each text is a copy.
    drop((bias, last));
    let picked = call.empty(&[call.batch, width]);
    Ok(ProjectionMatrix::linear(width, width, true).forward(picked))
}

fn images(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
) -> Result<AllocatedTensor, EstimateError> {
    let width = config.size("hidden_size")?;
    let patches = patches(call, config, width)?;
    let clip = call.model_type == ModelType::Clip;
    let x = with_special(call, patches, u64::from(clip));
    // `CLIPVisionModel` normalises before its layers, too (`pre_layrnorm`).
    let x = if clip { x.layer_norm() } else { x };
    let last = encode(call, config, x, None)?;
    if clip {
        let first = last
            .narrow(1, 0, 1)
            .reshape(&[call.batch, width])
            .layer_norm();
        return Ok(ProjectionMatrix::linear(width, width, false).forward(first));
    }
    // SigLIP reads all patches with one learned query.
    let attention = Attention::new(width, config.size("num_attention_heads")?, true);
    let patches = last.layer_norm();
    let pooled = attention.keys_values(&patches);
    drop(patches);
    let query = call.empty(&[call.batch, 1, width]);
    Ok(attention
        .over(query, pooled, None)
        .reshape(&[call.batch, width]))
}

fn encode(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
    x: AllocatedTensor,
    bias: Option<&AllocatedTensor>,
) -> Result<AllocatedTensor, EstimateError> {
    let width = config.size("hidden_size")?;
    let activation = ActivationMemory::named(config.text("hidden_act"));
    let mlp = MlpKind::plain([width, config.size("intermediate_size")?], activation, true);
    let attention = Attention::new(width, config.size("num_attention_heads")?, true);
    let count = call.layers_of(config, "num_hidden_layers")?;
    Ok(layers(x, count, (attention, bias), mlp, false))
}
