//! Every check that an architecture registers is turned red by a fault in what the check claims to notice.
//!
//! Owns: which fault each check must notice, and the table of it in docs/proof.md. A check without a fault does not
//! compile; an architecture in which its fault stays unnoticed is red here, by name.

mod table;

use super::{
    super::inapplicable,
    faulty::Fault,
    fixture::{Fixture, fixtures},
    harnesses,
};
use crate::{Checkpoint, Harness, memory};
use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};
use testgen_contract::{Architecture, Check, DeviceKind, Precision, RecordStatus, Registration, required_checks};

/// The fault that a check must notice, in words, and what the reason then says: one of the parts between bars.
fn fault(check: Check) -> (Fault, &'static str, &'static str) {
    match check {
        Check::LoadKeysExact => (Fault::TensorNotRead, "one tensor more in the checkpoint", "were never read"),
        Check::ConfigEffective => (Fault::FieldHardCoded, "one field is hard-coded", "has no effect: tried"),
        Check::Placement => (Fault::OutputOnOtherDevice, "outputs on another device", "lives on cuda, not on cpu"),
        Check::PreprocessGolden => {
            (Fault::OtherInputsRecorded, "other inputs were recorded", "position 0: expected|at [0, 0, 0")
        }
        Check::EmbedGolden => (Fault::EmbeddingOff, "one element of the embeddings off by 1 %", "embed`: "),
        Check::LayerTraceGolden => (Fault::LastLayerOff, "one element of the last layer off by 1 %", "still agrees"),
        Check::OutputGolden => (Fault::OutputOff, "one element of each output off by 1 %", "furthest off at ["),
        Check::DetectionGolden => (Fault::OutputOff, "one element of each output off by 1 %", "`detection.boxes`"),
        Check::RouterGolden => (Fault::RouterOff, "one probability of each router off by 1 %", "`router."),
        Check::RetrievalGolden => (Fault::WrongLastPassage, "a search that misses one passage", "is found at place"),
        Check::Finite => (Fault::NotANumber, "one element of each output is NaN", "elements are not finite"),
        Check::MaskGolden => (Fault::MaskIgnored, "the mask is ignored", "at real positions|at masked positions|nodes"),
        Check::CausalLeak => (Fault::FirstSeesLast, "the first position sees the last", "before position 1"),
        Check::PadInvariance => (Fault::MaskIgnored, "the mask is ignored", "padded left|padded right|more padding"),
        Check::BatchInvariance => (Fault::RowDependsOnBatch, "a row depends on the size of its batch", "row 0 alone"),
        Check::KvCacheEquivalence => (Fault::WrongChunk, "a chunk behind a cache is wrong", "in chunks"),
        Check::ShapeSweep => (Fault::WrongRowOfFive, "one row in a batch of five is wrong", "batch 3 of 5"),
        Check::Determinism => {
            (Fault::EverySecondCallOneBitOff, "every second run is one bit off", "differs in 1 elements")
        }
        Check::DtypeLadder => (Fault::HalfPrecisionAsSingle, "f32 has the mantissa of f16", "in f32`"),
        Check::HalfProbe => (Fault::HalfPrecisionRefused, "half precision is refused", "and yet the endpoint is"),
        Check::GreedyMargin => (Fault::CacheDrifts, "logits drift with the cache", "tokens.logits step 2"),
        Check::GenerationControls => (Fault::LogitsDependOnHistory, "runs do not repeat", "are not the first of"),
        Check::MemoryReleased => (Fault::ModelKept, "the model stays in memory", "1099"),
        Check::FallbackMarked => (Fault::FallbackNotMarked, "a fallback says it is real", "and the endpoint is real"),
        Check::MockMarked => (Fault::OtherCheckpointLoaded, "another checkpoint is loaded", "and the endpoint is real"),
        Check::RequireHonoured => (Fault::FallbackNotMarked, "a fallback says it is real", "expected ignored"),
    }
}

/// What no checkpoint of an architecture has anything to be compared with for, and why.
const NEVER: &[(Architecture, Check, &str)] = &[
    (Architecture::TimeSeries, Check::PreprocessGolden, "series are read as they are"),
    (Architecture::Diffusion, Check::PreprocessGolden, "latents are read as they are"),
];

