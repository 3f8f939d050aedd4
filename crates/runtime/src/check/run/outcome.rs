//! The outcome of a check: its status, the evidence, and how a check reports failures on the way.

use crate::engine::EngineEvidence;
use std::error::Error;
use testgen_nn::forward::ForwardError;
use testgen_types::{HardwareInfo, LayerError, LoadMemory, MatrixUnit, OutputError};

/// A finished check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckOutcome {
    /// Whether the property holds.
    pub(crate) status: CheckStatus,
    /// The device that ran, and the errors that were measured.
    pub(crate) evidence: CheckEvidence,
}

/// Whether the property holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckStatus {
    /// It holds, and the check ran on its device.
    Pass {
        /// A summary of the comparison, if it is worth reporting.
        summary: Option<String>,
    },
    /// It does not hold, or the check could not run although the device is present.
    Fail {
        /// Why.
        reason: String,
    },
    /// The check did not run.
    Ignored {
        /// Why not.
        reason: String,
    },
}

/// The device that ran, and the errors that were measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CheckEvidence {
    /// The device that ran, as its driver names it.
    pub(crate) device_name: Option<String>,
    /// Architecture and versions of the device.
    pub(crate) hardware: Option<HardwareInfo>,
    /// Whether the device is simulated.
    pub(crate) simulated: bool,
    /// Whether the device declares TF32.
    pub(crate) tf32: bool,
    /// Whether an endpoint of the check was a fallback.
    pub(crate) fallback: bool,
    /// Whether an endpoint of the check was a mock.
    pub(crate) mock: bool,
    /// Whether the check, or the thread of the device, panicked.
    pub(crate) panicked: bool,
    /// The engine that ran.
    pub(crate) engine: EngineEvidence,
    /// A fingerprint of the kernels that ran on a GPU.
    pub(crate) kernels: Option<String>,
    /// How the device adds the terms of a product, as `half_probe` measured it.
    pub(crate) matrix_unit: Option<MatrixUnit>,
    /// Memory around the first load.
    pub(crate) memory: Option<LoadMemory>,
    /// Whether an output differs from the golden, in a check that also compares outputs with each
    /// other, or the shape of an answer or a label in it.
    pub(crate) differs_from_golden: bool,
    /// The compared tensors. Of several comparisons with the same name, the one with the least
    /// headroom.
    pub(crate) outputs: Vec<OutputError>,
    /// The time that an earlier report has of the check, if it is ignored for that.
    pub(crate) expected_milliseconds: Option<f64>,
    /// The errors of hidden states beside the reference's own.
    pub(crate) layers: Vec<LayerError>,
}

impl CheckEvidence {
    pub(in crate::check) fn add(&mut self, error: OutputError) {
        match self
            .outputs
            .iter_mut()
            .find(|known| known.name == error.name)
        {
            Some(known) if known.headroom <= error.headroom => {}
            Some(known) => *known = error,
            None => self.outputs.push(error),
        }
    }
}

/// The result of a check: what a passing check reports, if anything, or why it ended early.
pub(in crate::check) type CheckResult = Result<Option<String>, Abort>;

/// Why a check ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) enum Abort {
    /// The property does not hold, or the check could not run.
    Fail(String),
    /// An engine's model does not have what a call needs. The check is ignored, unless earlier
    /// numbers were wrong.
    Unsupported { feature: String, reason: String },
    /// The check does not apply here; it is reported as ignored.
    Skip(String),
}

impl Abort {
    /// Ends the check if there is a reason why it does not apply.
    pub(in crate::check) fn skip_if(reason: Option<String>) -> Result<(), Self> {
        reason.map_or(Ok(()), |reason| Err(Self::Skip(reason)))
    }
}

