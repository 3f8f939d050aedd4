//! `shape_sweep`: outputs do not depend on the size of the batch, and outputs of causal models do
//! not depend on what follows, for lengths and batches around the tile sizes of GPU kernels.
//!
//! For mixtures of experts, tokens after a close choice of experts are left out (see `routing`),
//! and their number is reported.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        outputs_by_position::forward_by_position,
        routing::{self, RouterRuns},
    },
    inputs::{
        graphs::{distances_fit, trees},
        rows,
        sequences::{Sequences, TextFacts},
    },
    run::{Abort, CheckResult, CheckRun, Failures, RecordedOutput, SubjectUnderTest},
};
use crate::{
    golden::{Golden, Router},
    tolerance::Tolerance,
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::ForwardError,
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
        let rows = Sequences::generated(LARGEST, longest, facts);
        let mut left_out = 0;
        for &length in &lengths {
            left_out += self.batches(
                &rows.prefix(length).unpadded(facts),
                &format!("length {length}{suffix}"),
            )?;
        }
        // Other models read what follows, so that a prefix has other outputs.
        if facts.causal {
            left_out += self.prefixes(&rows, facts, &lengths)?;
        }
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

    /// Compares batches of every size, and the last row alone, with the rows of the largest batch.
    /// Returns how many tokens are left out.
    fn batches(&mut self, inputs: &Arrays, what: &str) -> Result<usize, ForwardError> {
        let model = self.tested.model();
        let routers = routing::router_outputs(self.run, model, inputs)?;
        let mut left_out = 0;
        let largest = model.forward(inputs)?.outputs;
        let smaller = BATCHES
            .iter()
            .rev()
            .skip(1)
            .map(|batch| (0..*batch).collect::<Vec<_>>());
        // The smaller batches are all from the beginning, so the last row is compared on its own.
        for order in smaller.chain([vec![LARGEST - 1]]) {
            let part = SweptPart {
                what: format!("{what}, batch {} of {LARGEST}", order.len()),
                inputs: rows::of_inputs(inputs, &order),
                routers: routing::of_part(&routers, |array| array.select_rows(&order)),
            };
            let got: Vec<(String, Array)> =
                model.forward(&part.inputs)?.outputs.into_iter().collect();
            let expected = |(name, whole): (&String, &Array)| {
                (name.clone(), rows::of_output(name, whole, &order, LARGEST))
            };
            let expected: Vec<(String, Array)> = largest.iter().map(expected).collect();
            left_out += self.compare_part(&part, &expected, &got)?;
        }
        Ok(left_out)
    }

    /// Compares every length with the beginning of the longest. Returns how many tokens are left
    /// out.
    fn prefixes(
        &mut self,
        rows: &Sequences,
        facts: TextFacts<'_>,
        lengths: &[usize],
    ) -> Result<usize, Abort> {
        let model = self.tested.model();
        let inputs = rows.unpadded(facts);
        let routers = routing::router_outputs(self.run, model, &inputs)?;
        let mut left_out = 0;
        let longest = forward_by_position(self.run, self.tested, facts.stream, &inputs)?
            .require_positions()?
            .positions;
        for &length in lengths {
            let part = SweptPart {
                what: format!("length {length} of {}", rows.longest()),
                inputs: rows.prefix(length).unpadded(facts),
                routers: routing::of_part(&routers, |array| array.narrow(1, 0, length)),
            };
            let got =
                forward_by_position(self.run, self.tested, facts.stream, &part.inputs)?.positions;
            let expected: Vec<(String, Array)> = longest
                .iter()
                .map(|(name, whole)| (name.clone(), whole.narrow(1, 0, length)))
                .collect();
            left_out += self.compare_part(&part, &expected, &got)?;
        }
        Ok(left_out)
    }

    /// Compares the outputs of a part; both lists are in the order of names.
    fn compare_part(
        &mut self,
        part: &SweptPart,
        expected: &[(String, Array)],
        got: &[(String, Array)],
    ) -> Result<usize, ForwardError> {
        let Self {
            run,
            tested,
            golden,
            tolerance,
            failures,
        } = self;
        let (golden, tolerance, what) = (*golden, *tolerance, &part.what);
        let routers = routing::router_outputs(run, tested.model(), &part.inputs)?;
        let runs = RouterRuns {
            golden,
            tolerance,
            expected: &part.routers,
            got: &routers,
        };
        let matching = routing::matching_tokens(run, what, runs, failures);
        for (name, expected) in expected {
            let label = format!("{name}, {what}");
            let Some((_, got)) = got.iter().find(|(found, _)| found == name) else {
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
        Ok(matching.left_out())
    }
}

/// Fewer rows, or shorter ones, of a larger run.
struct SweptPart {
    /// A description for the labels of comparisons.
    what: String,
    inputs: Arrays,
    /// The routers of the larger run for this part.
    routers: Vec<Router>,
}

/// Recorded rows, repeated until there are as many as in the largest batch.
fn of_largest_batch(inputs: &Arrays) -> Arrays {
    rows::of_inputs(inputs, &(0..LARGEST).collect::<Vec<_>>())
}
