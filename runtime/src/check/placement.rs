//! `placement`: the outputs live on the device, and in the precision, that the endpoint names; read off the tensors.

use super::{Examination, Failures, Found, Stop};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let forward = subject.model().forward_traced(&golden.main().inputs)?;
    let Some(device) = subject.endpoint().tensor_kind() else {
        return Err(Stop::Fail("the endpoint names no device".to_owned()));
    };
    let mut failures = Failures::default();
    let precision = exam.registration.precision;
    for (name, placement) in &forward.placements {
        if placement.device != device {
            failures.push(format!("`{name}` lives on {}, not on {device}", placement.device));
        }
        if placement.precision != precision {
            failures.push(format!("`{name}` is {}, not {precision}", placement.precision));
        }
    }
    for name in forward.outputs.keys().filter(|name| forward.placements.iter().all(|(placed, _)| placed != *name)) {
        failures.push(format!("where `{name}` lives was not read off its tensor"));
    }
    if forward.outputs.is_empty() {
        failures.push("the model gave no output");
    }
    failures.conclude()?;
    Ok(Some(format!("{} tensors on {device} in {precision}", forward.placements.len())))
}
