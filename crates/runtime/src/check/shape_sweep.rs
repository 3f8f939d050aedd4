//! `shape_sweep`: outputs do not depend on the size of the batch, and outputs of causal models do
//! not depend on what follows, for lengths and batches around the tile sizes of GPU kernels.
//!
//! For mixtures of experts, tokens after a close choice of experts are left out (see `routing`),
//! and their number is reported.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        outputs_by_position::by_position,
        routing::{self, RouterRuns},
    },
    inputs::{
        graphs::{distances_fit, trees},
        rows,
        sequences::Sequences,
        text_facts::TextFacts,
    },
    run::{Abort, CheckResult, CheckRun, Failures, RecordedOutput, SubjectUnderTest},
};
use crate::{
    golden::{Golden, Router},
    tolerance::Tolerance,
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError},
};
use testgen_types::Architecture;

/// One below, at and above the tile sizes 32, 64 and 128 of matrix products and softmax, where
/// kernels go wrong; and short ones.
const LENGTHS: [usize; 11] = [1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129];
/// One row, and numbers that no tile size divides.
const BATCHES: [usize; 3] = [1, 3, 5];
/// The batch that the others are compared with.
const LARGEST: usize = BATCHES[BATCHES.len() - 1];

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::WrongRowOfFive,
    "one row in a batch of five is wrong",
    "batch 3 of 5",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let architecture = run.spec().architecture;
    let tolerance = run.tolerance(&golden, &tested);
    let mut sweep = Sweep {
        run,
        tested: &tested,
        golden: &golden,
        tolerance,
        failures: Failures::default(),
    };
    let summary = match architecture {
        Architecture::VisionText | Architecture::Multimodal => {
            sweep.recorded_rows()?;
            sweep.texts()?
        }
        Architecture::Speech => sweep.speech()?,
        Architecture::Graph => sweep.graphs()?,
        _ if architecture.reads_text() => sweep.texts()?,
        // The sizes of images, series and latents are part of the configuration.
        _ => sweep.recorded_rows()?,
    };
    sweep.failures.conclude()?;
    Ok(Some(summary))
}

struct Sweep<'a, 'r> {
    run: &'a mut CheckRun<'r>,
    tested: &'a SubjectUnderTest,
    golden: &'a Golden,
    tolerance: Tolerance<'a>,
    failures: Failures,
}

impl Sweep<'_, '_> {
    /// Generated ids in every length, for each sequence that the model reads. Like the other
    /// methods, it returns what was compared.
    fn texts(&mut self) -> Result<String, Abort> {
        let streams = self.run.streams(self.tested, self.golden);
        let summaries: Result<Vec<String>, Abort> = streams
            .into_iter()
            .map(|facts| self.lengths(facts))
            .collect();
        Ok(summaries?.join("; "))
    }

    fn lengths(&mut self, facts: TextFacts<'_>) -> Result<String, Abort> {
        let suffix = facts.stream.suffix();
        let lengths: Vec<usize> = LENGTHS
            .into_iter()
            .filter(|length| *length <= facts.longest)
            .collect();
        let longest = lengths.last().copied().unwrap_or(1);
        // One text, whose prefixes are the shorter ones, so that causal outputs can be compared
        // across lengths.
        let rows = Sequences::generated(LARGEST, longest, facts);
        let mut left_out = 0;
        let mut prefixes = Vec::new();
        for &length in &lengths {
            let inputs = rows.prefix(length).unpadded(facts);
            let swept = self.batches(&inputs, &format!("length {length}{suffix}"))?;
            left_out += swept.left_out;
            // Other models read what follows, so that a prefix has other outputs.
            if facts.causal {
                prefixes.push(self.prefix(facts, length, inputs, swept)?);
            }
        }
        left_out += self.compare_prefixes(prefixes);
        let summary = format!("lengths {lengths:?}{suffix}, batches {BATCHES:?}");
        Ok(match left_out {
            0 => summary,
            _ => format!(
                "{summary}; {left_out} tokens after a close choice of experts are not compared"
            ),
        })
    }

    /// The tokens that a decoder writes, in every length; for a head over audio frames, recordings
    /// cut to other lengths.
    fn speech(&mut self) -> Result<String, Abort> {
        let mut summary = self.recorded_rows()?;
        // A decoder reads a spectrogram of a fixed length, so that only its text can be swept.
        if !self.golden.target.is_empty() {
            return Ok(format!("{summary}; {}", self.texts()?));
        }
        let main = &self.golden.main().inputs;
        let Some(samples) = main.get("input_values").map(|values| values.shape()[1]) else {
            return Ok(format!("{summary}; a spectrogram has a fixed length"));
        };
        for length in [samples - 1, samples - samples / 4, samples / 2 + 1] {
            let shorter: Arrays = main
                .iter()
                .map(|(name, array)| (name.clone(), array.narrow(1, 0, length)))
                .collect();
            self.batches(&of_largest_batch(&shorter), &format!("{length} samples"))?;
            summary.push_str(&format!(", {length} samples"));
        }
        Ok(summary)
    }

