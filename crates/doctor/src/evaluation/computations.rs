//! The meaning of what engines computed.

use crate::{
    computation::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::DeviceKind;

/// The lines of all computations.
pub fn evaluate_computations(computations: &[EngineComputation]) -> Vec<DoctorRow> {
    computations.iter().flat_map(rows).collect()
}

fn rows(computation: &EngineComputation) -> Vec<DoctorRow> {
    let subject = match &computation.device {
        Some(device) => format!("{} on {device}", computation.engine),
        None => computation.engine.clone(),
    };
    let new =
        |status, evidence: &str| DoctorRow::new(Area::Computation, &subject, status, evidence);
    let row = match &computation.outcome {
        ComputationOutcome::NotInstalled { why, fix } => {
            new(RowStatus::Note, "nothing was computed").because(why, fix)
        }
        ComputationOutcome::Unsupported { why } => {
            new(RowStatus::Note, &format!("nothing was computed: {why}"))
        }
        ComputationOutcome::Failed { why } => new(RowStatus::Failure, &flat(why))
            .because("the engine did not answer", rerun(computation)),
        ComputationOutcome::OtherDevice { why } => new(
            RowStatus::Failure,
            &format!("it computes on another device: {why}"),
        )
        .because(
            "libraries number devices differently, or a variable hides the device",
            "testgen doctor --devices",
        ),
        ComputationOutcome::Fallback {
            why,
            build,
            for_this_kind,
            python,
        } => {
            let evidence = format!("it computes on the CPU: {why}");
            if *for_this_kind {
                // Another build does not help if this one is already for the GPU.
                new(RowStatus::Failure, &evidence).because(
                    "its libraries do not see the GPU that testgen found",
                    rerun(computation),
                )
            } else {
                let python = python.as_deref();
                let other = python.and_then(|python| other_build(computation, python));
                new(RowStatus::Warning, &evidence).because(
                    format!("it is a {build} build"),
                    other.unwrap_or_else(|| rerun(computation)),
                )
            }
        }
        ComputationOutcome::Computed { with, operations } => {
            let first = new(RowStatus::Ok, with);
            return std::iter::once(first)
                .chain(
                    operations
                        .iter()
                        .map(|operation| of_operation(computation, &subject, operation)),
                )
                .collect();
        }
    };
    vec![row]
}

/// The command that installs the engine's library for this kind of GPU.
fn other_build(computation: &EngineComputation, python: &str) -> Option<String> {
    // Options follow the name, as in `torch/eager`; they do not change which package is installed.
    match (computation.engine.split('/').next()?, computation.kind) {
        ("torch", DeviceKind::Rocm) => Some(install_torch(python, "rocm6.4")),
        ("torch", DeviceKind::Cuda) => Some(install_torch(python, "cu128")),
        ("onnxruntime", DeviceKind::Rocm) => {
            Some(install_onnxruntime(python, "onnxruntime-migraphx"))
        }
        ("onnxruntime", DeviceKind::Cuda) => Some(install_onnxruntime(python, "onnxruntime-gpu")),
        _ => None,
    }
}

fn install_torch(python: &str, index: &str) -> String {
    format!(
        "{python} -m pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/{index}"
    )
}

/// All packages of ONNX Runtime write the same directory.
fn install_onnxruntime(python: &str, package: &str) -> String {
    format!(
        "{python} -m pip uninstall --yes onnxruntime; {python} -m pip install --force-reinstall {package}"
    )
}

fn of_operation(
    computation: &EngineComputation,
    subject: &str,
    operation: &KnownOperation,
) -> DoctorRow {
    let subject = format!("{subject}: {}", operation.name);
    let new = |status, evidence: &str| {
        DoctorRow::new(Area::Computation, &subject, status, flat(evidence))
    };
    match &operation.answer {
        EngineAnswer::Right(what) => new(RowStatus::Ok, what),
        // An engine need not have every operation.
        EngineAnswer::None(why) => new(RowStatus::Note, &format!("not computed: {why}")),
        EngineAnswer::Wrong(what) => new(RowStatus::Failure, what).because(
            "the device, its driver or a library computes wrongly",
            again(computation),
        ),
        EngineAnswer::Failed(why) => {
            new(RowStatus::Failure, why).because("the engine did not answer", rerun(computation))
        }
    }
}

/// Launching kernels one after another separates races from wrong kernels.
fn again(computation: &EngineComputation) -> String {
    let prefix = match computation.kind {
        DeviceKind::Cpu => "",
        DeviceKind::Cuda => "CUDA_LAUNCH_BLOCKING=1 ",
        DeviceKind::Rocm => "HIP_LAUNCH_BLOCKING=1 ",
    };
    format!(
        "{prefix}{}; then another version of the driver or the library",
        rerun(computation)
    )
}

fn rerun(computation: &EngineComputation) -> String {
    format!("testgen doctor --engine {}", computation.engine)
}

/// The last output of an engine has several lines.
fn flat(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" | ")
}

