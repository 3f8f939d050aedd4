//! Text inputs that checks make themselves: rows of ids, padded as a caller of transformers would.

use crate::{
    Array, Arrays, Model,
    golden::{Case, Golden},
    model::Pooling,
};
use serde_json::Value;
use testgen_contract::Architecture;

/// Rows of ids, each of its own length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sequences(pub(super) Vec<Vec<i64>>);

/// On which side padding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// What must be known of a text model to make inputs for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextFacts<'a> {
    /// Which of the model's sequences is made.
    pub(super) stream: Stream<'a>,
    /// The id that fills padding.
    pub(super) pad: i64,
    /// Whether the configuration knows a pad token: classifiers of decoders look for it.
    pub(super) knows_pad: bool,
    /// The number of ids.
    pub(super) vocab: i64,
    /// The longest sequence whose beginning does not depend on its length.
    pub(super) longest: usize,
    /// Whether a token sees only those before it.
    pub(super) causal: bool,
    /// Whether what stands in front of a text is read, whatever the mask says: a state space model hides tokens before it
    /// projects them, so the convolution behind a projection with a bias reads that bias there, as in transformers.
    pub(super) reads_front: bool,
    /// Which token the pooled outputs are read at.
    pub(super) pooling: Pooling,
    /// An id that stands for a part of an image and is no text.
    pub(super) reserved: Option<i64>,
    /// The token that every row must end with, and have nowhere else.
    pub(super) end: Option<i64>,
}

/// A sequence of tokens that a model reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stream<'a> {
    /// The only one.
    Text,
    /// What an encoder reads, beside these arguments of the decoder.
    Source(&'a Arrays),
    /// What a decoder reads, beside these arguments of the encoder.
    Target(&'a Arrays),
}

impl<'a> Stream<'a> {
    /// The argument with the ids.
    pub(super) fn ids(self) -> &'static str {
        if matches!(self, Self::Target(_)) { "decoder_input_ids" } else { "input_ids" }
    }

    /// The argument that says which of them are no padding.
    pub(super) fn mask(self) -> &'static str {
        if matches!(self, Self::Target(_)) { "decoder_attention_mask" } else { "attention_mask" }
    }

    /// The arguments beside them.
    pub(super) fn beside(self) -> Option<&'a Arrays> {
        match self {
            Self::Text => None,
            Self::Source(beside) | Self::Target(beside) => Some(beside),
        }
    }

    /// What a name of a source's sequence is told with.
    pub(super) fn tell(self) -> &'static str {
        if matches!(self, Self::Source(_)) { " of the encoder" } else { "" }
    }

    /// Whether the output or trace `name` has one entry per position of this sequence, if of any.
    pub(super) fn owns(self, name: &str) -> bool {
        let name = name.strip_prefix("trace.").unwrap_or(name);
        let encoder = name.starts_with("encoder") || name.starts_with("question.");
        // The texts that passages were found for have positions of their own.
        let contexts = name.starts_with("generator_enc");
        match self {
            Self::Text => true,
            Self::Source(_) => encoder,
            Self::Target(_) => !encoder && !contexts,
        }
    }
}

static NOTHING: Arrays = Arrays::new();

/// The longest sequence that is made for a model without a limit of its own.
const LONGEST: usize = 1024;

impl<'a> TextFacts<'a> {
    /// The sequences of a model: one, or that of the decoder and, where it is text, that of the encoder.
    pub(super) fn streams(architecture: Architecture, model: &Model, golden: &'a Golden) -> Vec<Self> {
        let of = |stream| Self::of(stream, model, golden);
        if golden.target.is_empty() {
            let text = of(Stream::Text);
            return vec![match architecture {
                Architecture::EncoderDecoder => text.of_classifier(model),
                Architecture::Speech => Self { causal: false, ..text },
                // What the family promises is checked, whatever the loaded model says of itself.
                Architecture::DecoderOnly | Architecture::Moe | Architecture::Multimodal => {
                    Self { causal: true, ..text }
                }
                Architecture::Ssm => Self {
                    causal: true,
                    reads_front: model.config().get("use_bias") == Some(&Value::Bool(true)),
                    ..text
                },
                _ => text,
            }];
        }
        let mut streams = vec![of(Stream::Target(&golden.source))];
        if golden.source.contains_key("input_ids") {
            // Which passages a made question finds may be close to call, so nothing is read of them.
            let alone = architecture == Architecture::Rag;
            streams.push(of(Stream::Source(if alone { &NOTHING } else { &golden.target })));
        }
        streams
    }

