//! Text inputs that checks make themselves: rows of ids, padded as a caller of transformers would.

use crate::{
    Array, Arrays, Model,
    golden::{Case, Golden},
    model::Pooling,
};

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
pub(super) struct TextFacts {
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
    /// Which token the pooled outputs are read at.
    pub(super) pooling: Pooling,
    /// An id that stands for a part of an image and is no text.
    pub(super) reserved: Option<i64>,
}

/// The longest sequence that is made for a model without a limit of its own.
const LONGEST: usize = 1024;

impl TextFacts {
    pub(super) fn of(model: &Model, golden: &Golden) -> Self {
        let places = [Some(model.config()), model.config().get("text_config")];
        let field = |name: &str| places.iter().flatten().find_map(|config| config.get(name)?.as_i64());
        let number = |name: &str| field(name).filter(|number| *number >= 0);
        let configured = number("pad_token_id");
        let limits = [model.max_positions(), model.cacheable_length()];
        Self {
            pad: golden.pad_token_id.or(configured).or_else(|| number("eos_token_id")).unwrap_or(0),
            knows_pad: configured.is_some(),
            vocab: number("vocab_size").unwrap_or(2),
            longest: limits.into_iter().flatten().min().unwrap_or(LONGEST),
            causal: model.causal(),
            pooling: model.pooling(),
            reserved: number("image_token_index"),
        }
    }
}

impl TextFacts {
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
    pub(super) fn generated(rows: usize, length: usize, facts: TextFacts) -> Self {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut id = || loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = ((state >> 33) % facts.vocab.max(2) as u64) as i64;
            if id != facts.pad && facts.reserved != Some(id) {
                return id;
            }
        };
        Self((0..rows).map(|_| (0..length).map(|_| id()).collect()).collect())
    }

    /// The rows of a recorded case without their padding.
    pub(super) fn of_case(case: &Case) -> Option<Self> {
        let ids = case.inputs.get("input_ids")?;
        let (rows, width) = (ids.shape()[0], ids.shape()[1]);
        let values = ids.as_integers()?;
        let mask = case.inputs.get("attention_mask").and_then(Array::as_integers);
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

    /// `input_ids` and `attention_mask`, padded to `width` on `side`; left padding of causal models comes with the position
    /// ids that `generate` makes.
    pub(super) fn padded(&self, width: usize, side: Side, facts: TextFacts) -> Arrays {
        let (mut ids, mut mask, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.0 {
            let padding = width - row.len();
            let before = if side == Side::Left { padding } else { 0 };
            for place in 0..width {
                let real = (before..before + row.len()).contains(&place);
                ids.push(if real { row[place - before] } else { facts.pad });
                mask.push(i64::from(real));
                positions.push(if real { (place - before) as i64 } else { 0 });
            }
        }
        let shape = [self.0.len(), width];
        let mut inputs = Arrays::from([
            ("input_ids".to_owned(), Array::integers(shape, ids)),
            ("attention_mask".to_owned(), Array::integers(shape, mask)),
        ]);
        if side == Side::Left && facts.causal {
            inputs.insert("position_ids".to_owned(), Array::integers(shape, positions));
        }
        inputs
    }

    /// Unpadded inputs; every row has the same length.
    pub(super) fn whole(&self, facts: TextFacts) -> Arrays {
        self.padded(self.longest(), Side::Right, facts)
    }

    /// Every id from `start` on replaced by another one, never the pad id.
    pub(super) fn changed_from(&self, start: usize, facts: TextFacts) -> Self {
        let change = |(place, id): (usize, &i64)| if place < start { *id } else { another(*id, facts) };
        Self(self.0.iter().map(|row| row.iter().enumerate().map(change).collect()).collect())
    }
}

/// An id that is neither `id` nor the pad id.
pub(super) fn another(id: i64, facts: TextFacts) -> i64 {
    let is_other = |next: i64| next != id && next != facts.pad && facts.reserved != Some(next);
    let next = |step: i64| (id + step).rem_euclid(facts.vocab);
    [facts.vocab / 3 + 1, 1, 2, 3].into_iter().map(next).find(|next| is_other(*next)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: TextFacts = TextFacts {
        pad: 0,
        knows_pad: true,
        vocab: 9,
        longest: 64,
        causal: true,
        pooling: Pooling::Fixed,
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