#[cfg(test)]
mod tests {
    use super::evaluate_computations;
    use crate::{
        computation::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation},
        evaluation::samples::row,
        row::{DoctorRow, RowStatus},
    };
    use testgen_device::DeviceKind;

    fn rows(outcome: ComputationOutcome) -> Vec<DoctorRow> {
        rows_of("torch", outcome)
    }

    fn rows_of(engine: &str, outcome: ComputationOutcome) -> Vec<DoctorRow> {
        let device = Some("rocm:0".to_owned());
        let engine = engine.to_owned();
        evaluate_computations(&[EngineComputation {
            engine,
            device,
            kind: DeviceKind::Rocm,
            simulated: false,
            outcome,
        }])
    }

    fn operation(name: &str, answer: EngineAnswer) -> KnownOperation {
        KnownOperation {
            name: name.to_owned(),
            answer,
        }
    }

    #[test]
    fn a_wrong_answer_is_a_failure_and_its_command_launches_kernels_one_after_another() {
        let operations = vec![
            operation("product", EngineAnswer::Right("exact".to_owned())),
            operation(
                "sum",
                EngineAnswer::Wrong("element 0 is 1, expected 2".to_owned()),
            ),
            operation("copy", EngineAnswer::None("no such operation".to_owned())),
        ];
        let found = rows(ComputationOutcome::Computed {
            with: "torch 2.11.0 (HIP build)".to_owned(),
            operations,
        });
        let statuses: Vec<RowStatus> = found.iter().map(|row| row.status).collect();
        assert_eq!(
            statuses,
            [
                RowStatus::Ok,
                RowStatus::Ok,
                RowStatus::Failure,
                RowStatus::Note
            ]
        );
        let sum = row(&found, "torch on rocm:0: sum");
        assert!(sum.fix.as_ref().is_some_and(|fix| {
            fix.starts_with("HIP_LAUNCH_BLOCKING=1 testgen doctor --engine torch")
        }));
    }

    #[test]
    fn a_fallback_is_never_a_success() {
        let fallback = |build, for_this_kind| {
            let why = "torch sees no GPU".to_owned();
            rows(ComputationOutcome::Fallback {
                why,
                build,
                for_this_kind,
                python: Some("/venv/bin/python".to_owned()),
            })[0]
                .clone()
        };
        let hip = fallback("HIP", true);
        assert_eq!(hip.status, RowStatus::Failure);
        let cuda = fallback("CUDA", false);
        assert_eq!(cuda.status, RowStatus::Warning);
        assert!(cuda.fix.is_some_and(
            |fix| fix.starts_with("/venv/bin/python ") && fix.ends_with("whl/rocm6.4")
        ));
        let fix = |engine, python: Option<&str>| {
            let (why, build) = ("none".to_owned(), "CPU");
            rows_of(
                engine,
                ComputationOutcome::Fallback {
                    why,
                    build,
                    for_this_kind: false,
                    python: python.map(str::to_owned),
                },
            )[0]
            .fix
            .clone()
            .expect("there is one")
        };
        assert!(
            fix("onnxruntime", Some("python3")).ends_with("--force-reinstall onnxruntime-migraphx")
        );
        assert_eq!(fix("torch", None), "testgen doctor --engine torch");
    }

    #[test]
    fn an_engine_that_is_absent_is_a_note_and_one_that_dies_a_failure() {
        let absent = ComputationOutcome::NotInstalled {
            why: "no torch".to_owned(),
            fix: "pip install torch".to_owned(),
        };
        assert_eq!(rows(absent)[0].status, RowStatus::Note);
        let died = rows(ComputationOutcome::Failed {
            why: "it ended; its last output:\nSegmentation fault\n".to_owned(),
        });
        assert_eq!(died[0].status, RowStatus::Failure);
        assert_eq!(
            died[0].evidence,
            "it ended; its last output: | Segmentation fault"
        );
        assert_eq!(
            rows(ComputationOutcome::OtherDevice {
                why: "cuda:1".to_owned()
            })[0]
                .status,
            RowStatus::Failure
        );
    }
}
