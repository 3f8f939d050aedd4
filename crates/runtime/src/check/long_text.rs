//! `long_text`: a text that fills the model's positions, read at once, equals the same text read in
//! chunks with a cache, cut at lengths around tiles of kernels, padded in a batch, and at later
//! positions; a token is seen as far as the windows of all layers reach.
//!
//! Long texts have no golden: the relations hold without one. A model without a number of positions
//! reads 32768 tokens on a GPU. A text for which the memory does not suffice is halved, and the
//! report says so.

mod length;
mod positions;
mod window;

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        cached_sequences::{advance_in_steps, class_without_cache},
        outputs_by_position::{OutputsByPosition, forward_by_position, pairs},
    },
    inputs::{
        sequences::{Sequences, another},
        text_facts::{PaddedSide, TextFacts},
    },
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::tolerance::{Threshold, Tolerance};
use length::LongLength;
use testgen_nn::array::Array;
use window::{Seen, SlidingWindows};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::WrongTailAt33,
    "the end of a text of 33 tokens is wrong",
    "the first 33 tokens",
);

/// The shortest text whose half, padded, is a batch without empty rows.
const SHORTEST: usize = 4;
/// The last tokens, which are read one by one after the chunks.
const STEPS: usize = 4;

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    if let Some(reason) = inapplicable(tested.model().class()) {
        return Err(Abort::Skip(reason));
    }
    let facts = run.text_facts(&tested, &golden);
    let length = LongLength::for_run(run, &tested);
    // All relations are cut at the length that fits into memory.
    let facts = TextFacts {
        longest: length.tokens,
        ..facts
    };
    Abort::skip_if(facts.too_short_for(SHORTEST))?;
    let tolerance = run.tolerance(&golden, &tested);
    // One row: the length uses the memory that a batch would need.
    let rows = Sequences::generated(1, length.tokens, facts);
    let whole = forward_by_position(run, &tested, facts.stream, &rows.unpadded(facts))?
        .require_positions()?;
    let mut relations = Relations {
        run,
        tested: &tested,
        facts,
        tolerance,
        rows: &rows,
        whole: &whole,
        failures: Failures::default(),
    };
    relations.chunks()?;
    relations.prefixes()?;
    relations.padding()?;
    let windows = SlidingWindows::of_model(tested.model().config(), length.tokens);
    let reach = match windows {
        Some(windows) => relations.windows(windows)?,
        None => None,
    };
    // Absolute positions are looked up or added, so that later ones have other outputs.
    if positions::are_relative(tested.model().config()) {
        relations.shifted()?;
    }
    relations.failures.conclude()?;
    Ok(Some(summary(&length, reach)))
}

/// Why a class has no cache.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    class_without_cache(class)
}

fn summary(length: &LongLength, reach: Option<usize>) -> String {
    let reach = reach.map_or(String::new(), |reach| {
        format!("; each is seen {reach} after it")
    });
    format!("{length}{reach}")
}

/// A long text and its outputs, which the outputs of other ways to read it are compared with.
struct Relations<'a, 'r> {
    run: &'a mut CheckRun<'r>,
    tested: &'a SubjectUnderTest,
    facts: TextFacts<'a>,
    tolerance: Tolerance<'a>,
    rows: &'a Sequences,
    whole: &'a OutputsByPosition,
    failures: Failures,
}

impl Relations<'_, '_> {
    /// With a cache: chunks of a length that no tile divides, then single tokens.
    fn chunks(&mut self) -> Result<(), Abort> {
        let length = self.rows.longest();
        let steps = chunks(length);
        let mut session = self.tested.model().session()?;
        let inputs = self.rows.unpadded(self.facts);
        let outputs = advance_in_steps(session.as_mut(), self.facts.stream, &inputs, &steps)?;
        let label = format!("in chunks of {}", steps[0]);
        for (name, expected) in &self.whole.positions {
            match outputs.get(name) {
                Some(got) => {
                    let threshold = self.threshold(name);
                    self.compare(&format!("{name} {label}"), (expected, got), threshold);
                }
                None => self.failures.push(format!("`{name}` {label} is missing")),
            }
        }
        // The outputs do not show it: a wrong count moves only the tokens that come next.
        if session.length() != length {
            let found = session.length();
            self.failures.push(format!(
                "{label}: the session reports {found} tokens after reading {length}"
            ));
        }
        Ok(())
    }

    /// Without what follows.
    fn prefixes(&mut self) -> Result<(), Abort> {
        for length in lengths(self.rows.longest()) {
            let inputs = self.rows.prefix(length).unpadded(self.facts);
            let prefix = forward_by_position(self.run, self.tested, self.facts.stream, &inputs)?;
            let label = format!("of the first {length} tokens");
            self.compare_positions(&label, &prefix, |whole, part| {
                (whole.narrow(1, 0, length), part.clone())
            })?;
        }
        Ok(())
    }