    fn of(stream: Stream<'a>, model: &Model, golden: &Golden) -> Self {
        let part = if matches!(stream, Stream::Target(_)) { "generator" } else { "question_encoder" };
        let config = model.config();
        let places = [config.get(part), Some(config), config.get("text_config")];
        let field = |name: &str| places.iter().flatten().find_map(|config| config.get(name)?.as_i64());
        let number = |name: &str| field(name).filter(|number| *number >= 0);
        let configured = number("pad_token_id");
        let limits = [model.max_positions(), model.cacheable_length()];
        let own = number("decoder_vocab_size").filter(|_| matches!(stream, Stream::Target(_)));
        Self {
            stream,
            pad: golden.pad_token_id.or(configured).or_else(|| number("eos_token_id")).unwrap_or(0),
            knows_pad: configured.is_some(),
            vocab: own.or_else(|| number("vocab_size")).unwrap_or(2),
            longest: limits.into_iter().flatten().min().unwrap_or(LONGEST),
            causal: model.causal() && !matches!(stream, Stream::Source(_)),
            reads_front: false,
            pooling: model.pooling(),
            end: None,
            reserved: number("image_token_index"),
        }
    }

    /// A classifier with an encoder and a decoder reads one text with both, and finds the result at its end token.
    fn of_classifier(self, model: &Model) -> Self {
        Self { causal: false, end: model.config().get("eos_token_id").and_then(Value::as_i64), ..self }
    }

    /// `id`, or the end token where it must stand.
    fn placed(&self, id: i64, last: bool) -> i64 {
        self.end.filter(|_| last).unwrap_or(id)
    }
}

impl TextFacts<'_> {
    /// Whether padding on `side` changes nothing in the pooled outputs. A decoder's classifier finds the end by the pad id;
    /// without one it takes the last column.
    pub(super) fn pooled_survives(&self, side: Side) -> bool {
        match self.pooling {
            Pooling::Fixed => !self.causal || self.knows_pad || side == Side::Left,
            Pooling::EndToken => side == Side::Right,
            Pooling::LastColumn => false,
        }
    }

    /// Whether other ids at masked positions change nothing in the pooled outputs: not where a token is looked for by its id.
    pub(super) fn pooled_survives_other_ids(&self) -> bool {
        self.pooling == Pooling::Fixed && !self.causal
    }
}

