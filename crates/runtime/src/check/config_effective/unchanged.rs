//! The model with its own configuration: the outputs that changed configurations are compared with,
//! and the control that they still are its outputs at the end.

use super::super::run::{Abort, CheckRun, SubjectUnderTest};
use crate::{
    compare::compare,
    endpoint::{Endpoint, Status},
    golden::Golden,
    tolerance::Threshold,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use testgen_nn::{array::Arrays, forward::ForwardError, weights::is_zero};
use testgen_types::DeviceKind;

/// The model with its own configuration.
pub(super) struct UnchangedModel {
    directory: PathBuf,
    /// The tensors that it reads, by name.
    tensors: Vec<String>,
    /// The inputs of every call.
    calls: Vec<Arrays>,
    /// The outputs of every call.
    outputs: Vec<Arrays>,
    /// How far off two runs of one configuration may be, by output.
    allowed: Vec<(String, Threshold)>,
}

impl UnchangedModel {
    /// Computes every call.
    pub(super) fn new(
        run: &CheckRun<'_>,
        tested: &SubjectUnderTest,
        golden: &Golden,
        calls: Vec<Arrays>,
    ) -> Result<Self, Abort> {
        let outputs = outputs(tested, &calls)?;
        Ok(Self {
            directory: run.checkpoint().complete_directory()?,
            tensors: tested.model().tensors().read.clone(),
            allowed: allowed(run, tested, golden, &outputs),
            calls,
            outputs,
        })
    }

    /// Whether the load or a call fails, an output differs, or other tensors are read that are
    /// zero.
    pub(super) fn is_affected(&self, changed: &Endpoint) -> bool {
        // A load that fails has read the field. A fallback has no model either, and shows nothing.
        let Some(model) = changed.model() else {
            return matches!(changed.status(), Status::Mock { .. });
        };
        let mut calls = self.calls.iter().zip(&self.outputs);
        let differs = calls.any(|(inputs, own)| match model.forward(inputs) {
            // A call that fails has read the field.
            Err(_) => true,
            Ok(forward) => self.differing(own, &forward.outputs).is_some(),
        });
        differs || differ_in_zeros(&self.directory, &self.tensors, &model.tensors().read)
    }

    /// Loads the unchanged configuration again, and returns how its outputs differ from the first
    /// ones.
    pub(super) fn differences(&self, run: &mut CheckRun<'_>) -> Result<Option<String>, Abort> {
        // If they differ, a difference of a changed configuration shows nothing.
        let again = run
            .subject_under_test()
            .and_then(|tested| Ok(outputs(&tested, &self.calls)?));
        let again = again.map_err(|abort| {
            // The first load had what this one lacks.
            run.unsupported = None;
            let (Abort::Fail(reason) | Abort::Skip(reason) | Abort::Unsupported { reason, .. }) =
                abort;
            Abort::Fail(format!(
                "the unchanged configuration fails after the changed ones, whose failures show no effect then: {reason}"
            ))
        })?;
        let mut pairs = self.outputs.iter().zip(&again);
        let name = pairs.find_map(|(own, again)| self.differing(own, again));
        Ok(name.map(|name| {
            format!(
                "`{name}` of the unchanged configuration differs after the changed ones, whose differences show no effect then"
            )
        }))
    }

    /// The first output in which two calls differ.
    fn differing(&self, one: &Arrays, other: &Arrays) -> Option<&str> {
        let differs =
            |(name, threshold): &&(String, Threshold)| match (one.get(name), other.get(name)) {
                (Some(one), Some(other)) => compare(name, one, other, *threshold).failure.is_some(),
                (one, other) => one.is_some() != other.is_some(),
            };
        self.allowed
            .iter()
            .find(differs)
            .map(|(name, _)| name.as_str())
    }
}

/// The outputs of every call.
fn outputs(tested: &SubjectUnderTest, calls: &[Arrays]) -> Result<Vec<Arrays>, ForwardError> {
    calls
        .iter()
        .map(|inputs| Ok(tested.model().forward(inputs)?.outputs))
        .collect()
}

/// How far off two runs of one configuration may be.
fn allowed(
    run: &CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    outputs: &[Arrays],
) -> Vec<(String, Threshold)> {
    let tolerance = run.tolerance(golden, tested);
    // On the host runs repeat bit for bit.
    let exact = run.registration.device == DeviceKind::Cpu;
    let names: BTreeSet<&String> = outputs.iter().flat_map(Arrays::keys).collect();
    let thresholds = names.into_iter().map(|name| {
        let threshold = match exact {
            true => Threshold {
                rel_l2: 0.0,
                max_rel: 0.0,
            },
            false => tolerance.repeated(name),
        };
        (name.clone(), threshold)
    });
    thresholds.collect()
}

/// Whether the tensors that only one of two models reads are all zero.
fn differ_in_zeros(directory: &Path, one: &[String], other: &[String]) -> bool {
    let [one, other]: [BTreeSet<&String>; 2] = [one, other].map(|names| names.iter().collect());
    let mut names = one.symmetric_difference(&other).peekable();
    // A field like `qkv_bias` changes nothing else in a freshly initialised checkpoint; with other
    // values, a tensor that is read and does not change the output is a fault.
    names.peek().is_some() && names.all(|name| is_zero(directory, name).unwrap_or(false))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use safetensors::{Dtype, serialize_to_file, tensor::TensorView};

    #[test]
    fn only_zeros_may_be_read_without_an_effect() {
        let directory = tempfile::tempdir().unwrap();
        let tensor = |value: f32| value.to_le_bytes().repeat(2);
        let data = [
            ("plain", tensor(1.0)),
            ("zero", tensor(0.0)),
            ("trained", tensor(0.5)),
        ];
        let views = data
            .iter()
            .map(|(name, bytes)| (*name, TensorView::new(Dtype::F32, vec![2], bytes).unwrap()));
        serialize_to_file(views, None, &directory.path().join("model.safetensors")).unwrap();
        let differ = |other: &[&str]| {
            let names = |names: &[&str]| {
                names
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<Vec<_>>()
            };
            differ_in_zeros(directory.path(), &names(&["plain"]), &names(other))
        };
        assert!(differ(&["plain", "zero"]));
        assert!(
            !differ(&["plain", "trained"]),
            "it is read and changes nothing"
        );
        assert!(!differ(&["plain", "zero", "trained"]));
        assert!(!differ(&["plain"]), "no tensor differs");
        assert!(!differ(&["plain", "absent"]));
    }
}
