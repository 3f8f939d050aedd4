//! Comparing outputs within a run: the thresholds, and the errors that become evidence.

use super::{
    super::inputs::padding::defined, check_run::CheckRun, subject_under_test::SubjectUnderTest,
};
use crate::{
    compare::{self, Mismatch, TensorComparison, compare, incomparable},
    golden::{Golden, RecordedTensor},
    tolerance::{DerivedThreshold, Threshold, Tolerance},
};
use std::borrow::Cow;
use testgen_nn::array::{Array, Arrays};
use testgen_types::LayerError;

/// An output in the golden. Its scale and its noise set the threshold where two runs of the device
/// are compared.
#[derive(Clone, Copy)]
pub(in crate::check) struct RecordedOutput<'a> {
    pub(in crate::check) golden: &'a Golden,
    pub(in crate::check) name: &'a str,
    pub(in crate::check) tolerance: Tolerance<'a>,
}

impl CheckRun<'_> {
    /// The thresholds for `tested`.
    pub(in crate::check) fn tolerance<'g>(
        &self,
        golden: &'g Golden,
        tested: &SubjectUnderTest,
    ) -> Tolerance<'g> {
        Tolerance::new(
            &golden.noise,
            self.spec().tolerances,
            tested.precision(),
            tested.endpoint().tf32(),
        )
    }

    /// Compares two arrays, adds the error to the evidence as `name`, and returns the failure.
    pub(in crate::check) fn compare(
        &mut self,
        name: &str,
        expected: &Array,
        got: &Array,
        threshold: Threshold,
    ) -> Option<String> {
        self.add(name, compare(name, expected, got, threshold))
    }

    /// Like [`Self::compare`], for two runs of the device on inputs that are made here: NaN in both
    /// is a failure.
    pub(in crate::check) fn compare_made(
        &mut self,
        name: &str,
        expected: &Array,
        got: &Array,
        threshold: Threshold,
    ) -> Option<String> {
        // NaN in both is a failure, because no golden has it.
        let comparison = compare::compare_runs(name, expected, got, threshold);
        self.add(name, comparison)
    }

    /// Like [`Self::compare`], for probabilities. An error that is above the largest threshold of
    /// the precision, and that the recorded noise can cause, leaves the check open.
    pub(in crate::check) fn compare_probabilities(
        &mut self,
        name: &str,
        expected: &Array,
        got: &Array,
        threshold: DerivedThreshold,
    ) -> Option<String> {
        let comparison = compare(name, expected, got, threshold.capped);
        let (error, allowed) = (&comparison.error, threshold.uncapped);
        let may_be_noise = error.rel_l2 <= allowed.rel_l2 && error.max_rel <= allowed.max_rel;
        // Neither a failure nor a pass: the recorded noise alone can cause such an error.
        if comparison.failure.is_some() && may_be_noise {
            self.undecided.insert(name.to_owned());
            return None;
        }
        self.add(name, comparison)
    }

    /// Like [`Self::compare`], for a recorded result.
    pub(in crate::check) fn compare_result(
        &mut self,
        name: &str,
        expected: &RecordedTensor,
        got: &Array,
        threshold: Threshold,
    ) -> Option<String> {
        let Some([expected, got]) = expected.beside(got) else {
            let comparison = incomparable(name, expected.shape(), got, threshold);
            return self.add(name, comparison);
        };
        self.compare(name, &expected, &got, threshold)
    }

    /// Like [`Self::compare`], for the recorded output `name` of a call with `inputs`: of an
    /// engine, at the positions that [`defined`] leaves. `label` names the comparison.
    pub(in crate::check) fn compare_recorded(
        &mut self,
        label: &str,
        inputs: &Arrays,
        (expected, got): (&RecordedTensor, &Array),
        (tolerance, name): (Tolerance<'_>, &str),
    ) -> Option<String> {
        let comparison = self.with_recorded(label, inputs, (expected, got), tolerance.golden(name));
        self.decide(label, (tolerance, name), comparison)
    }

    /// Adds the error of the hidden state `name` to the evidence, beside the reference's own and
    /// without evaluating it.
    pub(in crate::check) fn measure_layer(
        &mut self,
        name: &str,
        inputs: &Arrays,
        tensors: (&RecordedTensor, &Array),
        tolerance: Tolerance<'_>,
    ) {
        let traced = format!("trace.{name}");
        let comparison = self.with_recorded(&traced, inputs, tensors, tolerance.golden(&traced));
        self.evidence.layers.push(LayerError {
            name: name.to_owned(),
            rel_l2: comparison.error.rel_l2,
            reference: tolerance.noise(&traced).map(|noise| noise.rel_l2),
        });
    }

    /// The comparison with a recorded result of a call with `inputs`.
    fn with_recorded(
        &self,
        label: &str,
        inputs: &Arrays,
        (expected, got): (&RecordedTensor, &Array),
        threshold: Threshold,
    ) -> TensorComparison {
        match self.comparable(inputs, expected, got) {
            Some([expected, got]) => compare(label, &expected, &got, threshold),
            None => incomparable(label, expected.shape(), got, threshold),
        }
    }

    /// The numbers of a recorded result that are compared, and those of `got`, or `None` if they
    /// have nothing to compare.
    pub(in crate::check) fn comparable<'a>(
        &self,
        inputs: &Arrays,
        expected: &'a RecordedTensor,
        got: &'a Array,
    ) -> Option<[Cow<'a, Array>; 2]> {
        let pair = expected.beside(got)?;
        let mask = inputs.get("attention_mask");
        // A summary has sums over positions, from which padding cannot be left out.
        if !mask.is_some_and(|mask| expected.keeps(mask.shape())) {
            return Some(pair);
        }
        let without_padding = defined(&self.engine, inputs, &pair[0], &pair[1]);
        Some(without_padding.map_or(pair, |pair| pair.map(Cow::Owned)))
    }

    /// Like [`Self::compare_made`], for an output that the golden has. NaN in both runs is right if
    /// the golden has NaN in the output. `label` names the comparison.
    pub(in crate::check) fn compare_runs(
        &mut self,
        label: &str,
        output: RecordedOutput<'_>,
        expected: &Array,
        got: &Array,
    ) -> Option<String> {
        let RecordedOutput {
            golden,
            name,
            tolerance,
        } = output;
        let recorded = golden.main().outputs.get(name);
        // The noise was measured on the recorded output, beside which the outputs of these inputs
        // can be small by chance.
        let recorded = recorded.filter(|recorded| recorded.holds_floats());
        let threshold = match (recorded, expected.as_floats()) {
            (Some(recorded), Some(expected)) => tolerance
                .metamorphic(name)
                .in_units_of(recorded.largest(), expected),
            _ => tolerance.metamorphic(name),
        };
        let mut comparison = compare::compare_runs(label, expected, got, threshold);
        if matches!(comparison.failure, Some(Mismatch::NanInBoth { .. })) && golden.has_nan(name) {
            comparison = compare(label, expected, got, threshold);
        }
        self.decide(label, (tolerance, name), comparison)
    }

    /// Adds a comparison to the evidence and returns its failure, unless the reference's own error
    /// of the output `name` leaves open whether it is one.
    fn decide(
        &mut self,
        label: &str,
        (tolerance, name): (Tolerance<'_>, &str),
        comparison: TensorComparison,
    ) -> Option<String> {
        // Neither a failure nor a pass, because the error can be the reference's own.
        if comparison.failure.is_some() && tolerance.leaves_open(name, &comparison.error) {
            self.undecided.insert(name.to_owned());
            return None;
        }
        self.add(label, comparison)
    }

    /// Adds a comparison to the evidence and returns its failure.
    fn add(&mut self, label: &str, comparison: TensorComparison) -> Option<String> {
        self.evidence.add(comparison.error);
        comparison
            .failure
            .map(|failure| format!("`{label}`: {failure}"))
    }
}
