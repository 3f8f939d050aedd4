//! Synthetic specs that users could write: every task, every set of devices and precisions, hostile
//! names and texts.

use crate::spec::{
    CheckpointPlace, CheckpointSource, Checks, Limits, LoadedSpec, Memory, ModelName, ModelSpec,
    ModelSubject, OperatorSpec, OperatorsSubject, SkippedCheck, SpecSubject, StressSpec,
    ToleranceSpec,
};
use std::{path::Path, sync::Arc};
use testgen_types::{
    Architecture, DeviceKind, ModelType, Operator, Precision, SubjectKind, Task, required_checks,
};

/// Valid names that collide with something: Rust's keywords, the prelude, the runtime's names,
/// devices.
const NAMES: &[&str] = &[
    "match",
    "self",
    "Self",
    "crate",
    "gen",
    "7b",
    "std",
    "core",
    "testgen-runtime",
    "SPEC",
    "rocm",
    "a.b-c_D9",
];

/// Text that would end a string, a comment, a template tag or a line, if it were not escaped.
const HOSTILE: &str =
    "\" \\ ' */ /* // //! {{ name }} {% raw %} {# \r\n\t\0 \u{202e} é {0} #\" r#\"";

/// Specs in which every task meets every set of devices, and every model type, name and set of
/// precisions occurs, however many of each there are. Their files, below `specs`, do not exist.
pub(super) fn specs(specs: &Path, architecture: Architecture) -> Vec<LoadedSpec> {
    let base = base(architecture);
    let (devices, precisions) = (subsets(DeviceKind::ALL), subsets(Precision::ALL));
    let path = specs.join("any.yaml");
    let pairs = devices.len() * architecture.tasks().len();
    let count = [
        pairs,
        model_types(architecture).len(),
        NAMES.len(),
        precisions.len(),
    ]
    .into_iter()
    .fold(0, usize::max);
    let mut all: Vec<LoadedSpec> = (0..count)
        .map(|index| loaded(&path, spec(&base, architecture, index)))
        .collect();
    // The head of a harness names the file of its spec, so that this name is hostile, too.
    all.push(loaded(&specs.join("\" ` */ {{ x }} é.yaml"), hostile(base)));
    all
}

/// The spec of a number: every list is taken in a cycle.
fn spec(base: &ModelSpec, architecture: Architecture, index: usize) -> ModelSpec {
    let (devices, precisions) = (subsets(DeviceKind::ALL), subsets(Precision::ALL));
    let devices_of = cycled(&devices, index).unwrap_or_default();
    // The numbers of both sets, 7 and 15, have no common factor, so no pair occurs twice in 105
    // specs.
    let declared = cycled(&precisions, index).unwrap_or_default();
    ModelSpec {
        name: NAMES
            .iter()
            .cycle()
            .nth(index)
            .and_then(|name| ModelName::new(name).ok())
            .unwrap_or(base.name.clone()),
        subject: subject(architecture, index),
        // The next task comes after all sets of devices, so that each task meets each set.
        task: cycled(architecture.tasks(), index / devices.len()).unwrap_or(base.task),
        precisions: computable(&devices_of, declared),
        devices: devices_of,
        ..base.clone()
    }
}

/// The precisions that a spec with these devices may declare: without the precisions that none of
/// them has, and with f32 if a device would be left without any.
fn computable(devices: &[DeviceKind], declared: Vec<Precision>) -> Vec<Precision> {
    let has_device =
        |precision: &Precision| devices.iter().any(|device| precision.applies_on(*device));
    let mut kept: Vec<Precision> = declared.into_iter().filter(has_device).collect();
    if !devices
        .iter()
        .all(|device| kept.iter().any(|precision| precision.applies_on(*device)))
    {
        kept.insert(0, Precision::F32);
    }
    kept
}

fn cycled<T: Clone>(all: &[T], index: usize) -> Option<T> {
    all.iter().cycle().nth(index).cloned()
}

fn model_types(architecture: Architecture) -> Vec<ModelType> {
    ModelType::ALL
        .iter()
        .copied()
        .filter(|model_type| model_type.architecture() == architecture)
        .collect()
}

/// A short description of the rendered spec, for the path of a finding.
pub(super) fn describe(spec: &ModelSpec) -> String {
    let devices: Vec<&str> = spec.devices.iter().map(|device| device.as_str()).collect();
    let precisions: Vec<&str> = spec
        .precisions
        .iter()
        .map(|precision| precision.as_str())
        .collect();
    let ModelSpec { name, task, .. } = spec;
    let subject = match &spec.subject {
        SpecSubject::Model(model) => model.model_type.to_string(),
        SpecSubject::Operators(it) => format!("{} operators", it.operators.len()),
    };
    format!(
        "{name}: {subject}, {task}, {}, {}",
        devices.join("+"),
        precisions.join("+")
    )
}

fn base(architecture: Architecture) -> ModelSpec {
    ModelSpec {
        name: ModelName::new("any").expect("letters are a name"),
        subject: subject(architecture, 0),
        architecture,
        task: architecture
            .tasks()
            .first()
            .copied()
            .unwrap_or(Task::TextEmbedding),
        devices: DeviceKind::ALL.to_vec(),
        precisions: Precision::ALL.to_vec(),
        checks: Checks::default(),
        memory: None,
        limits: None,
    }
}

/// A model of the type with this index among the types of the architecture, or every operator.
fn subject(architecture: Architecture, index: usize) -> SpecSubject {
    match architecture.subject() {
        SubjectKind::Model => SpecSubject::Model(ModelSubject {
            model_type: cycled(&model_types(architecture), index)
                .expect("every architecture of models has a type"),
            checkpoint: CheckpointSource {
                place: CheckpointPlace::Fixture("any".to_owned()),
                quantise: None,
                hub: None,
            },
            tolerance: Vec::new(),
        }),
        SubjectKind::Operators => SpecSubject::Operators(OperatorsSubject {
            operators: operators(),
            stress: stress(),
        }),
    }
}