    /// In a batch with shorter rows, which need padding.
    fn padding(&mut self) -> Result<(), Abort> {
        let half = self.rows.longest() / 2;
        // All below the width, so that even the longest row has padding.
        let lengths = [half + 1, half - 1, half / 4 + 1, 1];
        let rows = Sequences(
            lengths
                .iter()
                .map(|length| self.rows.prefix(*length).0.remove(0))
                .collect(),
        );
        let width = half + 2;
        let sides: &[PaddedSide] = if self.facts.can_be_padded_left() {
            &[PaddedSide::Right, PaddedSide::Left]
        } else {
            &[PaddedSide::Right]
        };
        for &side in sides {
            let inputs = rows.padded(width, side, self.facts);
            let batch = forward_by_position(self.run, self.tested, self.facts.stream, &inputs)?;
            for (row, &length) in lengths.iter().enumerate() {
                let (word, start) = match side {
                    PaddedSide::Left => ("left", width - length),
                    PaddedSide::Right => ("right", 0),
                };
                let label = format!("of {length} tokens padded {word}");
                self.compare_positions(&label, &batch, |whole, part| {
                    let part = part.select_rows(&[row]).narrow(1, start, length);
                    (whole.narrow(1, 0, length), part)
                })?;
            }
        }
        Ok(())
    }

    /// With another token in one place: how far it is seen, if every layer has a window.
    fn windows(&mut self, windows: SlidingWindows) -> Result<Option<usize>, Abort> {
        let tokens = self.rows.longest();
        let replaced = windows.replaced(tokens);
        let mut rows = self.rows.clone();
        rows.0[0][replaced] = another(rows.0[0][replaced], self.facts);
        let inputs = rows.unpadded(self.facts);
        let other = forward_by_position(self.run, self.tested, self.facts.stream, &inputs)?;
        let last = window::last_difference(self.whole, &other, tokens).unwrap_or(replaced);
        match windows.compare(last - replaced.min(last)) {
            Ok(Seen::Reach(reach)) => return Ok(Some(reach)),
            Ok(Seen::Everywhere) => {}
            Err(reason) => self.failures.push(reason),
        }
        Ok(None)
    }

    /// With later positions: rotary positions are relative.
    fn shifted(&mut self) -> Result<(), Abort> {
        // Half of the text: the later positions are within the number that the model was trained
        // on.
        let half = self.rows.longest() / 2;
        let mut inputs = self.rows.prefix(half).unpadded(self.facts);
        let positions = (half..2 * half).map(|position| position as i64).collect();
        inputs.insert(
            "position_ids".to_owned(),
            Array::integers([1, half], positions),
        );
        let shifted = forward_by_position(self.run, self.tested, self.facts.stream, &inputs)?;
        let label = format!("at positions from {half}");
        for (name, whole, got) in pairs(&self.whole.positions, &shifted.positions)? {
            let threshold = positions::threshold(self.tolerance.metamorphic(name), 2 * half);
            let expected = whole.narrow(1, 0, half);
            self.compare(&format!("{name} {label}"), (&expected, got), threshold);
        }
        Ok(())
    }

    /// Compares parts of the outputs of the whole text with parts of another call's.
    fn compare_positions(
        &mut self,
        label: &str,
        other: &OutputsByPosition,
        parts: impl Fn(&Array, &Array) -> (Array, Array),
    ) -> Result<(), Abort> {
        let whole = self.whole;
        for (name, whole, other) in pairs(&whole.positions, &other.positions)? {
            let (expected, got) = parts(whole, other);
            let threshold = self.threshold(name);
            self.compare(&format!("{name} {label}"), (&expected, &got), threshold);
        }
        Ok(())
    }

    /// For an output of the same text, read in another way.
    fn threshold(&self, output: &str) -> Threshold {
        let equal = self.tolerance.metamorphic(output);
        if positions::are_added_to_scores(self.tested.model().config()) {
            positions::threshold(equal, self.rows.longest())
        } else {
            equal
        }
    }

    fn compare(&mut self, label: &str, (expected, got): (&Array, &Array), threshold: Threshold) {
        let failure = self.run.compare_made(label, expected, got, threshold);
        self.failures.extend(failure);
    }
}

/// The steps in which a text is read.
fn chunks(length: usize) -> Vec<usize> {
    // At least one token before the steps, so that the cache is not empty at the first of them.
    let end = length.saturating_sub(STEPS).max(1);
    // Lengths are usually powers of two; three less than a sixteenth is a multiple of no tile.
    let chunk = (length / 16).saturating_sub(3).max(3).min(end);
    let whole = std::iter::repeat_n(chunk, end / chunk);
    let rest = Some(end % chunk).filter(|rest| *rest > 0);
    whole
        .chain(rest)
        .chain(std::iter::repeat_n(1, length - end))
        .collect()
}

/// The smallest tile of kernels for long texts, in tokens.
const TILE: usize = 64;

/// Lengths below `longest`: around powers of two, and around multiples of tiles of 64, 128 and 256
/// tokens that are none; halfway between two powers; one token beyond the last tile; and the
/// longest without its last token.
fn lengths(longest: usize) -> Vec<usize> {
    let powers = (5..usize::BITS).map(|exponent| 1_usize << exponent);
    let powers = powers.take_while(|power| *power < longest);
    let multiples = [TILE, 2 * TILE, 4 * TILE].map(|tile| [3 * tile, 5 * tile]);
    let edges = powers.clone().chain(multiples.into_iter().flatten());
    let mut lengths: Vec<usize> = edges
        .flat_map(|edge| [edge - 1, edge, edge + 1])
        .chain(powers.map(|power| power + power / 2))
        .chain((longest > TILE).then(|| (longest - 1) / TILE * TILE + 1))
        .chain([longest - 1])
        .filter(|length| *length < longest)
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

#[cfg(test)]
mod tests;
