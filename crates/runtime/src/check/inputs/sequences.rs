//! Token sequences that checks make themselves: rows of ids, padded as a caller of transformers
//! would pad them.

use super::stream::TokenSequence;
use crate::golden::{Golden, RecordedCase};
use serde_json::Value;
use testgen_models::{Model, Pooling};
use testgen_nn::array::{Array, Arrays};
use testgen_types::Architecture;

/// Rows of ids, whose lengths may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct Sequences(pub(in crate::check) Vec<Vec<i64>>);

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
        let field = |name: &str| {
            objects
                .iter()
                .flatten()
                .find_map(|config| config.get(name)?.as_i64())
        };
        // Some configurations write -1 for an id that they do not have.
        let number = |name: &str| field(name).filter(|number| *number >= 0);
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
    fn with_end(&self, id: i64, last: bool) -> i64 {
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

    /// Whether the pooled outputs must not depend on padding on `side`. A decoder's classifier
    /// finds the last token by the pad id of the configuration; without one it takes the last
    /// column.
    pub(in crate::check) fn pooled_ignores_padding(&self, side: PaddedSide) -> bool {
        match self.pooling {
            Pooling::Fixed => !self.causal || self.pad_is_configured || side == PaddedSide::Left,
            Pooling::EndToken => side == PaddedSide::Right,
            Pooling::LastColumn => false,
        }
    }

    /// Whether the pooled outputs must not depend on the ids at masked positions. They may if a
    /// token is found by its id.
    pub(in crate::check) fn pooled_ignores_masked_ids(&self) -> bool {
        self.pooling == Pooling::Fixed && !self.causal
    }
}

impl Sequences {
    /// Pseudo-random ids, always the same ones, never the pad id.
    pub(in crate::check) fn generated(rows: usize, length: usize, facts: TextFacts<'_>) -> Self {
        // A congruential generator with the constants of MMIX: reproducible, and no check needs
        // better randomness.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut id = || loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // The high bits: the low bits of a congruential generator have short periods.
            let id = ((state >> 33) % facts.vocab.max(2) as u64) as i64;
            if id != facts.pad && ![facts.end, facts.reserved].contains(&Some(id)) {
                return id;
            }
        };
        Self(
            (0..rows)
                .map(|_| (0..length).map(|_| id()).collect())
                .collect(),
        )
    }

    /// The rows of a recorded case without their padding, or `None` if ids and mask are not both
    /// [batch, seq], as for a model of music, whose rows of ids are [batch * codebooks, seq].
    ///
    /// Each choice of a text is a row: with ids and mask [batch, choices, seq] there are batch *
    /// choices rows. Engines read [rows, seq] as texts with one choice.
    pub(in crate::check) fn of_case(
        case: &RecordedCase,
        stream: TokenSequence<'_>,
    ) -> Option<Self> {
        let ids = case.inputs.get(stream.ids())?;
        let values = ids.as_integers()?;
        let mask = case.inputs.get(stream.mask());
        if mask.is_some_and(|mask| mask.shape() != ids.shape()) {
            return None;
        }
        let (rows, width) = match *ids.shape() {
            [rows, width] => (rows, width),
            // Without a mask the last dimension may be codebooks.
            [batch, choices, width] if mask.is_some() => (batch * choices, width),
            _ => return None,
        };
        let mask = mask.and_then(Array::as_integers);
        Some(Self(
            (0..rows)
                .map(|row| {
                    (row * width..(row + 1) * width)
                        .filter(|flat| mask.is_none_or(|mask| mask[*flat] != 0))
                        .map(|flat| values[flat])
                        .collect()
                })
                .collect(),
        ))
    }

    pub(in crate::check) fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The first `length` ids of every row.
    pub(in crate::check) fn prefix(&self, length: usize) -> Self {
        Self(
            self.0
                .iter()
                .map(|row| row[..length.min(row.len())].to_vec())
                .collect(),
        )
    }

    /// Ids and mask, padded to `width` on `side`, with the other arguments.
    ///
    /// Left padding of causal models without an encoder comes with the position ids that `generate`
    /// passes: without them transformers would count positions from the first column, padding
    /// included.
    pub(in crate::check) fn padded(
        &self,
        width: usize,
        side: PaddedSide,
        facts: TextFacts<'_>,
    ) -> Arrays {
        let (mut ids, mut mask, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.0 {
            let padding = width - row.len();
            let before = if side == PaddedSide::Left { padding } else { 0 };
            for column in 0..width {
                let real = (before..before + row.len()).contains(&column);
                let last = column + 1 == before + row.len();
                ids.push(if real {
                    facts.with_end(row[column - before], last)
                } else {
                    facts.pad
                });
                mask.push(i64::from(real));
                // Any position does for padding, but a table has no row for -1.
                positions.push(if real { (column - before) as i64 } else { 0 });
            }
        }
        let shape = [self.0.len(), width];
        let mut inputs = Arrays::from([
            (facts.stream.ids().to_owned(), Array::integers(shape, ids)),
            (facts.stream.mask().to_owned(), Array::integers(shape, mask)),
        ]);
        for (name, array) in facts.stream.other_arguments().into_iter().flatten() {
            let rows: Vec<usize> = (0..self.0.len())
                // There may be more generated rows than recorded ones.
                .map(|row| row % array.shape()[0].max(1))
                .collect();
            inputs.insert(name.clone(), array.select_rows(&rows));
        }
        if side == PaddedSide::Left && facts.causal && facts.stream == TokenSequence::Text {
            inputs.insert("position_ids".to_owned(), Array::integers(shape, positions));
        }
        inputs
    }

    /// Inputs without padding; all rows must have the same length.
    pub(in crate::check) fn unpadded(&self, facts: TextFacts<'_>) -> Arrays {
        self.padded(self.longest(), PaddedSide::Right, facts)
    }

    /// The same rows with every id from `start` on replaced by another one.
    pub(in crate::check) fn changed_from(&self, start: usize, facts: TextFacts<'_>) -> Self {
        Self(
            self.0
                .iter()
                .map(|row| {
                    row.iter()
                        .enumerate()
                        .map(|(column, id)| {
                            if column < start {
                                *id
                            } else {
                                another(*id, facts)
                            }
                        })
                        .collect()
                })
                .collect(),
        )
    }
}

/// An id other than `id`, and not a special one.
pub(in crate::check) fn another(id: i64, facts: TextFacts<'_>) -> i64 {
    let next = |step: i64| (id + step).rem_euclid(facts.vocab);
    // The first step is large: neighbouring ids of a trained tokenizer are often similar tokens.
    // The others are for the case that it hits a special id.
    let kept = [Some(id), Some(facts.pad), facts.end, facts.reserved];
    [facts.vocab / 3 + 1, 1, 2, 3]
        .into_iter()
        .map(next)
        .find(|next| !kept.contains(&Some(*next)))
        .unwrap_or(id)
}

#[cfg(test)]
mod tests;
