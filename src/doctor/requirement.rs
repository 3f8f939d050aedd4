//! Required devices: each must have computed known answers.

use crate::{
    doctor::{
        computation::Computation,
        row::{Area, Row, RowStatus},
    },
    run::Requirement,
    spec::Count,
};
use std::collections::BTreeSet;

/// One line for each requirement.
pub fn evaluate_requirements(required: &[Requirement], computations: &[Computation]) -> Vec<Row> {
    required.iter().map(|requirement| row(requirement, computations)).collect()
}

fn row(requirement: &Requirement, computations: &[Computation]) -> Row {
    let of_kind = |computation: &&Computation| {
        computation.kind == requirement.device && computation.simulated == requirement.simulated
    };
    // One engine that computes wrongly does not make another one wrong; its own line is a failure.
    let right = computations.iter().filter(of_kind).filter(|computation| computation.is_right());
    let devices: BTreeSet<&str> = right.filter_map(|computation| computation.device.as_deref()).collect();
    let (found, needed) = (devices.len(), requirement.count.get());
    let evidence = format!("known answers on {}, {needed} needed", Count(found, "device"));
    let new = |status| Row::new(Area::Requirements, requirement.to_string(), status, evidence.clone());
    if found >= needed as usize {
        return new(RowStatus::Ok);
    }
    new(RowStatus::Failure).because("the lines above say why a device or an engine is missing", "testgen devices")
}

#[cfg(test)]
mod tests {
    use super::evaluate_requirements;
    use crate::doctor::{
        computation::{Answer, Computation, Operation, Outcome},
        row::RowStatus,
    };
    use testgen_device::DeviceKind;

    fn computation(device: &str, simulated: bool, answers: Vec<Answer>) -> Computation {
        let operations = answers.into_iter().map(|answer| Operation { name: "sum".to_owned(), answer }).collect();
        Computation {
            engine: "torch".to_owned(),
            device: Some(device.to_owned()),
            kind: DeviceKind::Rocm,
            simulated,
            outcome: Outcome::Computed { with: String::new(), operations },
        }
    }

    fn status(requirement: &str, computations: &[Computation]) -> RowStatus {
        let requirement = requirement.parse().expect("is a requirement");
        evaluate_requirements(&[requirement], computations)[0].status
    }

    #[test]
    fn only_right_answers_on_distinct_devices_count() {
        let right = || vec![Answer::Right(String::new()), Answer::None(String::new())];
        let first = computation("rocm:0", false, right());
        assert_eq!(status("rocm", std::slice::from_ref(&first)), RowStatus::Ok);
        assert_eq!(status("rocm:2", &[first.clone(), first.clone()]), RowStatus::Failure);
        assert_eq!(status("rocm:2", &[first.clone(), computation("rocm:1", false, right())]), RowStatus::Ok);
        assert_eq!(status("cuda", &[first]), RowStatus::Failure);
        let wrong = vec![Answer::Right(String::new()), Answer::Wrong(String::new())];
        assert_eq!(status("rocm", &[computation("rocm:0", false, wrong)]), RowStatus::Failure);
        assert_eq!(
            status("rocm", &[computation("rocm:0", false, vec![Answer::None(String::new())])]),
            RowStatus::Failure
        );
        assert_eq!(status("rocm", &[]), RowStatus::Failure);
    }

    #[test]
    fn a_simulation_is_not_a_gpu() {
        let simulated = computation("rocm:0", true, vec![Answer::Right(String::new())]);
        assert_eq!(status("rocm", std::slice::from_ref(&simulated)), RowStatus::Failure);
        assert_eq!(status("rocm-sim", &[simulated]), RowStatus::Ok);
    }
}
