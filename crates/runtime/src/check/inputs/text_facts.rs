//! The facts about a model that are needed to make token ids for it, and to know which padding its
//! outputs depend on.

use super::stream::TokenSequence;
use crate::golden::Golden;
use serde_json::Value;
use testgen_models::{Model, Pooling};
use testgen_nn::array::Arrays;
use testgen_types::Architecture;

/// The side of a row that padding is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum PaddedSide {
    Left,
    Right,
}

/// The facts about a model that are needed to make token ids for it.
#[derive(Debug, Clone, Copy)]
pub(in crate::check) struct TextFacts<'a> {
    /// The sequence that the facts are about.
    pub(in crate::check) stream: TokenSequence<'a>,
    /// The id that fills padding.
    pub(in crate::check) pad: i64,
    /// Whether `pad` is the pad token of the configuration, which classifiers of decoders search
    /// for.
    pub(in crate::check) pad_is_configured: bool,
    /// The number of ids.
    pub(in crate::check) vocab: i64,
    /// The longest sequence whose beginning does not depend on its length.
    pub(in crate::check) longest: usize,
    /// Whether a token sees only those before it.
    pub(in crate::check) causal: bool,
    /// Whether left padding changes the output although the mask hides it: a state space model
    /// masks tokens before it projects them, so if the projection has a bias, the convolution after
    /// it reads that bias at the padding, as in transformers.
    pub(in crate::check) reads_left_padding: bool,
    /// The token at which pooled outputs are read.
    pub(in crate::check) pooling: Pooling,
    /// The id of image patches, which is not text.
    pub(in crate::check) reserved: Option<i64>,
    /// The token that ends every row and occurs nowhere else in it.
    pub(in crate::check) end: Option<i64>,
}

static NO_ARGUMENTS: Arrays = Arrays::new();

/// The longest sequence for a model that sets no limit.
const LONGEST: usize = 1024;

impl<'a> TextFacts<'a> {
    /// The sequences of a model: one, or for an encoder-decoder the sequence of the decoder and, if
    /// the encoder reads text, the sequence of the encoder.
    pub(in crate::check) fn streams(
        architecture: Architecture,
        model: &Model,
        golden: &'a Golden,
    ) -> Vec<Self> {
        let sequence = |stream| Self::new(stream, model, golden);
        if golden.target.is_empty() {
            let text = sequence(TokenSequence::Text);
            return vec![match architecture {
                Architecture::EncoderDecoder => text.of_classifier(model),
                Architecture::Speech => Self {
                    causal: false,
                    ..text
                },
                // Not `capabilities().causal`: a model of these architectures that is not causal
                // must fail.
                Architecture::DecoderOnly | Architecture::Moe | Architecture::Multimodal => Self {
                    causal: true,
                    ..text
                },
                Architecture::Ssm => Self {
                    causal: true,
                    reads_left_padding: model.config().get("use_bias") == Some(&Value::Bool(true)),
                    ..text
                },
                _ => text,
            }];
        }
        let mut streams = vec![sequence(TokenSequence::Target(&golden.source))];
        if golden.source.contains_key("input_ids") {
            // Without the decoder's arguments a model with retrieval stops after the question
            // encoder. A made-up question can be equally near to several passages, and then what
            // the generator computes from them is arbitrary.
            let question_only = architecture == Architecture::Rag;
            streams.push(sequence(TokenSequence::Source(if question_only {
                &NO_ARGUMENTS
            } else {
                &golden.target
            })));
        }
        streams
    }

    fn new(stream: TokenSequence<'a>, model: &Model, golden: &Golden) -> Self {
        // Models of several parts nest the fields that are at the top level elsewhere.
        let part = if matches!(stream, TokenSequence::Target(_)) {
            "generator"
        } else {
            "question_encoder"
        };
        let config = model.config();
        let objects = [config.get(part), Some(config), config.get("text_config")];
        let number = |name: &str| {
            let mut objects = objects.iter().flatten();
            let number = objects.find_map(|config| config.get(name)?.as_i64());
            // Some configurations write -1 for an id that they do not have.
            number.filter(|number| *number >= 0)
        };
        let capabilities = model.capabilities();
        let limits = [capabilities.max_positions, capabilities.cacheable_length];
        let decoder_vocab =
            number("decoder_vocab_size").filter(|_| matches!(stream, TokenSequence::Target(_)));
        let vocab = decoder_vocab.or_else(|| number("vocab_size"));
        // Checkpoints cut down for tests keep the special ids of the full model, which their
        // embedding no longer has.
        let in_vocab = |id: &i64| vocab.is_none_or(|vocab| *id < vocab);
        let configured = number("pad_token_id").filter(in_vocab);
        let recorded = golden.pad_token_id.filter(in_vocab);
        Self {
            stream,
            // The golden's first, because its inputs were padded with it. Without a pad token,
            // callers of transformers use the end token.
            pad: recorded
                .or(configured)
                .or_else(|| number("eos_token_id").filter(in_vocab))
                .unwrap_or(0),
            pad_is_configured: configured.is_some(),
            // Two ids that every embedding has.
            vocab: vocab.unwrap_or(2),
            longest: limits.into_iter().flatten().min().unwrap_or(LONGEST),
            // The capability is the decoder's: an encoder sees its whole text.
            causal: capabilities.causal && !matches!(stream, TokenSequence::Source(_)),
            reads_left_padding: false,
            pooling: capabilities.pooling,
            end: None,
            reserved: number("image_token_index"),
        }
    }

    /// A classifier with an encoder and a decoder reads one text with both, and classifies the
    /// state of its end token.
    fn of_classifier(self, model: &Model) -> Self {
        Self {
            causal: false,
            end: model.config().get("eos_token_id").and_then(Value::as_i64),
            ..self
        }
    }

    /// `id`, or the end token at the last position of a row that needs one.
    pub(super) fn with_end(&self, id: i64, last: bool) -> i64 {
        self.end.filter(|_| last).unwrap_or(id)
    }
}

impl TextFacts<'_> {
    /// Why a check does not apply that needs a text of `length`.
    pub(in crate::check) fn too_short_for(&self, length: usize) -> Option<String> {
        let longest = self.longest;
        (longest < length).then(|| {
            format!("the model has {longest} positions; this check needs a text of {length}")
        })
    }

    /// Whether padding on the left, with the position ids of the caller, changes no output.
    pub(in crate::check) fn can_be_padded_left(&self) -> bool {
        self.causal && self.stream == TokenSequence::Text && !self.reads_left_padding
    }

    /// Whether the pooled outputs must not depend on padding on `side`.
    pub(in crate::check) fn pooled_ignores_padding(&self, side: PaddedSide) -> bool {
        match self.pooling {
            // A decoder's classifier finds the last token by the pad id of the configuration;
            // without one it takes the last column.
            Pooling::Fixed => !self.causal || self.pad_is_configured || side == PaddedSide::Left,
            Pooling::EndToken => side == PaddedSide::Right,
            Pooling::LastColumn => false,
        }
    }

    /// Whether the pooled outputs must not depend on the ids at masked positions.
    pub(in crate::check) fn pooled_ignores_masked_ids(&self) -> bool {
        // They may depend on them if a token is found by its id.
        self.pooling == Pooling::Fixed && !self.causal
    }
}
