//! Required devices: each must have computed known answers.

use crate::{
    computation::EngineComputation,
    row::{Area, DoctorRow, RowStatus},
};
use std::collections::BTreeSet;
use testgen_base::text::Count;
use testgen_types::Requirement;

/// One line for each requirement.
pub fn evaluate_requirements(
    required: &[Requirement],
    computations: &[EngineComputation],
) -> Vec<DoctorRow> {
    required
        .iter()
        .map(|requirement| row(requirement, computations))
        .collect()
}

fn row(requirement: &Requirement, computations: &[EngineComputation]) -> DoctorRow {
    // One engine that computes wrongly does not make another one wrong; its own line is a failure.
    let right = computations
        .iter()
        .filter(|computation| {
            // As for the requirement of a suite: a simulation shows nothing about hardware, and
            // hardware nothing about the simulation.
            computation.kind == requirement.device && computation.simulated == requirement.simulated
        })
        .filter(|computation| computation.is_right());
    // By their labels: a device on which several engines compute is one device.
    let devices: BTreeSet<&str> = right
        .filter_map(|computation| computation.device.as_deref())
        .collect();
    let (found, needed) = (devices.len(), requirement.count.get());
    let evidence = format!(
        "known answers on {}, {needed} needed",
        Count(found, "device")
    );
    let row = DoctorRow::new(
        Area::Requirements,
        requirement.to_string(),
        RowStatus::Ok,
        evidence,
    );
    if found >= needed as usize {
        return row;
    }
    row.failure(
        "the lines above say why a device or an engine is missing",
        "testgen doctor --devices",
    )
}

#[cfg(test)]
mod tests {
    use super::evaluate_requirements;
    use crate::{
        computation::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation},
        row::RowStatus,
    };
    use testgen_device::DeviceKind;

    fn computation(device: &str, simulated: bool, answers: Vec<EngineAnswer>) -> EngineComputation {
        let operations = answers
            .into_iter()
            .map(|answer| KnownOperation {
                name: "sum".to_owned(),
                answer,
            })
            .collect();
        EngineComputation {
            engine: "torch".to_owned(),
            device: Some(device.to_owned()),
            kind: DeviceKind::Rocm,
            simulated,
            outcome: ComputationOutcome::Computed {
                with: String::new(),
                operations,
            },
        }
    }

    fn status(requirement: &str, computations: &[EngineComputation]) -> RowStatus {
        let requirement = requirement.parse().expect("is a requirement");
        evaluate_requirements(&[requirement], computations)[0].status
    }

    #[test]
    fn only_right_answers_on_distinct_devices_count() {
        let right = || {
            vec![
                EngineAnswer::Right(String::new()),
                EngineAnswer::None(String::new()),
            ]
        };
        let first = computation("rocm:0", false, right());
        assert_eq!(status("rocm", std::slice::from_ref(&first)), RowStatus::Ok);
        assert_eq!(
            status("rocm:2", &[first.clone(), first.clone()]),
            RowStatus::Failure
        );
        assert_eq!(
            status(
                "rocm:2",
                &[first.clone(), computation("rocm:1", false, right())]
            ),
            RowStatus::Ok
        );
        assert_eq!(status("cuda", &[first]), RowStatus::Failure);
        let wrong = vec![
            EngineAnswer::Right(String::new()),
            EngineAnswer::Wrong(String::new()),
        ];
        assert_eq!(
            status("rocm", &[computation("rocm:0", false, wrong)]),
            RowStatus::Failure
        );
        assert_eq!(
            status(
                "rocm",
                &[computation(
                    "rocm:0",
                    false,
                    vec![EngineAnswer::None(String::new())]
                )]
            ),
            RowStatus::Failure
        );
        assert_eq!(status("rocm", &[]), RowStatus::Failure);
    }

    #[test]
    fn a_simulation_is_not_a_gpu() {
        let simulated = computation("rocm:0", true, vec![EngineAnswer::Right(String::new())]);
        assert_eq!(
            status("rocm", std::slice::from_ref(&simulated)),
            RowStatus::Failure
        );
        assert_eq!(status("rocm-sim", &[simulated]), RowStatus::Ok);
    }
}
