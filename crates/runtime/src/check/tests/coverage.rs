//! Every check of every architecture fails when the model has a fault that the check claims to
//! detect.
//!
//! Owns putting the fault of each check into a model, and the table of faults in docs/reference/proof.md. A
//! check without a `FAULT` does not compile; an architecture in which a fault is not detected fails
//! this test by name.

mod table;

use super::{
    super::inapplicable,
    faulty::{Detected, Fault},
    fixture::{Fixture, fixtures},
    harnesses,
};
use crate::{harness::Harness, memory};
use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};
use testgen_models::Checkpoint;
use testgen_types::{
    Architecture, Check, DeviceKind, EntryStatus, Precision, Registration, SubjectKind,
    for_each_check, required_checks,
};

macro_rules! define_detected {
    ($(
        $(#[$property:meta])+
        $check:ident $name:literal
        [$($subject:ident($($file:ident)::+ $(, $known_by:ident)?)),+] $(needs($feature:ident))?
        { $($facts:tt)* }
    )+) => {
        /// The fault that a check must detect in an architecture.
        fn detected(architecture: Architecture, check: Check) -> Detected {
            let found = match (architecture.subject(), check) {
                $($((SubjectKind::$subject, Check::$check) => Some(super::super::$($file)::+::FAULT),)+)+
                _ => None,
            };
            found.unwrap_or_else(|| panic!("`{check}` is not a check of {architecture}"))
        }
    };
}

for_each_check!(define_detected);

/// A check that never applies to an architecture.
struct Inapplicable {
    architecture: Architecture,
    check: Check,
    why: &'static str,
}

const INAPPLICABLE: &[Inapplicable] = &[
    Inapplicable {
        architecture: Architecture::TimeSeries,
        check: Check::PreprocessGolden,
        why: "series are not preprocessed",
    },
    Inapplicable {
        architecture: Architecture::Diffusion,
        check: Check::PreprocessGolden,
        why: "latents are not preprocessed",
    },
];

/// The fixture whose tokenizer and texts are used for architectures whose own fixtures have none.
const TEXT_FIXTURE: &str = "qwen2";

#[test]
fn every_check_of_every_architecture_is_turned_red() {
    let pairs = pairs();
    let left = Mutex::new(pairs.iter());
    let next = || left.lock().unwrap().next().copied();
    let work = || {
        std::iter::from_fn(next)
            .filter_map(undetected_fault)
            .collect::<Vec<_>>()
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut undetected = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect::<Vec<_>>()
    });
    undetected.sort();
    assert!(
        undetected.is_empty(),
        "{} of {} faults are not detected:\n{}",
        undetected.len(),
        pairs.len(),
        undetected.join("\n")
    );
}

#[test]
fn inapplicable_checks_have_nothing_to_compare_with() {
    for Inapplicable {
        architecture,
        check,
        ..
    } in INAPPLICABLE
    {
        let task = harnesses::for_architecture(*architecture).spec.task;
        let specs = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../model_specs")
            .join(architecture.as_str());
        for entry in fs::read_dir(specs).unwrap() {
            // A synthetic checkpoint is recorded in the directory beside its spec.
            let path = entry.unwrap().path();
            let fixture = if path.is_dir() {
                path
            } else if path.with_extension("").is_dir() {
                continue;
            } else {
                fixtures().join(path.file_stem().unwrap())
            };
            let reason = inapplicable(*check, task, &Checkpoint::at(&fixture));
            assert!(
                reason.is_some(),
                "{architecture}: `{check}` applies to {}",
                fixture.display()
            );
        }
    }
}

#[test]
fn borrowed_texts_are_tokenized_as_recorded() {
    for architecture in [Architecture::Moe, Architecture::Ssm] {
        let harness = harnesses::for_architecture(architecture);
        let registration = Registration {
            device: DeviceKind::Cpu,
            check: Check::PreprocessGolden,
            precision: Precision::F32,
        };
        let entry = harnesses::report_entry(
            harness,
            registration,
            Fault::None,
            with_inputs(harness).base(),
        );
        assert_eq!(
            entry.status,
            EntryStatus::Pass,
            "{architecture}: {:?}",
            entry.reason
        );
    }
}

/// An architecture with one of its checks.
#[derive(Clone, Copy, PartialEq)]
struct Pair {
    architecture: Architecture,
    check: Check,
}

/// All checks that a harness of an architecture must have, except those that never apply.
fn pairs() -> Vec<Pair> {
    let of = |architecture: Architecture| {
        let required = required_checks(architecture, DeviceKind::ALL, Precision::ALL);
        let is_registered =
            move |check: &Check| required.iter().any(|required| required.check == *check);
        let applies = move |check: &Check| {
            !INAPPLICABLE
                .iter()
                .any(|never| never.architecture == architecture && never.check == *check)
        };
        let checks = Check::ALL
            .iter()
            .copied()
            .filter(is_registered)
            .filter(applies);
        checks.map(move |check| Pair {
            architecture,
            check,
        })
    };
    Architecture::ALL
        .iter()
        .rev()
        .copied()
        .flat_map(of)
        .collect()
}

/// The failure if a check passes in spite of its fault, or fails for another reason.
fn undetected_fault(pair: Pair) -> Option<String> {
    let Pair {
        architecture,
        check,
    } = pair;
    let Detected {
        fault,
        reason: expected,
        ..
    } = detected(architecture, check);
    // Other tests of this process allocate memory, too.
    let _alone = (fault == Fault::ModelKept).then(|| {
        memory::MEASURED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    });
    let harness = harnesses::for_architecture(architecture);
    let device = if check.applies_on(DeviceKind::Cpu) {
        DeviceKind::Cpu
    } else {
        DeviceKind::Rocm
    };
    let precision = if check == Check::HalfProbe {
        Precision::F16
    } else {
        Precision::F32
    };
    let changed = changed(fault, harness);
    let base = changed
        .as_ref()
        .map_or_else(fixtures, |fixture| fixture.base().to_owned());
    let entry = harnesses::report_entry(
        harness,
        Registration {
            device,
            check,
            precision,
        },
        fault,
        &base,
    );
    let reason = entry.reason.unwrap_or_default();
    let is_detected =
        entry.status == EntryStatus::Fail && expected.split('|').any(|part| reason.contains(part));
    (!is_detected).then(|| {
        format!(
            "{architecture}: `{check}` with the fault {fault:?}: {:?}, {reason}",
            entry.status
        )
    })
}

/// A fixture with the fault, if the fault is in a file.
fn changed(fault: Fault, harness: &'static Harness) -> Option<Fixture> {
    match fault {
        Fault::TensorNotRead => Some(Fixture::new(harness).weights(|tensors| {
            let name = tensors.names()[0].clone();
            tensors.copy(&name, "there_is.no_such_module.weight");
        })),
        Fault::OtherInputsRecorded => Some(with_inputs(harness).golden(|tensors| {
            // A mask of other values than 0 and 1 is refused before anything is compared.
            let is_disturbed =
                |name: &&String| name.starts_with("input.") && !name.ends_with("mask");
            for name in tensors.names().iter().filter(is_disturbed) {
                tensors.disturb(name);
            }
        })),
        _ => None,
    }
}

/// The fixture, with texts of another one if its golden has no raw inputs of its own.
fn with_inputs(harness: &'static Harness) -> Fixture {
    match harness.spec.architecture {
        Architecture::Moe | Architecture::Ssm => Fixture::new(harness).with_texts_of(TEXT_FIXTURE),
        _ => Fixture::new(harness),
    }
}
