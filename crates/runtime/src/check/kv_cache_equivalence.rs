//! `kv_cache_equivalence`: reading a sequence with the cache, step by step or in chunks, equals
//! reading it at once; also after a reset, and after left padding.
//!
//! Only the first step of an encoder-decoder gets the encoder's input, so that later steps must
//! take its keys and values from the cache. Before the first comparison the session reads another
//! source, so that keys and values that survive a reset are detected.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        cached_sequences::{CachedInput, advance_in_steps, class_without_cache, has_cache},
        outputs_by_position::forward_by_position,
    },
    inputs::{padding::at_real_positions, text_facts::TextFacts},
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::golden::Golden;
use testgen_nn::{
    array::{Array, Arrays},
    forward::{ForwardError, Session},
};

/// The lengths of the steps in which a sequence is read.
struct Schedule {
    label: &'static str,
    steps: Vec<usize>,
}

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::WrongChunk,
    "a chunk after a cache is wrong",
    "in chunks",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    Abort::skip_if(inapplicable(tested.model().class()))?;
    has_cache(run.spec().architecture, tested.model())?;
    let facts = run.text_facts(&tested, &golden);
    let mut failures = Failures::default();
    for CachedInput {
        label: input,
        arrays,
    } in CachedInput::recorded(&golden, facts)?
    {
        let whole = forward_by_position(run, &tested, facts.stream, &arrays)?
            .require_positions()?
            .positions;
        // One session for all schedules, so that what a reset leaves shows in the next one.
        let mut session = tested.model().session()?;
        let length = arrays[facts.stream.ids()].shape()[1];
        if facts.stream.other_arguments().is_some() {
            read_another_source(session.as_mut(), &arrays, facts)?;
        }
        for Schedule {
            label: schedule,
            steps,
        } in schedules(length)
        {
            let what = format!("{input}, {schedule}");
            let stepped = advance_in_steps(session.as_mut(), facts.stream, &arrays, &steps)?;
            let results = CacheResults {
                whole: &whole,
                stepped: &stepped,
                mask: &arrays[facts.stream.mask()],
            };
            results.compare(run, &tested, &golden, &what, &mut failures);
            // The outputs of this call do not show it: the next tokens are placed after that many.
            if session.length() != length {
                let found = session.length();
                failures.push(format!(
                    "{what}: the session reports {found} tokens after reading {length}"
                ));
            }
            session.reset();
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Why a class has no cache.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    class_without_cache(class)
}

/// Reads one token beside another source, and resets the session.
fn read_another_source(
    session: &mut dyn Session,
    inputs: &Arrays,
    facts: TextFacts<'_>,
) -> Result<(), ForwardError> {
    let others = with_another_source(inputs, facts);
    advance_in_steps(session, facts.stream, &others, &[1])?;
    session.reset();
    Ok(())
}

/// The same tokens with the source of the next row.
fn with_another_source(inputs: &Arrays, facts: TextFacts<'_>) -> Arrays {
    let mut inputs = inputs.clone();
    for (name, array) in facts.stream.other_arguments().into_iter().flatten() {
        let rows = inputs[facts.stream.ids()].shape()[0];
        // The rows rotated by one, because real sources of the golden are valid whatever the model
        // requires.
        let others: Vec<usize> = (1..=rows)
            .map(|row| row % array.shape()[0].max(1))
            .collect();
        inputs.insert(name.clone(), array.select_rows(&others));
    }
    inputs
}

/// How a sequence of `length` tokens is read; the session is reset after each schedule.
fn schedules(length: usize) -> Vec<Schedule> {
    // Chunks after a cache need a mask that is neither square nor a single row, and a chunk of one
    // between two larger ones switches between the kernels for both.
    let mut chunks = vec![3, 1, 5];
    let used: usize = chunks.iter().sum();
    chunks.push(length.saturating_sub(used));
    let chunks = if used < length {
        chunks
    } else {
        vec![1, length - 1]
    };
    vec![
        Schedule {
            label: "step by step",
            steps: vec![1; length],
        },
        Schedule {
            label: "in chunks",
            steps: chunks,
        },
        Schedule {
            label: "at once into the cache",
            steps: vec![length],
        },
        Schedule {
            label: "step by step after a reset",
            steps: vec![1; length],
        },
    ]
}

/// The outputs of both ways to read a sequence.
struct CacheResults<'a> {
    whole: &'a [(String, Array)],
    stepped: &'a Arrays,
    mask: &'a Array,
}

impl CacheResults<'_> {
    /// Compares at real positions only.
    fn compare(
        &self,
        run: &mut CheckRun<'_>,
        tested: &SubjectUnderTest,
        golden: &Golden,
        what: &str,
        failures: &mut Failures,
    ) {
        let tolerance = run.tolerance(golden, tested);
        for (name, expected) in self.whole {
            let label = format!("{name} {what}");
            let Some(got) = self
                .stepped
                .get(name)
                .filter(|got| got.shape() == expected.shape())
            else {
                failures.push(format!(
                    "`{label}` was not computed in the shape {:?}",
                    expected.shape()
                ));
                continue;
            };
            // A padding token before the text sees no token at all, and what it computes is
            // arbitrary and never read.
            let (expected, got) = (
                at_real_positions(expected, self.mask),
                at_real_positions(got, self.mask),
            );
            failures.extend(run.compare_made(&label, &expected, &got, tolerance.metamorphic(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use super::schedules;

    #[test]
    fn every_schedule_reads_the_whole_sequence() {
        for length in [1, 2, 9, 10, 33] {
            for Schedule { label, steps } in schedules(length) {
                assert_eq!(steps.iter().sum::<usize>(), length, "{label} {length}");
                assert!(
                    length == 1 || !steps.contains(&0),
                    "{label} {length}: no step is empty"
                );
            }
        }
    }
}
