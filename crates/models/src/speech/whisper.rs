//! Whisper (Radford et al. 2022): `transformers.models.whisper`. Two convolutions over a log-mel
//! spectrogram, then an encoder and a decoder as BART's, which normalise before each part.

use super::audio_classifier::AudioClassifier;
use crate::{
    config::ModelConfig,
    encoder_decoder::bart::{BartFields, tables},
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::{
        bart_layers::{BartLayer, BartLayers, BartShape, BartVariant, encode_layers},
        encoder_decoder::{DecoderHead, EncoderDecoder, HiddenStates, SourceEncoder},
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv1d, Conv1dShape, Embedding, LayerNorm, Linear},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct WhisperConfig {
    #[serde(flatten)]
    fields: BartFields,
    num_mel_bins: usize,
    max_source_positions: usize,
    max_target_positions: usize,
    /// Of classifiers alone, as the next.
    classifier_proj_size: usize,
    use_weighted_layer_sum: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for WhisperConfig {
    /// Masking in training, alignment heads of timestamps, and tokens of generation.
    const INERT: &'static [&'static str] = &[
        "apply_spec_augment",
        "decoder_layerdrop",
        "encoder_layerdrop",
        "forced_decoder_ids",
        "init_std",
        "is_encoder_decoder",
        "mask_feature_length",
        "mask_feature_min_masks",
        "mask_feature_prob",
        "mask_time_length",
        "mask_time_min_masks",
        "mask_time_prob",
        "median_filter_width",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![(
            "scale_embedding",
            "transformers computes the factor and multiplies with nothing",
        )];
        if head == Head::AudioClassification {
            let alone = "classifiers have no decoder";
            let of_decoder = [
                "vocab_size",
                "decoder_layers",
                "decoder_ffn_dim",
                "decoder_attention_heads",
            ];
            fields.extend(of_decoder.map(|name| (name, alone)));
            fields.push(("max_target_positions", alone));
        } else {
            fields.push(("classifier_proj_size", "only classifiers project"));
            fields.push(("use_weighted_layer_sum", "only classifiers weigh layers"));
        }
        if head != Head::ConditionalGeneration {
            fields.push((
                "tie_word_embeddings",
                "only language models have a decoder to tie",
            ));
        }
        fields
    }
}

/// `model_type` `whisper`.
pub(crate) struct Whisper;

const VARIANT: BartVariant = BartVariant {
    pre_norm: true,
    embedding_norm: false,
    // `WhisperAttention` makes `k_proj` without a bias.
    key_bias: false,
    offset: 0,
};

impl ModelDef for Whisper {
    type Config = WhisperConfig;

    fn load<B: Ops>(
        config: &WhisperConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let (fields, base) = (&config.fields, w.strip_prefix("model"));
        let (width, vocab) = (fields.d_model, fields.vocab_size);
        let shapes = fields.shapes(VARIANT);
        // Whisper multiplies with nothing, whatever `scale_embedding` is.
        let [source, target] = [shapes.encoder, shapes.decoder].map(|shape| BartShape {
            scale: 1.0,
            ..shape
        });
        if head == Head::AudioClassification {
            let states = config.use_weighted_layer_sum.then_some(source.layers + 1);
            return Ok(Box::new(SpectrogramClassifier {
                encoder: SpectrogramEncoder::load(config, &source, &w.module("encoder"))?,
                head: AudioClassifier::load(
                    [width, config.classifier_proj_size, labels],
                    states,
                    w,
                )?,
            }));
        }
        let encoder = SpectrogramEncoder::load(config, &source, &base.module("encoder"))?;
        // The encoder reads no tokens, so it has no shared embedding table.
        let table = Embedding::load(&base.module_named(&tables(true)[..1]), vocab, width)?;
        let w_decoder = base.module("decoder");
        let positions = w_decoder.tensor(
            "embed_positions.weight",
            [config.max_target_positions, width],
        )?;
        let decoder = BartLayers::load(&target, true, table, positions, &w_decoder)?;
        let head = match head {
            Head::ConditionalGeneration => {
                let tied = fields.tie_word_embeddings.then(|| decoder.embedding());
                let head = Linear::load_or_tie(&w.module("proj_out"), [width, vocab], tied)?;
                DecoderHead::LanguageModel { head, scale: 1.0 }
            }
            _ => DecoderHead::Base,
        };
        Ok(Box::new(EncoderDecoder {
            encoder,
            decoder,
            head,
        }))
    }
}

struct SpectrogramEncoder<B: Ops> {
    conv1: Conv1d<B>,
    conv2: Conv1d<B>,
    positions: Tensor<B, 2>,
    layers: LayerStack<B, BartLayer<B>>,
    layer_norm: LayerNorm<B>,
    /// Bins and frames of the input.
    size: [usize; 2],
}

impl<B: Ops> SpectrogramEncoder<B> {
    fn load(
        config: &WhisperConfig,
        shape: &BartShape,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, bins) = (shape.width, config.num_mel_bins);
        let conv = |name, inner, stride| {
            let shape = Conv1dShape {
                channels: [inner, width],
                // In the code of `WhisperEncoder`; no field changes it.
                kernel: 3,
                stride,
                padding: 1,
                groups: 1,
            };
            Conv1d::load(&w.module(name), shape, true)
        };
        Ok(Self {
            conv1: conv("conv1", bins, 1)?,
            conv2: conv("conv2", width, 2)?,
            positions: w.tensor(
                "embed_positions.weight",
                [config.max_source_positions, width],
            )?,
            layers: BartLayer::load_all(shape, false, w)?,
            // PyTorch's default: `WhisperConfig` has no field for it.
            layer_norm: LayerNorm::load(&w.module("layer_norm"), width, 1e-5)?,
            // The second convolution halves the number of frames.
            size: [bins, 2 * config.max_source_positions],
        })
    }

    /// Stores the trace.
    fn embed(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        const NAME: &str = "input_features";
        let features = inputs.floats::<3>(NAME)?;
        // `WhisperEncoder` rejects other lengths as well: its table of positions is taken as a
        // whole.
        if features.dims()[1..] != self.size {
            return Err(ForwardError::WrongInput {
                name: NAME.to_owned(),
                found: format!("of shape {:?}", features.dims()),
                expected: format!("[batch, {:?}]", self.size),
            });
        }
        // `WhisperEncoder` takes GELU here whatever `activation_function` is.
        let x = activate(
            self.conv1.forward(features.swap_dims(1, 2)),
            Activation::Gelu,
        );
        let x = activate(self.conv2.forward(x), Activation::Gelu)
            + self.positions.clone().unsqueeze::<3>();
        context.trace_embed(&x)?;
        Ok(x)
    }
}

impl<B: Ops> SourceEncoder<B> for SpectrogramEncoder<B> {
    fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let x = self.embed(inputs, context)?;
        // Without a mask: Whisper also attends to the silence that fills the recording up.
        encode_layers(&self.layers, x, None, context, |x| {
            self.layer_norm.forward(x)
        })
    }
}

/// The encoder alone with labels for a recording.
struct SpectrogramClassifier<B: Ops> {
    encoder: SpectrogramEncoder<B>,
    head: AudioClassifier<B>,
}

impl<B: Ops> Network<B> for SpectrogramClassifier<B> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let (mut states, x) = (Vec::new(), self.encoder.embed(inputs, context)?);
        let last = self.encoder.layers.run(
            context,
            x,
            &mut states,
            |layer, x, states, _| {
                states.push(x.clone());
                layer.encode(x, None)
            },
            |x| self.encoder.layer_norm.forward(x),
        )?;
        // After the final norm, unlike the others, as `WhisperEncoder` collects them.
        states.push(last.clone());
        context.output("logits", self.head.forward(last, states, None))
    }
}