impl<E: Error + 'static> From<E> for Abort {
    fn from(error: E) -> Self {
        let mut reason = crate::endpoint::chain(&error);
        // Checks call a model with what the golden records, or with inputs made from it.
        if (&error as &(dyn Error + 'static))
            .downcast_ref::<ForwardError>()
            .is_some_and(refuses_inputs)
        {
            reason.push_str("; the inputs are those of `golden.safetensors` or made from them");
        }
        if let Some(feature) = crate::endpoint::unsupported(&error) {
            return Self::Unsupported { feature, reason };
        }
        // Never `Skip`: an unexpected error would otherwise hide a check as ignored.
        Self::Fail(reason)
    }
}

/// Whether a model refuses its inputs, so that the golden is the cause and not the model.
pub(in crate::check) fn refuses_inputs(error: &ForwardError) -> bool {
    matches!(
        error,
        ForwardError::MissingInput { .. }
            | ForwardError::OutOfRange { .. }
            | ForwardError::WrongInput { .. }
    )
}

/// The failures of one check, reported together.
#[derive(Debug, Default)]
pub(in crate::check) struct Failures(Vec<String>);

impl Failures {
    /// Messages that are shown.
    // A sweep over shapes can have hundreds, most of them with the same cause.
    const SHOWN: usize = 6;

    pub(in crate::check) fn push(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    /// Adds the failure of a comparison, or several.
    pub(in crate::check) fn extend(&mut self, failures: impl IntoIterator<Item = String>) {
        self.0.extend(failures);
    }

    pub(in crate::check) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The end of a check that stops early.
    pub(in crate::check) fn before(mut self, abort: Abort) -> Abort {
        if self.is_empty() {
            return abort;
        }
        // With failures before it the check has failed, also if it stops because an engine lacks
        // something.
        let (Abort::Fail(reason) | Abort::Unsupported { reason, .. } | Abort::Skip(reason)) = abort;
        self.push(reason);
        Abort::Fail(self.text())
    }

    /// Ends the check as failed if there is any failure.
    pub(in crate::check) fn conclude(self) -> Result<(), Abort> {
        if self.is_empty() {
            return Ok(());
        }
        Err(Abort::Fail(self.text()))
    }

    fn text(&self) -> String {
        let hidden = self.0.len().saturating_sub(Self::SHOWN);
        let mut text = self.0[..self.0.len() - hidden].join("\n");
        if hidden > 0 {
            text.push_str(&format!("\nand {hidden} more"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::HandlerError;
    use testgen_nn::forward::Unsupported;
    use testgen_processing::generation::GenerationError;

    #[test]
    fn of_equal_names_the_least_headroom_is_reported() {
        let mut evidence = CheckEvidence::default();
        for (name, headroom) in [
            ("logits", 3.0),
            ("pooled", 9.0),
            ("logits", 2.0),
            ("logits", 4.0),
        ] {
            evidence.add(OutputError::with_headroom(name.to_owned(), headroom));
        }
        let reported: Vec<(&str, f64)> = evidence
            .outputs
            .iter()
            .map(|output| (output.name.as_str(), output.headroom))
            .collect();
        assert_eq!(reported, [("logits", 2.0), ("pooled", 9.0)]);
    }

    #[test]
    fn failures_beyond_the_sixth_are_counted() {
        let reason = |count: usize| {
            let mut failures = Failures::default();
            failures.extend((1..=count).map(|number| format!("failure {number}")));
            failures.conclude()
        };
        assert_eq!(reason(0), Ok(()));
        let six = (1..=6)
            .map(|number| format!("failure {number}"))
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(reason(6), Err(Abort::Fail(six.clone())));
        assert_eq!(reason(8), Err(Abort::Fail(format!("{six}\nand 2 more"))));
    }

    #[test]
    fn a_failure_is_not_hidden_by_what_an_engine_does_not_have() {
        let unsupported = || Abort::Unsupported {
            feature: "a mask".to_owned(),
            reason: "not supported by the engine: a mask".to_owned(),
        };
        assert_eq!(Failures::default().before(unsupported()), unsupported());
        let mut failures = Failures::default();
        failures.push("`logits` was not computed");
        let reason = "`logits` was not computed\nnot supported by the engine: a mask".to_owned();
        assert_eq!(failures.before(unsupported()), Abort::Fail(reason));
    }

    #[test]
    fn an_error_names_the_golden_only_where_inputs_are_refused() {
        let reason = |error: ForwardError| match Abort::from(error) {
            Abort::Fail(reason) | Abort::Unsupported { reason, .. } | Abort::Skip(reason) => reason,
        };
        let golden = "golden.safetensors";
        assert!(reason(ForwardError::MissingInput { name: "input_ids" }).contains(golden));
        assert!(
            reason(ForwardError::OutOfRange {
                name: "input_ids",
                value: 9,
                limit: 8
            })
            .contains(golden)
        );
        assert!(!reason(ForwardError::NotEncoded).contains(golden));
        assert!(
            !reason(ForwardError::Device {
                message: "out of memory".to_owned()
            })
            .contains(golden)
        );
    }

    #[test]
    fn what_an_engine_does_not_have_is_found_below_every_error() {
        let call = || ForwardError::from(Unsupported("no `position_ids`".to_owned()));
        let expected = Abort::Unsupported {
            feature: "no `position_ids`".to_owned(),
            reason: "not supported by the engine: no `position_ids`".to_owned(),
        };
        assert_eq!(Abort::from(call()), expected);
        assert_eq!(Abort::from(HandlerError::from(call())), expected);
        assert_eq!(
            Abort::from(HandlerError::from(GenerationError::from(call()))),
            expected
        );
        let message = "no `position_ids`".to_owned();
        assert_eq!(
            Abort::from(ForwardError::Engine {
                message: message.clone()
            }),
            Abort::Fail(message)
        );
    }
}
