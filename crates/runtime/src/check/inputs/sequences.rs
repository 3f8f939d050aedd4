//! Token sequences that checks make themselves: rows of ids, padded as a caller of transformers
//! would pad them.

use super::{
    stream::TokenSequence,
    text_facts::{PaddedSide, TextFacts},
};
use crate::golden::RecordedCase;
use testgen_nn::array::{Array, Arrays};

/// Rows of ids, whose lengths may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct Sequences(pub(in crate::check) Vec<Vec<i64>>);

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
        // Each choice of a text is a row: with ids and mask [batch, choices, seq] there are batch *
        // choices rows. Engines read [rows, seq] as texts with one choice.
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
    pub(in crate::check) fn padded(
        &self,
        width: usize,
        side: PaddedSide,
        facts: TextFacts<'_>,
    ) -> Arrays {
        let (mut ids, mut mask, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.0 {
            let padding = width - row.len();
            // Left padding of causal models without an encoder comes with the position ids that
            // `generate` passes: without them transformers would count positions from the first
            // column, padding included.
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
    // The first step is large: neighbouring ids of a trained tokenizer are often similar tokens.
    // The others are for the case that it hits a special id.
    let kept = [Some(id), Some(facts.pad), facts.end, facts.reserved];
    [facts.vocab / 3 + 1, 1, 2, 3]
        .into_iter()
        .map(|step| (id + step).rem_euclid(facts.vocab))
        .find(|next| !kept.contains(&Some(*next)))
        .unwrap_or(id)
}

#[cfg(test)]
mod tests;
