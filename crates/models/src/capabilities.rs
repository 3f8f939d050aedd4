//! The properties of a loaded network: its limits, its cache, and the effect of padding.

use serde_json::Value;
use testgen_types::{Architecture, Head, ModelType, ScoreFunction};

/// Fixed once a network is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The argument that grows token by token when the model generates.
    pub token_input_name: &'static str,
    /// The number of layers that keep keys and values, or `None` for a model that does not
    /// generate.
    pub cached_layers: Option<usize>,
    /// The longest sequence that the model has positions for, or `None` if the model itself sets no
    /// limit.
    pub max_positions: Option<usize>,
    /// The longest sequence for which steps with a cache must equal the whole sequence at once, or
    /// `None` if this holds for every length.
    pub cacheable_length: Option<usize>,
    /// The length beyond which every key must be computed again, once, or `None` if keys never
    /// change.
    pub cache_reset_length: Option<usize>,
    /// Whether a token attends only to itself and earlier tokens.
    pub causal: bool,
    /// The token at which the pooled outputs of a text are read.
    pub pooling: Pooling,
    /// How many tokens of a text one image takes, or `None` for a model that does not read images
    /// in texts.
    pub tokens_per_image: Option<usize>,
}

/// The token at which the pooled outputs of a text are read, which decides what padding may do to
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The first, or the last that is not padding: padding changes nothing.
    Fixed,
    /// One that is found by its id: padding after it changes nothing.
    EndToken,
    /// The last column, padding or not.
    LastColumn,
}

impl Default for Capabilities {
    /// The capabilities of an encoder without a limit.
    fn default() -> Self {
        Self {
            token_input_name: "input_ids",
            cached_layers: None,
            max_positions: None,
            cacheable_length: None,
            cache_reset_length: None,
            causal: false,
            pooling: Pooling::Fixed,
            tokens_per_image: None,
        }
    }
}

impl Capabilities {
    /// The capabilities of a model that another engine computes, as far as its architecture, its
    /// head and its configuration show them.
    ///
    /// A test compares them with the capabilities of the native networks.
    pub(crate) fn described(model_type: ModelType, head: Head, config: &Value) -> Self {
        let text = TextConfig::new(config);
        let limits = Self {
            max_positions: text.positions(),
            cacheable_length: text.cacheable_length(),
            ..Self::default()
        };
        let decoder = Self {
            cached_layers: text.number(LAYERS),
            causal: true,
            ..limits
        };
        let writes = head != Head::Encoder;
        let beside_encoder = Self {
            token_input_name: DECODER_INPUT,
            ..decoder
        };
        match model_type.architecture() {
            Architecture::DecoderOnly | Architecture::Moe => decoder,
            // A state has no positions.
            Architecture::Ssm => Self {
                max_positions: None,
                ..decoder
            },
            Architecture::Multimodal => Self {
                tokens_per_image: tokens_per_image(config),
                ..decoder
            },
            Architecture::EncoderDecoder if writes => beside_encoder,
            Architecture::EncoderDecoder => limits,
            // Both of its heads write.
            Architecture::Rag => beside_encoder,
            Architecture::Speech
                // Whisper's base class decodes, too; wav2vec 2.0 has no decoder at all.
                if head == Head::ConditionalGeneration
                    || text.has_decoder() && head == Head::Base =>
            {
                beside_encoder
            }
            Architecture::VisionText => limits.beside_images(model_type, &text),
            Architecture::EncoderOnly => Self {
                max_positions: text.encoder_positions(),
                ..limits
            },
            // The others read no text.
            _ => Self::default(),
        }
    }

    /// The capabilities of a text encoder with these limits, in a model that compares texts with
    /// images.
    fn beside_images(self, model_type: ModelType, text: &TextConfig<'_>) -> Self {
        // Encoders like BERT's see every token and are pooled at the first one.
        if text.has_token_types() {
            return Self {
                max_positions: text.encoder_positions(),
                ..self
            };
        }
        match model_type.scores() {
            // CLIP, whose text encoder has a causal mask and is read at the end token.
            ScoreFunction::Softmax => Self {
                causal: true,
                pooling: Pooling::EndToken,
                ..self
            },
            // SigLIP, which sees whole texts and was trained on texts of full length.
            ScoreFunction::Sigmoid => Self {
                pooling: Pooling::LastColumn,
                ..self
            },
        }
    }

    /// The length that every text is padded to, of a model that reads its last column whether it is
    /// padding or not; its pipeline in transformers does the same.
    pub fn full_text_length(&self) -> Option<usize> {
        self.max_positions
            .filter(|_| self.pooling == Pooling::LastColumn)
    }

