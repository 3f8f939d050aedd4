//! `pad_invariance`: padding on the left or on the right does not change the outputs at real
//! positions.
//!
//! Left padding is only for models that take position ids from the caller, as `generate` passes
//! them. Encoders, and decoders of encoder-decoders, count positions from the first column, so left
//! padding changes their output, in transformers too.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        graph_padding,
        outputs_by_position::{OutputsByPosition, forward_by_position, pairs},
    },
    inputs::{
        sequences::Sequences,
        text_facts::{PaddedSide, TextFacts},
    },
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::{golden::Golden, tolerance::Tolerance};
use testgen_types::Architecture;

/// Columns of padding.
const PADDING: usize = 5;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::MaskIgnored,
    "the mask is ignored",
    "padded left|padded right|more padding",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    if run.spec().architecture == Architecture::Graph {
        return graph_padding::pad_invariance(run);
    }
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    let streams = run.streams(&tested, &golden);
    for facts in &streams {
        compare_sides(run, &tested, &golden, *facts, &mut failures)?;
    }
    failures.conclude()?;
    // A check that compared one side only says so in the report.
    if streams.iter().any(TextFacts::can_be_padded_left) {
        return Ok(None);
    }
    let why = if streams.iter().any(|facts| facts.reads_left_padding) {
        "the convolution reads the projection's bias at left padding, as in transformers"
    } else {
        "positions are counted from the first column"
    };
    Ok(Some(format!("right padding only: {why}")))
}

fn compare_sides(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<(), Abort> {
    let Some(rows) = longest_rows(golden, facts) else {
        return Err(Abort::Fail(format!(
            "the golden has no `{}` [batch, seq]",
            facts.stream.ids()
        )));
    };
    Abort::skip_if(facts.too_short_for(PADDING + 1))?;
    // Cut, so that the padded rows still fit the positions that the model has.
    let rows = rows.prefix(rows.longest().min(facts.longest - PADDING));
    let length = rows.longest();
    let tolerance = run.tolerance(golden, tested);
    // One unpadded run for both sides, so that they are compared with the same outputs.
    let unpadded = forward_by_position(run, tested, facts.stream, &rows.unpadded(facts))?;
    let sides: &[PaddedSide] = if facts.can_be_padded_left() {
        &[PaddedSide::Right, PaddedSide::Left]
    } else {
        &[PaddedSide::Right]
    };
    for &side in sides {
        let inputs = rows.padded(length + PADDING, side, facts);
        let padded = forward_by_position(run, tested, facts.stream, &inputs)?;
        PaddingComparison {
            tolerance,
            facts,
            side,
            length,
        }
        .compare(run, &unpadded, &padded, failures)?;
    }
    Ok(())
}

/// The rows of the case with the longest row that have its length.
fn longest_rows(golden: &Golden, facts: TextFacts<'_>) -> Option<Sequences> {
    let rows = golden
        .cases
        .iter()
        .filter_map(|case| Sequences::of_case(case, facts.stream));
    // None of them needs padding to begin with.
    let longest = rows.max_by_key(Sequences::longest)?;
    let length = longest.longest();
    Some(Sequences(
        longest
            .0
            .into_iter()
            .filter(|row| row.len() == length)
            .collect(),
    ))
}

/// How outputs with padding are compared with those without.
struct PaddingComparison<'a> {
    tolerance: Tolerance<'a>,
    facts: TextFacts<'a>,
    side: PaddedSide,
    /// The number of real positions.
    length: usize,
}

impl PaddingComparison<'_> {
    fn compare(
        &self,
        run: &mut CheckRun<'_>,
        unpadded: &OutputsByPosition,
        padded: &OutputsByPosition,
        failures: &mut Failures,
    ) -> Result<(), Abort> {
        let (side, start) = match self.side {
            PaddedSide::Left => ("left", PADDING),
            PaddedSide::Right => ("right", 0),
        };
        let label = |name: &str| format!("{name} padded {side}{}", self.facts.stream.suffix());
        for (name, expected, got) in pairs(&unpadded.positions, &padded.positions)? {
            // Padding itself has arbitrary outputs.
            let got = got.narrow(1, start, self.length);
            failures.extend(run.compare_made(
                &label(name),
                expected,
                &got,
                self.tolerance.metamorphic(name),
            ));
        }
        let pooled = pairs(&unpadded.pooled, &padded.pooled)?;
        for (name, expected, got) in pooled.filter(|_| self.facts.pooled_ignores_padding(self.side))
        {
            failures.extend(run.compare_made(
                &label(name),
                expected,
                got,
                self.tolerance.metamorphic(name),
            ));
        }
        Ok(())
    }
}
