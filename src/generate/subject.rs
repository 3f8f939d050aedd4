//! The subject of a spec, for the templates and for the verifier.
//!
//! Both are made from the same keys, so that a new kind of subject is added in one place.

use super::{GenerateError, SuiteLayout};
use crate::spec::{
    LoadedSpec, OperatorSpec, OperatorsSubject, SpecSubject, StressSpec, ToleranceSpec,
};
use serde::Serialize;
use testgen_types::Operator;
use testgen_verify::{ExpectedOperator, ExpectedStress, ExpectedSubject, ExpectedTolerance};

/// The variables that only the templates of one kind of subject receive.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum SubjectContext<'s> {
    Model {
        model_type: &'static str,
        path: String,
        hub: Option<&'s str>,
        tolerances: Vec<ToleranceContext<'s>>,
    },
    Operators {
        operators: Vec<OperatorContext<'s>>,
        /// Whether an operator has shapes of the check `stress`.
        stress: bool,
    },
}

/// An operator with its shapes.
#[derive(Debug, Serialize)]
pub(super) struct OperatorContext<'s> {
    operator: &'static str,
    shapes: &'s [Vec<u64>],
    stress: Vec<StressContext<'s>>,
}

/// Shapes of the check `stress` with their issue.
#[derive(Debug, Serialize)]
pub(super) struct StressContext<'s> {
    issue: &'s str,
    shapes: &'s [Vec<u64>],
}

/// A tolerance, with its numbers as Rust literals.
#[derive(Debug, Serialize)]
pub(super) struct ToleranceContext<'s> {
    output: &'s str,
    precision: &'static str,
    rel_l2: String,
    max_rel: String,
    reason: &'s str,
}

impl<'s> SubjectContext<'s> {
    pub(super) fn new(loaded: &'s LoadedSpec, layout: &SuiteLayout) -> Result<Self, GenerateError> {
        Ok(match &loaded.spec.subject {
            SpecSubject::Model(model) => Self::Model {
                model_type: model.model_type.variant_name(),
                path: layout.checkpoint(&loaded.path, &model.checkpoint)?,
                hub: model.checkpoint.hub.as_deref(),
                tolerances: model.tolerance.iter().map(ToleranceContext::new).collect(),
            },
            SpecSubject::Operators(OperatorsSubject { operators, stress }) => Self::Operators {
                operators: operators.iter().map(|one| operator(one, stress)).collect(),
                stress: !stress.is_empty(),
            },
        })
    }
}

fn operator<'s>(one: &'s OperatorSpec, stress: &'s [StressSpec]) -> OperatorContext<'s> {
    // The spec lists them beside the operators, not below each.
    let own = stress
        .iter()
        .filter(|stress| stress.operator == one.operator);
    let stress = own
        .map(|stress| StressContext {
            issue: &stress.issue,
            shapes: &stress.shapes,
        })
        .collect();
    OperatorContext {
        operator: one.operator.variant_name(),
        shapes: &one.shapes,
        stress,
    }
}

impl<'s> ToleranceContext<'s> {
    fn new(tolerance: &'s ToleranceSpec) -> Self {
        Self {
            output: &tolerance.output,
            precision: tolerance.precision.variant_name(),
            // `Debug`, because `Display` writes 1.0 as `1`, which is not a float in Rust.
            rel_l2: format!("{:?}", tolerance.rel_l2),
            max_rel: format!("{:?}", tolerance.max_rel),
            reason: &tolerance.reason,
        }
    }
}

/// The subject that the verifier expects.
pub(super) fn expected_subject(
    loaded: &LoadedSpec,
    layout: &SuiteLayout,
) -> Result<ExpectedSubject, GenerateError> {
    Ok(match &loaded.spec.subject {
        SpecSubject::Model(model) => ExpectedSubject::Model {
            model_type: model.model_type,
            checkpoint: layout.checkpoint(&loaded.path, &model.checkpoint)?,
            hub: model.checkpoint.hub.clone(),
        },
        SpecSubject::Operators(OperatorsSubject { operators, stress }) => {
            let expected = operators.iter().map(|one| ExpectedOperator {
                operator: one.operator,
                shapes: one.shapes.clone(),
                stress: expected_stress(stress, one.operator),
            });
            ExpectedSubject::Operators(expected.collect())
        }
    })
}

fn expected_stress(stress: &[StressSpec], operator: Operator) -> Vec<ExpectedStress> {
    let own = stress.iter().filter(|stress| stress.operator == operator);
    own.map(|stress| ExpectedStress {
        issue: stress.issue.clone(),
        shapes: stress.shapes.clone(),
    })
    .collect()
}

/// The tolerances that the verifier expects.
pub(super) fn expected_tolerances(subject: &SpecSubject) -> Vec<ExpectedTolerance> {
    // Only models have tolerances: the bounds of operators follow from their calls.
    let all = subject
        .model()
        .into_iter()
        .flat_map(|model| &model.tolerance);
    all.map(expected_tolerance).collect()
}

fn expected_tolerance(tolerance: &ToleranceSpec) -> ExpectedTolerance {
    let ToleranceSpec {
        output,
        precision,
        rel_l2,
        max_rel,
        reason,
    } = tolerance.clone();
    ExpectedTolerance {
        output,
        precision,
        rel_l2,
        max_rel,
        reason,
    }
}