impl Sequences {
    /// Ids that look random and are always the same, without the pad id.
    pub(super) fn generated(rows: usize, length: usize, facts: TextFacts<'_>) -> Self {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut id = || loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = ((state >> 33) % facts.vocab.max(2) as u64) as i64;
            if id != facts.pad && ![facts.end, facts.reserved].contains(&Some(id)) {
                return id;
            }
        };
        Self((0..rows).map(|_| (0..length).map(|_| id()).collect()).collect())
    }

    /// The rows of a recorded case without their padding.
    pub(super) fn of_case(case: &Case, stream: Stream<'_>) -> Option<Self> {
        let ids = case.inputs.get(stream.ids())?;
        let (rows, width) = (ids.shape()[0], ids.shape()[1]);
        let values = ids.as_integers()?;
        let mask = case.inputs.get(stream.mask()).and_then(Array::as_integers);
        let real = |flat: &usize| mask.is_none_or(|mask| mask[*flat] != 0);
        let row = |row: usize| (row * width..(row + 1) * width).filter(real).map(|flat| values[flat]).collect();
        Some(Self((0..rows).map(row).collect()))
    }

    pub(super) fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The first `length` ids of every row.
    pub(super) fn prefix(&self, length: usize) -> Self {
        Self(self.0.iter().map(|row| row[..length.min(row.len())].to_vec()).collect())
    }

    /// Ids and mask, padded to `width` on `side`, with what is beside them; left padding of causal models without an
    /// encoder comes with the position ids that `generate` makes.
    pub(super) fn padded(&self, width: usize, side: Side, facts: TextFacts<'_>) -> Arrays {
        let (mut ids, mut mask, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.0 {
            let padding = width - row.len();
            let before = if side == Side::Left { padding } else { 0 };
            for place in 0..width {
                let real = (before..before + row.len()).contains(&place);
                let last = place + 1 == before + row.len();
                ids.push(if real { facts.placed(row[place - before], last) } else { facts.pad });
                mask.push(i64::from(real));
                positions.push(if real { (place - before) as i64 } else { 0 });
            }
        }
        let shape = [self.0.len(), width];
        let mut inputs = Arrays::from([
            (facts.stream.ids().to_owned(), Array::integers(shape, ids)),
            (facts.stream.mask().to_owned(), Array::integers(shape, mask)),
        ]);
        for (name, array) in facts.stream.beside().into_iter().flatten() {
            let rows: Vec<usize> = (0..self.0.len()).map(|row| row % array.shape()[0].max(1)).collect();
            inputs.insert(name.clone(), array.select_rows(&rows));
        }
        if side == Side::Left && facts.causal && facts.stream == Stream::Text {
            inputs.insert("position_ids".to_owned(), Array::integers(shape, positions));
        }
        inputs
    }

    /// Unpadded inputs; every row has the same length.
    pub(super) fn whole(&self, facts: TextFacts<'_>) -> Arrays {
        self.padded(self.longest(), Side::Right, facts)
    }

    /// Every id from `start` on replaced by another one, never the pad id.
    pub(super) fn changed_from(&self, start: usize, facts: TextFacts<'_>) -> Self {
        let change = |(place, id): (usize, &i64)| if place < start { *id } else { another(*id, facts) };
        Self(self.0.iter().map(|row| row.iter().enumerate().map(change).collect()).collect())
    }
}

/// An id that is neither `id` nor the pad id.
pub(super) fn another(id: i64, facts: TextFacts<'_>) -> i64 {
    let next = |step: i64| (id + step).rem_euclid(facts.vocab);
    let kept = [Some(id), Some(facts.pad), facts.end, facts.reserved];
    let allowed = |next: &i64| !kept.contains(&Some(*next));
    [facts.vocab / 3 + 1, 1, 2, 3].into_iter().map(next).find(allowed).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: TextFacts<'_> = TextFacts {
        stream: Stream::Text,
        pad: 0,
        knows_pad: true,
        vocab: 9,
        longest: 64,
        causal: true,
        reads_front: false,
        pooling: Pooling::Fixed,
        end: None,
        reserved: None,
    };

    #[test]
    fn padding_stands_on_its_side_with_the_positions_of_generate() {
        let rows = Sequences(vec![vec![5, 6, 7], vec![8]]);
        let left = rows.padded(4, Side::Left, FACTS);
        assert_eq!(left["input_ids"].as_integers(), Some(&[0, 5, 6, 7, 0, 0, 0, 8][..]));
        assert_eq!(left["attention_mask"].as_integers(), Some(&[0, 1, 1, 1, 0, 0, 0, 1][..]));
        assert_eq!(left["position_ids"].as_integers(), Some(&[0, 0, 1, 2, 0, 0, 0, 0][..]));
        let right = rows.padded(4, Side::Right, FACTS);
        assert_eq!(right["input_ids"].as_integers(), Some(&[5, 6, 7, 0, 8, 0, 0, 0][..]));
        assert!(!right.contains_key("position_ids"));
    }

    #[test]
    fn other_ids_are_other_and_never_padding() {
        for id in 0..9 {
            let other = another(id, FACTS);
            assert!(other != id && other != 0 && (0..9).contains(&other), "{id} {other}");
        }
        let rows = Sequences::generated(3, 40, FACTS);
        assert!(rows.0.iter().flatten().all(|id| (1..9).contains(id)));
        assert_ne!(rows.0[0], rows.0[1]);
        assert_eq!(rows, Sequences::generated(3, 40, FACTS));
        let changed = rows.changed_from(39, FACTS);
        assert_eq!(changed.prefix(39), rows.prefix(39));
        assert_ne!(changed.0[0][39], rows.0[0][39]);
    }
}
