//! The class of a tokenizer in transformers, and the defaults that it decides.

use super::side::PaddingSide;
use crate::{config_file::ConfigFile, error::PreprocessError};
use testgen_types::ModelType;

/// The question encoder of RAG, which is a part of a model and not a separate type: its
/// `model_type` and its tokenizer.
const QUESTION_ENCODER: [&str; 2] = ["dpr", "DPRQuestionEncoderTokenizer"];

/// The classes of transformers 5 that pad rows before the text, because their models generate.
// Others, and `TokenizersBackend`, pad after it.
const PADDED_LEFT: [&str; 6] = [
    "CodeLlamaTokenizer",
    "CohereTokenizer",
    "GemmaTokenizer",
    "LlamaTokenizer",
    "Siglip2Tokenizer",
    "XLNetTokenizer",
];

/// The classes of transformers 5 whose `model_input_names` have `token_type_ids`.
// Others, and `TokenizersBackend`, return none, so that the second text of a pair has the type of
// the first.
const WITH_TOKEN_TYPES: [&str; 14] = [
    "BertTokenizer",
    "ConvBertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DebertaTokenizer",
    "DebertaV2Tokenizer",
    "ElectraTokenizer",
    "FNetTokenizer",
    "LayoutLMTokenizer",
    "LayoutLMv2Tokenizer",
    "LxmertTokenizer",
    "MarkupLMTokenizer",
    "MobileBertTokenizer",
    "SqueezeBertTokenizer",
];

/// The transformers class that rebuilds a tokenizer from its vocabulary by the rules of the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenizerClass {
    /// `TokenizersBackend`, and every class without code here: `tokenizer.json` holds as it is.
    Generic,
    Albert,
    /// `Wav2Vec2CTCTokenizer`, which reads no texts here.
    FrameTokens,
    Bert,
    DebertaV2,
    Gpt2,
    Llama,
    Mpnet,
    Marian,
    Qwen2,
    Roberta,
    Vits,
}

impl TokenizerClass {
    pub(super) fn from_name(class_name: &str) -> Self {
        match class_name {
            "Qwen2Tokenizer" => Self::Qwen2,
            crate::frame_tokens::CLASS => Self::FrameTokens,
            "AlbertTokenizer" => Self::Albert,
            "BertTokenizer"
            | "DistilBertTokenizer"
            | "DPRQuestionEncoderTokenizer"
            | "ElectraTokenizer" => Self::Bert,
            "DebertaV2Tokenizer" => Self::DebertaV2,
            "MPNetTokenizer" => Self::Mpnet,
            "GPT2Tokenizer" => Self::Gpt2,
            "LlamaTokenizer" => Self::Llama,
            "MarianTokenizer" => Self::Marian,
            "RobertaTokenizer" | "BartTokenizer" => Self::Roberta,
            "VitsTokenizer" => Self::Vits,
            // Not an error: most classes change nothing in `tokenizer.json`.
            _ => Self::Generic,
        }
    }
}

/// As `AutoTokenizer` decides, without the suffix `Fast`: the class that the type always has, else
/// the named one, else the type's.
pub(super) fn class_name<'a>(
    file: &'a ConfigFile,
    model: &'a ConfigFile,
) -> Result<&'a str, PreprocessError> {
    let named = file
        .text("tokenizer_class")?
        .or(model.text("tokenizer_class")?);
    let model_type = model.text("model_type")?.unwrap_or_default();
    let [question_encoder, question_tokenizer] = QUESTION_ENCODER;
    let (forced, registered) = match ModelType::find(model_type).and_then(ModelType::native) {
        Some(entry) => (entry.forced_tokenizer, entry.tokenizer),
        // Not in the registry, because on its own this encoder is not a model that is implemented
        // here.
        None if model_type == question_encoder => ("", question_tokenizer),
        None => ("", ""),
    };
    let class = if forced.is_empty() {
        named.unwrap_or(registered)
    } else {
        forced
    };
    // transformers 5 has one class under both names.
    Ok(class.trim_end_matches("Fast"))
}

/// `padding_side` of the class, which holds where `tokenizer_config.json` has none.
pub(super) fn default_padding_side(class_name: &str) -> PaddingSide {
    if PADDED_LEFT.contains(&class_name) {
        PaddingSide::Left
    } else {
        PaddingSide::Right
    }
}

/// Whether the class returns token types, which holds where `tokenizer_config.json` has no
/// `model_input_names`.
pub(super) fn has_token_types(class_name: &str) -> bool {
    // Without a name the class is one that is not known here: the model decides alone.
    class_name.is_empty() || WITH_TOKEN_TYPES.contains(&class_name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::tokenizer::{PaddingSide, Tokenizer};
    use serde_json::json;
    use std::{fs, path::Path};

    /// The side on which a tokenizer pads whose checkpoint has these settings and the tokenizer of
    /// a fixture.
    fn side(fixture: &str, settings: &serde_json::Value) -> PaddingSide {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures")
            .join(fixture);
        let directory = tempfile::tempdir().unwrap();
        for file in ["config.json", "tokenizer.json"] {
            fs::copy(fixture.join(file), directory.path().join(file)).unwrap();
        }
        fs::write(
            directory.path().join("tokenizer_config.json"),
            settings.to_string(),
        )
        .unwrap();
        let tokenizer = Tokenizer::open(directory.path()).unwrap().unwrap();
        let mask = tokenizer
            .encode(&["it", "the dog saw it"])
            .unwrap()
            .remove("attention_mask")
            .unwrap();
        if mask.as_integers().unwrap()[0] == 0 {
            PaddingSide::Left
        } else {
            PaddingSide::Right
        }
    }

    /// Expected sides are from `AutoTokenizer` (transformers 5.23).
    #[test]
    fn the_class_decides_the_side_that_is_padded() {
        let class = |name: &str| json!({ "tokenizer_class": name, "pad_token": "<pad>" });
        for name in [
            "CodeLlamaTokenizer",
            "CohereTokenizerFast",
            "GemmaTokenizer",
            "LlamaTokenizer",
            "LlamaTokenizerFast",
        ] {
            assert_eq!(
                side("llama_classification", &class(name)),
                PaddingSide::Left,
                "{name}"
            );
        }
        for name in ["PreTrainedTokenizerFast", "TokenizersBackend"] {
            assert_eq!(
                side("llama_classification", &class(name)),
                PaddingSide::Right,
                "{name}"
            );
        }
        assert_eq!(
            side("mistral", &class("LlamaTokenizer")),
            PaddingSide::Right,
            "the class that Mistral always has"
        );
        assert_eq!(
            side("gemma", &json!({ "pad_token": "<pad>" })),
            PaddingSide::Left,
            "the class of the model type"
        );
        let right = json!({ "tokenizer_class": "LlamaTokenizer", "pad_token": "<pad>", "padding_side": "right" });
        assert_eq!(side("llama_classification", &right), PaddingSide::Right);
    }
}
