//! `SPEC` exists, is written as constants, and agrees with the spec.
//!
//! `pub static SPEC: Spec` defines the model that the suite loads, or the operators that it calls,
//! and where they run. Its name, subject (model type and checkpoint, or operators and shapes),
//! architecture, task, devices and precisions, the memory that it needs and the time that checks
//! may take must agree with the spec file; the architecture must be the one of the model type, and
//! the task one of the architecture's. Devices and precisions contain at least one variant, and none twice; precisions
//! are in the spec's order, because the first is the default.
//!
//! Generate again; in a file written by hand, write each field as a constant, for instance
//! `devices: &[DeviceKind::Cpu, DeviceKind::Rocm]`.

use crate::{
    expectation::Expectation, finding::Diagnostic, harness::ParsedHarness, literal,
    spec::SpecLiteral, subject::ExpectedSubject,
};
use std::{collections::BTreeSet, fmt::Debug};
use syn::{Type, Visibility};

const AGAIN: &str = "generate again, or write the values of the spec";

/// Checks `SPEC` alone, then compares it with the spec.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let missing = "the file has no `pub static SPEC: Spec = Spec { .. }`";
    let Some(items) = harness.statics.get("SPEC") else {
        return vec![Diagnostic::top(missing, AGAIN)];
    };
    if let [_, second, ..] = items.as_slice() {
        return vec![Diagnostic::at(
            &second.ident,
            "`SPEC` is defined twice",
            "keep one of them",
        )];
    }
    let Some(spec) = &harness.spec else {
        return vec![Diagnostic::at(&items[0].ident, missing, AGAIN)];
    };
    let mut diagnostics: Vec<Diagnostic> = form(harness, spec).into_iter().collect();
    diagnostics.extend(constants(spec));
    diagnostics.extend(consistent(spec));
    diagnostics.extend(numbers(harness, spec));
    diagnostics.extend(
        harness
            .expectation
            .into_iter()
            .flat_map(|expectation| agrees(spec, expectation)),
    );
    diagnostics
}

fn form(harness: &ParsedHarness<'_>, spec: &SpecLiteral<'_>) -> Option<Diagnostic> {
    let typed = matches!(spec.item.ty.as_ref(), Type::Path(path) if harness.names.is_runtime(&path.path, "Spec"));
    let public = matches!(spec.item.vis, Visibility::Public(_));
    let message = "`SPEC` is not declared as `pub static SPEC: Spec`";
    (!typed || !public).then(|| Diagnostic::at(&spec.item.ident, message, "declare it this way"))
}

/// The fields that the rules read exist and are constants.
fn constants(spec: &SpecLiteral<'_>) -> Vec<Diagnostic> {
    let read = [
        ("name", spec.name.is_some()),
        ("subject", spec.subject.is_some()),
        ("architecture", spec.architecture.is_some()),
        ("task", spec.task.is_some()),
        ("devices", spec.devices.is_some()),
        ("precisions", spec.precisions.is_some()),
    ];
    let unread = read
        .into_iter()
        .filter(|(_, is_read)| !is_read)
        .map(|(name, _)| match spec.fields.get(name) {
            Some(value) => Diagnostic::at(
                *value,
                format!("`SPEC.{name}` is not a known constant"),
                AGAIN,
            ),
            None => Diagnostic::at(
                &spec.item.ident,
                format!("`SPEC` has no field `{name}`"),
                AGAIN,
            ),
        });
    unread.collect()
}

/// The requirements for any spec.
fn consistent(spec: &SpecLiteral<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut add =
        |field: &str, message: String| diagnostics.extend(diagnostic(spec, field, message));
    if spec.name.as_deref() == Some("") {
        add("name", "`SPEC.name` is empty".to_owned());
    }
    if let (Some(subject), Some(architecture)) = (&spec.subject, spec.architecture) {
        let (name, right) = subject.architecture();
        if right != architecture {
            add(
                "architecture",
                format!("`{name}` is of the architecture `{right}`"),
            );
        }
    }
    if let Some(message) = spec.subject.as_ref().and_then(ExpectedSubject::incomplete) {
        add("subject", message.to_owned());
    }
    if let (Some(task), Some(architecture)) = (spec.task, spec.architecture)
        && !architecture.tasks().contains(&task)
    {
        add(
            "task",
            format!("`{task}` is not a task of the architecture `{architecture}`"),
        );
    }
    if spec
        .devices
        .as_ref()
        .is_some_and(|devices| !is_set(devices))
    {
        add(
            "devices",
            "`SPEC.devices` must name at least one device, and none twice".to_owned(),
        );
    }
    if spec
        .precisions
        .as_ref()
        .is_some_and(|precisions| !is_set(precisions))
    {
        add(
            "precisions",
            "`SPEC.precisions` must name at least one precision, and none twice".to_owned(),
        );
    }
    diagnostics
}

/// The memory of the device that the model needs, and the time that a check may take.
fn numbers(harness: &ParsedHarness<'_>, spec: &SpecLiteral<'_>) -> Vec<Diagnostic> {
    let Some(expectation) = harness.expectation else {
        return Vec::new();
    };
    let fields = [
        ("vram_mib", expectation.vram_mib),
        ("limit_seconds", expectation.limit_seconds),
    ];
    let wrong = fields.into_iter().filter_map(|(name, right)| {
        // A struct literal without `..rest` that misses a field does not compile.
        let value = spec.fields.get(name)?;
        let found = match literal::option(&harness.names, value) {
            Some(Some(number)) => literal::integer(number).map(Some),
            Some(None) => Some(None),
            None => None,
        };
        let message = format!("`SPEC.{name}` differs from the spec");
        (found != Some(right)).then(|| Diagnostic::at(*value, message, AGAIN))
    });
    wrong.collect()
}

fn is_set<T: Ord>(words: &[T]) -> bool {
    !words.is_empty() && words.iter().collect::<BTreeSet<_>>().len() == words.len()
}

/// The requirements for this spec.
fn agrees(spec: &SpecLiteral<'_>, expectation: &Expectation) -> Vec<Diagnostic> {
    let diagnostics = [
        differs(spec, "name", spec.name.as_ref(), &expectation.name),
        differs(spec, "subject", spec.subject.as_ref(), &expectation.subject),
        differs(
            spec,
            "architecture",
            spec.architecture,
            expectation.architecture,
        ),
        differs(spec, "task", spec.task, expectation.task),
        // Devices as a set, precisions in order: without f32, the first that the device computes
        // correctly is the default.
        differs(
            spec,
            "devices",
            spec.devices.as_deref().map(as_set),
            as_set(&expectation.devices),
        ),
        differs(
            spec,
            "precisions",
            spec.precisions.as_deref(),
            &expectation.precisions,
        ),
    ];
    diagnostics.into_iter().flatten().collect()
}

fn as_set<T: Copy + Ord>(words: &[T]) -> BTreeSet<T> {
    words.iter().copied().collect()
}

fn differs<T: PartialEq + Debug>(
    spec: &SpecLiteral<'_>,
    field: &str,
    found: Option<T>,
    expected: T,
) -> Option<Diagnostic> {
    // `constants` reports a field that could not be read.
    let found = found?;
    let message = format!("`SPEC.{field}` is {found:?}, the spec says {expected:?}");
    if found == expected {
        None
    } else {
        diagnostic(spec, field, message)
    }
}

fn diagnostic(spec: &SpecLiteral<'_>, field: &str, message: String) -> Option<Diagnostic> {
    spec.fields
        .get(field)
        .map(|value| Diagnostic::at(*value, message, AGAIN))
}
