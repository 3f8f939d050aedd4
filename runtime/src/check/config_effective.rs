//! `config_effective`: changing a configuration field that the model reads changes the output or makes the load fail.
//!
//! A field with several plausible changes has an effect when one of them has. Fields that rightly have none in this
//! configuration are the model's to name, with the reason; they are told in the report.

mod change;

use super::{Examination, Failures, Found, Stop, examination::Subject};
use crate::{Arrays, Endpoint, Status, compare::compare, golden::Golden, tolerance::Threshold};
use change::{Change, changes};
use std::collections::BTreeSet;
use testgen_contract::DeviceKind;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let fields = subject.model().fields().to_vec();
    if fields.is_empty() {
        return Err(Stop::Fail("the model reads no field of the configuration".to_owned()));
    }
    let inert = subject.model().inert_fields().to_vec();
    let config = subject.model().config().clone();
    let plain = outputs(&subject, &golden)?;
    let allowed = Allowed::new(exam, &subject, &golden);
    drop(subject);
    let mut failures = Failures::default();
    let mut effective = 0;
    for place in change::places(&config, &fields) {
        if inert.iter().any(|(field, _)| place.is_within(field)) {
            continue;
        }
        let mut tried = Vec::new();
        let mut works = false;
        for Change { config, told } in changes(&config, &place) {
            let endpoint = exam.endpoint(&exam.context.checkpoint.with_config(config), exam.registration.precision);
            works = has_effect(&endpoint, &golden, &plain, &allowed);
            tried.push(told);
            if works {
                break;
            }
        }
        if works {
            effective += 1;
        } else {
            failures.push(format!("`{place}` has no effect: tried {}", tried.join(", ")));
        }
    }
    exam.forget_mocks();
    failures.conclude()?;
    let inert: Vec<String> = inert.iter().map(|(field, why)| format!("`{field}`: {why}")).collect();
    let inert = if inert.is_empty() { String::new() } else { format!("; rightly without: {}", inert.join(", ")) };
    Ok(Some(format!("{effective} fields have an effect{inert}")))
}

/// The outputs of every recorded case.
fn outputs(subject: &Subject, golden: &Golden) -> Result<Vec<Arrays>, crate::ForwardError> {
    golden.cases.iter().map(|case| Ok(subject.model().forward(&case.inputs)?.outputs)).collect()
}

/// How far off two runs of one configuration may be: not at all on the host, where runs repeat bit for bit.
struct Allowed(Vec<(String, Threshold)>);

impl Allowed {
    fn new(exam: &Examination<'_>, subject: &Subject, golden: &Golden) -> Self {
        let tolerance = exam.tolerance(golden, subject);
        let exact = exam.registration.device == DeviceKind::Cpu;
        let threshold = |name: &str| match exact {
            true => Threshold { rel_l2: 0.0, max_rel: 0.0 },
            false => tolerance.metamorphic(name),
        };
        let names: BTreeSet<&String> = golden.cases.iter().flat_map(|case| case.outputs.keys()).collect();
        Self(names.into_iter().map(|name| (name.clone(), threshold(name))).collect())
    }
}

/// Whether the load or a call fails, or an output differs.
fn has_effect(endpoint: &Endpoint, golden: &Golden, plain: &[Arrays], allowed: &Allowed) -> bool {
    let Some(model) = endpoint.model() else { return matches!(endpoint.status(), Status::Mock { .. }) };
    golden.cases.iter().zip(plain).any(|(case, plain)| match model.forward(&case.inputs) {
        Err(_) => true,
        Ok(forward) => allowed.0.iter().any(|(name, threshold)| match (plain.get(name), forward.outputs.get(name)) {
            (Some(one), Some(other)) => compare(name, one, other, *threshold).failure.is_some(),
            (one, other) => one.is_some() != other.is_some(),
        }),
    })
}