/// Every operator, with one shape and the last with two.
fn operators() -> Vec<OperatorSpec> {
    let mut all: Vec<OperatorSpec> = Operator::ALL
        .iter()
        .map(|&operator| OperatorSpec {
            operator,
            shapes: vec![shape_of(operator, 1)],
        })
        .collect();
    if let Some(last) = all.last_mut() {
        last.shapes.push(shape_of(last.operator, 4097));
    }
    all
}

/// Two issues of the last operator, the second with two shapes.
fn stress() -> Vec<StressSpec> {
    let Some(&operator) = Operator::ALL.last() else {
        return Vec::new();
    };
    [
        ("vllm#51511", vec![shape_of(operator, 8193)]),
        (
            "sizes",
            vec![shape_of(operator, 1), shape_of(operator, 9_500_000)],
        ),
    ]
    .map(|(issue, shapes)| StressSpec {
        operator,
        issue: issue.to_owned(),
        shapes,
    })
    .to_vec()
}

/// Every field that takes free text, filled with [`HOSTILE`]; the first check of each device is
/// skipped.
fn hostile(base: ModelSpec) -> ModelSpec {
    let required = required_checks(base.architecture, &base.devices, &base.precisions);
    let mut subject = base.subject;
    if let SpecSubject::Model(model) = &mut subject {
        model.checkpoint = CheckpointSource {
            // The reader of specs rejects a NUL in a path.
            place: CheckpointPlace::Path(format!("/{HOSTILE}").replace('\0', "")),
            quantise: None,
            hub: Some(HOSTILE.to_owned()),
        };
        // One for each precision: the rule rejects two for one output and precision.
        let precisions = base.precisions.iter().copied();
        model.tolerance = precisions.map(hostile_tolerance).collect();
    }
    ModelSpec {
        subject,
        checks: Checks {
            skip: base
                .devices
                .iter()
                .copied()
                .filter_map(|device| {
                    let first = required.iter().find(|entry| entry.device == device)?;
                    let (check, precision) = (first.check, Some(first.precision));
                    Some(SkippedCheck {
                        check,
                        device: Some(device),
                        precision,
                        reason: HOSTILE.to_owned(),
                    })
                })
                .collect(),
            ..Checks::default()
        },
        // The largest values of both fields, which the harness must be able to contain.
        memory: Some(Memory { vram_mib: u64::MAX }),
        limits: Some(Limits { seconds: u64::MAX }),
        ..base
    }
}

fn hostile_tolerance(precision: Precision) -> ToleranceSpec {
    ToleranceSpec {
        output: HOSTILE.to_owned(),
        precision,
        // The largest that the rule `tolerances` accepts.
        rel_l2: precision.tolerance_ceiling()[0],
        max_rel: 1e-7,
        reason: HOSTILE.to_owned(),
    }
}

fn loaded(path: &Path, spec: ModelSpec) -> LoadedSpec {
    LoadedSpec {
        path: path.to_path_buf(),
        text: Arc::from(describe(&spec)),
        spec,
    }
}

/// Every subset but the empty one, in the order of `all`.
fn subsets<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    (1..1 << all.len())
        .map(|chosen| subset(all, chosen))
        .collect()
}

/// The members whose bit in `chosen` is set.
fn subset<T: Copy>(all: &[T], chosen: u32) -> Vec<T> {
    let members = all
        .iter()
        .enumerate()
        .filter(|(index, _)| chosen & (1 << index) != 0);
    members.map(|(_, member)| *member).collect()
}

fn shape_of(operator: Operator, size: u64) -> Vec<u64> {
    vec![size; operator.sizes().len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_name_and_set_occurs() {
        for &architecture in Architecture::ALL {
            let specs: Vec<ModelSpec> = specs(Path::new("s"), architecture)
                .into_iter()
                .map(|loaded| loaded.spec)
                .collect();
            let tasks: BTreeSet<Task> = specs.iter().map(|spec| spec.task).collect();
            assert_eq!(tasks, architecture.tasks().iter().copied().collect());
            let types: BTreeSet<ModelType> = specs
                .iter()
                .filter_map(|spec| spec.subject.model())
                .map(|model| model.model_type)
                .collect();
            assert_eq!(types, model_types(architecture).into_iter().collect());
            let pairs: BTreeSet<_> = specs
                .iter()
                .map(|spec| (spec.task, &spec.devices))
                .collect();
            let sets = (1 << DeviceKind::ALL.len()) - 1;
            assert_eq!(
                pairs.len(),
                tasks.len() * sets,
                "every task with every set of devices"
            );
            let precisions: BTreeSet<_> = specs.iter().map(|spec| &spec.precisions).collect();
            let everywhere = |set: &&&Vec<Precision>| !set.contains(&Precision::Tf32);
            assert_eq!(
                precisions.iter().filter(everywhere).count(),
                (1 << (Precision::ALL.len() - 1)) - 1
            );
            assert!(precisions.iter().any(|set| set.contains(&Precision::Tf32)));
            assert!(
                NAMES
                    .iter()
                    .all(|name| specs.iter().any(|spec| spec.name.as_str() == *name))
            );
            assert!(
                specs
                    .iter()
                    .any(|spec| spec.checks.skip.iter().any(|skip| skip.reason == HOSTILE))
            );
        }
    }

    #[test]
    fn hostile_names_are_names() {
        assert!(NAMES.iter().all(|name| ModelName::new(name).is_ok()));
    }
}