/// The fixture that lends its tokenizer and texts to architectures whose own have none.
const LENDER: &str = "qwen2";

#[test]
fn every_check_of_every_architecture_is_turned_red() {
    let pairs = pairs();
    let left = Mutex::new(pairs.iter());
    let next = || left.lock().unwrap().next().copied();
    let work = || std::iter::from_fn(next).filter_map(unnoticed).collect::<Vec<_>>();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut green = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    green.sort();
    assert!(green.is_empty(), "{} of {} are not noticed:\n{}", green.len(), pairs.len(), green.join("\n"));
}

#[test]
fn what_is_never_made_has_nothing_to_be_compared_with() {
    for (architecture, check, _) in NEVER {
        let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model_specs").join(architecture.as_str());
        for spec in fs::read_dir(specs).unwrap() {
            let fixture = fixtures().join(spec.unwrap().path().file_stem().unwrap());
            let reason = inapplicable(*check, &Checkpoint::at(&fixture));
            assert!(reason.is_some(), "{architecture}: `{check}` can be made with {}", fixture.display());
        }
    }
}

#[test]
fn lent_texts_are_read_as_they_were_recorded() {
    for architecture in [Architecture::Moe, Architecture::Ssm] {
        let harness = harnesses::of(architecture);
        let registration =
            Registration { device: DeviceKind::Cpu, check: Check::PreprocessGolden, precision: Precision::F32 };
        let record = harnesses::record(harness, registration, Fault::None, with_inputs(harness).base());
        assert_eq!(record.status, RecordStatus::Pass, "{architecture}: {:?}", record.reason);
    }
}

/// Every check that a harness of an architecture must have, but for those that are never made.
fn pairs() -> Vec<(Architecture, Check)> {
    let of = |architecture: Architecture| {
        let required = required_checks(architecture, DeviceKind::ALL, Precision::ALL);
        let is_registered = move |check: &Check| required.iter().any(|required| required.check == *check);
        let is_made = move |check: &Check| !NEVER.iter().any(|(of, never, _)| (*of, *never) == (architecture, *check));
        let checks = Check::ALL.iter().copied().filter(is_registered).filter(is_made);
        checks.map(move |check| (architecture, check))
    };
    Architecture::ALL.iter().rev().copied().flat_map(of).collect()
}

/// What is wrong when a check does not turn red, or for another reason than its fault.
fn unnoticed((architecture, check): (Architecture, Check)) -> Option<String> {
    let (fault, _, says) = fault(check);
    let _alone = (fault == Fault::ModelKept).then(|| memory::MEASURED.lock().unwrap_or_else(PoisonError::into_inner));
    let harness = harnesses::of(architecture);
    let device = if check.applies_on(DeviceKind::Cpu) { DeviceKind::Cpu } else { DeviceKind::Rocm };
    let precision = if check == Check::HalfProbe { Precision::F16 } else { Precision::F32 };
    let changed = changed(fault, harness);
    let base = changed.as_ref().map_or_else(fixtures, |fixture| fixture.base().to_owned());
    let record = harnesses::record(harness, Registration { device, check, precision }, fault, &base);
    let reason = record.reason.unwrap_or_default();
    let noticed = record.status == RecordStatus::Fail && says.split('|').any(|part| reason.contains(part));
    (!noticed).then(|| format!("{architecture}: `{check}` with the fault {fault:?}: {:?}, {reason}", record.status))
}

/// The files with a fault in them, where that is where it is.
fn changed(fault: Fault, harness: &'static Harness) -> Option<Fixture> {
    match fault {
        Fault::TensorNotRead => Some(Fixture::of(harness).weights(|tensors| {
            let name = tensors.names()[0].clone();
            tensors.copy(&name, "there_is.no_such_module.weight");
        })),
        Fault::OtherInputsRecorded => Some(with_inputs(harness).golden(|tensors| {
            for name in tensors.names().iter().filter(|name| name.starts_with("input.")) {
                tensors.another(name);
            }
        })),
        _ => None,
    }
}

/// The fixture with the raw inputs that it was recorded from, or lent ones.
fn with_inputs(harness: &'static Harness) -> Fixture {
    match harness.spec.architecture {
        Architecture::Moe | Architecture::Ssm => Fixture::of(harness).texts_of(LENDER),
        _ => Fixture::of(harness),
    }
}