    /// Recorded graphs, and trees with every number of nodes for which the model's tables are large
    /// enough.
    fn graphs(&mut self) -> Result<String, Abort> {
        let mut summary = self.recorded_rows()?;
        let model = self.tested.model();
        let Some(collator) = model.processor().graphs() else {
            return Ok(summary);
        };
        for nodes in LENGTHS {
            let trees = trees(self.golden, nodes, LARGEST);
            let inputs = collator.process(&trees)?;
            // A tree that is deeper than the table of distances has no row there.
            if !trees.is_empty() && distances_fit(model.config(), &inputs) {
                self.batches(&inputs, &format!("{nodes} nodes"))?;
                summary.push_str(&format!(", {nodes} nodes"));
            }
        }
        Ok(summary)
    }

    /// Recorded rows, in batches of every size.
    fn recorded_rows(&mut self) -> Result<String, Abort> {
        for case in &self.golden.cases {
            self.batches(&of_largest_batch(&case.inputs), &case.name)?;
        }
        Ok(format!("batches {BATCHES:?}"))
    }

    /// Compares batches of every size, and the last row alone, with the rows of the largest batch,
    /// which it returns.
    fn batches(&mut self, inputs: &Arrays, what: &str) -> Result<LargestBatch, ForwardError> {
        let model = self.tested.model();
        // Routers are read first: a close choice of experts makes the rest of a row incomparable.
        let routers = routing::router_outputs(self.run, model, inputs)?;
        let mut left_out = 0;
        let forward = model.forward(inputs)?;
        let largest = &forward.outputs;
        let smaller = BATCHES
            .iter()
            .rev()
            .skip(1)
            .map(|batch| (0..*batch).collect::<Vec<_>>());
        // The smaller batches are all from the beginning, so the last row is compared on its own.
        for order in smaller.chain([vec![LARGEST - 1]]) {
            let inputs = rows::of_inputs(inputs, &order);
            let got = SweptRun {
                routers: routing::router_outputs(self.run, model, &inputs)?,
                outputs: model.forward(&inputs)?.outputs.into_iter().collect(),
            };
            let outputs = largest
                .iter()
                .map(|(name, whole)| (name.clone(), rows::of_output(name, whole, &order, LARGEST)));
            let expected = SweptRun {
                routers: routing::of_part(&routers, |array| array.select_rows(&order)),
                outputs: outputs.collect(),
            };
            let label = format!("{what}, batch {} of {LARGEST}", order.len());
            left_out += self.compare_runs(&label, &expected, &got);
        }
        Ok(LargestBatch {
            forward,
            routers,
            left_out,
        })
    }

    /// The outputs of a length that have one entry per position.
    fn prefix(
        &mut self,
        facts: TextFacts<'_>,
        length: usize,
        inputs: Arrays,
        swept: LargestBatch,
    ) -> Result<Prefix, Abort> {
        let outputs = by_position(self.run, self.tested, facts.stream, &inputs, swept.forward)?;
        let run = SweptRun {
            routers: swept.routers,
            outputs: outputs.require_positions()?.positions,
        };
        Ok(Prefix { length, run })
    }

    /// Compares every length with the beginning of the longest, which is the last one. Returns how
    /// many tokens are left out.
    fn compare_prefixes(&mut self, mut prefixes: Vec<Prefix>) -> usize {
        // A model that is not causal has no prefixes.
        let Some(longest) = prefixes.pop() else {
            return 0;
        };
        let mut left_out = 0;
        for Prefix { length, run } in prefixes {
            let beginning = |array: &Array| array.narrow(1, 0, length);
            let expected = SweptRun {
                routers: routing::of_part(&longest.run.routers, beginning),
                outputs: longest
                    .run
                    .outputs
                    .iter()
                    .map(|(name, whole)| (name.clone(), beginning(whole)))
                    .collect(),
            };
            let label = format!("length {length} of {}", longest.length);
            left_out += self.compare_runs(&label, &expected, &run);
        }
        left_out
    }

    /// Compares the outputs of two runs, both in the order of names. Returns how many tokens are
    /// left out.
    fn compare_runs(&mut self, what: &str, expected: &SweptRun, got: &SweptRun) -> usize {
        let Self {
            run,
            golden,
            tolerance,
            failures,
            ..
        } = self;
        let (golden, tolerance) = (*golden, *tolerance);
        let runs = RouterRuns {
            golden,
            tolerance,
            expected: &expected.routers,
            got: &got.routers,
        };
        let matching = routing::matching_tokens(run, what, runs, failures);
        for (name, expected) in &expected.outputs {
            let label = format!("{name}, {what}");
            let Some((_, got)) = got.outputs.iter().find(|(found, _)| found == name) else {
                failures.push(format!("`{label}` was not computed"));
                continue;
            };
            if let (Some(expected), Some(got)) = (matching.select(expected), matching.select(got)) {
                let output = RecordedOutput {
                    golden,
                    name,
                    tolerance,
                };
                failures.extend(run.compare_runs(&label, output, &expected, &got));
            }
        }
        matching.left_out()
    }
}

/// The outputs of a run, or of some rows or the beginning of a larger one.
struct SweptRun {
    routers: Vec<Router>,
    outputs: Vec<(String, Array)>,
}

/// The run that smaller batches were compared with.
struct LargestBatch {
    forward: Forward,
    routers: Vec<Router>,
    /// Tokens that were not compared.
    left_out: usize,
}

/// The largest batch of a length.
struct Prefix {
    length: usize,
    run: SweptRun,
}

/// Recorded rows, repeated until there are as many as in the largest batch.
fn of_largest_batch(inputs: &Arrays) -> Arrays {
    rows::of_inputs(inputs, &(0..LARGEST).collect::<Vec<_>>())
}