    /// The capabilities of a decoder with `layers` layers and without a limit.
    pub(crate) fn decoder(layers: usize) -> Self {
        Self {
            cached_layers: Some(layers),
            causal: true,
            ..Self::default()
        }
    }
}

/// The argument that grows in a model whose encoder reads another one.
const DECODER_INPUT: &str = "decoder_input_ids";
/// The number of layers that generate, by the names of the types; the decoder's first.
const LAYERS: &[&str] = &[
    "decoder_layers",
    "num_decoder_layers",
    "num_hidden_layers",
    "n_layer",
    "num_layers",
    "n_layers",
];
/// The number of positions that a table has, by the names of the types; the decoder's first.
const POSITIONS: &[&str] = &[
    "max_target_positions",
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
];

/// The configurations of the parts of a model that read or write text, the innermost first.
struct TextConfig<'a>(Vec<&'a Value>);

impl<'a> TextConfig<'a> {
    fn new(config: &'a Value) -> Self {
        let parts = ["text_config", "generator", "question_encoder"]
            .into_iter()
            .filter_map(|name| config.get(name));
        Self(parts.chain([config]).collect())
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        // A `null` hides the values of outer configurations, which transformers does not read.
        self.0
            .iter()
            .find_map(|config| config.get(name))
            .filter(|value| !value.is_null())
    }

    fn number(&self, names: &[&str]) -> Option<usize> {
        let numbers = names.iter().filter_map(|name| self.get(name)?.as_u64());
        numbers
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
            .next()
    }

    fn has_decoder(&self) -> bool {
        self.get("is_encoder_decoder")
            .and_then(Value::as_bool)
            .unwrap_or_else(|| self.number(&["decoder_layers"]).is_some())
    }

    fn has_token_types(&self) -> bool {
        self.number(&["type_vocab_size"]).is_some()
    }

    /// The kind of rotary positions, or `None` for a model without.
    fn rotary(&self) -> Option<&'a str> {
        // ESM has the fields of both kinds.
        if self.get("position_embedding_type").and_then(Value::as_str) == Some("absolute") {
            return None;
        }
        let parameters = self
            .get("rope_parameters")
            .or_else(|| self.get("rope_scaling"));
        // Positions rotate if a file has any of these beside no parameters: `rotary_pct` is of
        // GPT-NeoX, `global_rope_theta` of ModernBERT.
        let plain = [
            "rope_theta",
            "rotary_pct",
            "rope_parameters",
            "global_rope_theta",
        ];
        parameters
            .and_then(|parameters| {
                parameters
                    .get("rope_type")
                    // Files that call the object `rope_scaling` call this field `type`.
                    .or_else(|| parameters.get("type"))?
                    .as_str()
            })
            .or_else(|| {
                plain
                    .iter()
                    .any(|name| self.get(name).is_some())
                    .then_some("default")
            })
    }

    /// The rows of the table of positions that a text can use, or `None` if positions are computed.
    fn positions(&self) -> Option<usize> {
        if self.rotary().is_some()
            || self.get("alibi").and_then(Value::as_bool) == Some(true)
            // DeBERTa without this input has relative positions alone.
            || self.get("position_biased_input").and_then(Value::as_bool) == Some(false)
        {
            return None;
        }
        self.number(POSITIONS)
    }

    /// The positions of an encoder.
    fn encoder_positions(&self) -> Option<usize> {
        // RoBERTa and its relatives count from the pad token, which BERT and its relatives have at
        // 0. The row of padding and the rows before it are never the position of a token.
        let reserved = self
            .number(&["pad_token_id"])
            .filter(|pad| *pad > 0)
            .map_or(0, |pad| pad + 1);
        self.positions().map(|rows| rows.saturating_sub(reserved))
    }

    /// The length beyond which earlier keys would be rotated otherwise.
    fn cacheable_length(&self) -> Option<usize> {
        match self.rotary()? {
            // Not the original length: `dynamic` counts from the length that the file declares.
            "dynamic" => self.number(&["max_position_embeddings"]),
            "longrope" => self.number(&[
                "original_max_position_embeddings",
                "max_position_embeddings",
            ]),
            _ => None,
        }
    }
}

fn tokens_per_image(config: &Value) -> Option<usize> {
    let number =
        |name: &str| usize::try_from(config.get("vision_config")?.get(name)?.as_u64()?).ok();
    let (size, patch) = (number("image_size")?, number("patch_size")?);
    // `LlavaModel` drops the first token for any other strategy than `full`.
    let class_token = config
        .get("vision_feature_select_strategy")
        .and_then(Value::as_str)
        == Some("full");
    // A `patch_size` of 0 is for the load to refuse.
    Some((size / patch.max(1)).pow(2) + usize::from(class_token))
}
