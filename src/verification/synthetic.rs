//! Specs that nobody wrote, but somebody could: every task, every set of devices and precisions, hostile names and texts.

use crate::spec::{Checkpoint, Checks, LoadedSpec, Memory, ModelName, ModelSpec, Skip, Tolerance};
use std::{path::Path, sync::Arc};
use testgen_contract::{Architecture, DeviceKind, ModelType, Precision, Task, required_checks};

/// Names that are allowed and collide with something: Rust's words, the prelude, the runtime's names, devices.
const NAMES: &[&str] =
    &["match", "self", "Self", "crate", "gen", "7b", "std", "core", "testgen-runtime", "SPEC", "rocm", "a.b-c_D9"];

/// Text that would end a string, a comment, a template tag or a line, if it were not escaped.
const HOSTILE: &str = "\" \\ ' */ /* // //! {{ name }} {% raw %} {# \r\n\t\0 \u{202e} é {0} #\" r#\"";

/// One spec for each combination worth rendering. Their files, below `specs`, do not exist.
pub(super) fn specs(specs: &Path, architecture: Architecture) -> Vec<LoadedSpec> {
    let base = base(architecture);
    let mut all = Vec::new();
    for &task in architecture.tasks() {
        all.extend(subsets(DeviceKind::ALL).map(|devices| ModelSpec { task, devices, ..base.clone() }));
    }
    all.extend(subsets(Precision::ALL).map(|precisions| ModelSpec { precisions, ..base.clone() }));
    let types = ModelType::ALL.iter().filter(|model_type| model_type.architecture() == architecture);
    all.extend(types.map(|&model_type| ModelSpec { model_type, ..base.clone() }));
    all.extend(NAMES.iter().filter_map(|name| Some(ModelSpec { name: ModelName::new(name).ok()?, ..base.clone() })));
    let mut all: Vec<LoadedSpec> = all.into_iter().map(|spec| loaded(specs.join("any.yaml").as_path(), spec)).collect();
    all.push(loaded(&specs.join("\" ` */ {{ x }} é.yaml"), hostile(base)));
    all
}

/// What was rendered, in a few words, for the path of a finding.
pub(super) fn describe(spec: &ModelSpec) -> String {
    let devices: Vec<&str> = spec.devices.iter().map(|device| device.as_str()).collect();
    let precisions: Vec<&str> = spec.precisions.iter().map(|precision| precision.as_str()).collect();
    let ModelSpec { name, model_type, task, .. } = spec;
    format!("{name}: {model_type}, {task}, {}, {}", devices.join("+"), precisions.join("+"))
}

fn base(architecture: Architecture) -> ModelSpec {
    let model_types = ModelType::ALL.iter().copied();
    let model_type = model_types.clone().find(|model_type| model_type.architecture() == architecture);
    ModelSpec {
        name: ModelName::new("any").expect("letters are a name"),
        model_type: model_type.expect("every architecture has a model type"),
        architecture,
        task: architecture.tasks().first().copied().unwrap_or(Task::TextEmbedding),
        checkpoint: Checkpoint { fixture: Some("any".to_owned()), ..Checkpoint::default() },
        devices: DeviceKind::ALL.to_vec(),
        precisions: Precision::ALL.to_vec(),
        checks: Checks::default(),
        tolerance: Vec::new(),
        memory: None,
    }
}

/// Every field that takes free text, filled with [`HOSTILE`]; the first check of each device is skipped.
fn hostile(base: ModelSpec) -> ModelSpec {
    let required = required_checks(base.architecture, &base.devices, &base.precisions);
    let skip = |device: DeviceKind| {
        let first = required.iter().find(|entry| entry.device == device)?;
        let (check, precision) = (first.check, Some(first.precision));
        Some(Skip { check, device: Some(device), precision, reason: HOSTILE.to_owned() })
    };
    let tolerance = |precision| Tolerance {
        output: HOSTILE.to_owned(),
        precision,
        rel_l2: 0.02,
        max_rel: 1e-7,
        reason: HOSTILE.to_owned(),
    };
    ModelSpec {
        checkpoint: Checkpoint {
            fixture: None,
            path: Some(format!("/{HOSTILE}").replace('\0', "")),
            hub: Some(HOSTILE.to_owned()),
        },
        checks: Checks { skip: base.devices.iter().copied().filter_map(skip).collect() },
        tolerance: base.precisions.iter().copied().map(tolerance).collect(),
        memory: Some(Memory { vram_mib: u64::MAX }),
        ..base
    }
}

fn loaded(path: &Path, spec: ModelSpec) -> LoadedSpec {
    LoadedSpec { path: path.to_path_buf(), text: Arc::from(describe(&spec)), spec }
}

/// Every subset but the empty one, in the order of `all`.
fn subsets<T: Copy + 'static>(all: &'static [T]) -> impl Iterator<Item = Vec<T>> {
    (1_u32..1 << all.len()).map(move |chosen| {
        let members = all.iter().enumerate().filter(|(index, _)| chosen & (1 << index) != 0);
        members.map(|(_, member)| *member).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_task_model_type_and_set_of_devices_is_there() {
        for &architecture in Architecture::ALL {
            let specs = specs(Path::new("s"), architecture);
            let tasks: BTreeSet<Task> = specs.iter().map(|loaded| loaded.spec.task).collect();
            assert_eq!(tasks, architecture.tasks().iter().copied().collect());
            let devices: BTreeSet<_> = specs.iter().map(|loaded| loaded.spec.devices.clone()).collect();
            assert_eq!(devices.len(), (1 << DeviceKind::ALL.len()) - 1);
            assert!(specs.iter().all(|loaded| loaded.spec.model_type.architecture() == architecture));
            assert!(specs.iter().any(|loaded| loaded.spec.checks.skip.iter().any(|skip| skip.reason == HOSTILE)));
        }
    }

    #[test]
    fn hostile_names_are_names() {
        assert!(NAMES.iter().all(|name| ModelName::new(name).is_ok()));
    }
}
