//! `SPEC` is there, written as constants, and says what the spec says.
//!
//! `pub static SPEC: Spec` tells the suite what to load and where. Its name, model type, architecture, task, devices and
//! precisions must be those of the spec file; the architecture must be the one that the model type belongs to, and the
//! task one of the architecture's. Devices and precisions name each word once and at least one. A tolerance of its own has
//! a reason.
//!
//! Generate again; in a file written by hand, write each field as a constant, for instance
//! `devices: &[DeviceKind::Cpu, DeviceKind::Rocm]`.

use crate::{Expectation, finding::Remark, harness::Harness, literal, spec::SpecLiteral};
use std::{collections::BTreeSet, fmt::Debug};
use syn::{Expr, Type, Visibility};

const AGAIN: &str = "generate again, or write what the spec says";

/// Looks at `SPEC` alone, then beside the spec.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let missing = "the file has no `pub static SPEC: Spec = Spec { .. }`";
    let Some(items) = harness.statics.get("SPEC") else { return vec![Remark::top(missing, AGAIN)] };
    if let [_, second, ..] = items.as_slice() {
        return vec![Remark::at(&second.ident, "`SPEC` is defined twice", "keep one of them")];
    }
    let Some(spec) = &harness.spec else { return vec![Remark::at(&items[0].ident, missing, AGAIN)] };
    let mut remarks: Vec<Remark> = form(harness, spec).into_iter().collect();
    remarks.extend(constants(spec));
    remarks.extend(consistent(spec));
    remarks.extend(source(harness, spec));
    remarks.extend(tolerances(harness, spec));
    remarks.extend(harness.expectation.into_iter().flat_map(|expectation| agrees(spec, expectation)));
    remarks
}

fn form(harness: &Harness<'_>, spec: &SpecLiteral<'_>) -> Option<Remark> {
    let typed = matches!(spec.item.ty.as_ref(), Type::Path(path) if harness.names.is_runtime(&path.path, "Spec"));
    let public = matches!(spec.item.vis, Visibility::Public(_));
    let message = "`SPEC` is not declared as `pub static SPEC: Spec`";
    (!typed || !public).then(|| Remark::at(&spec.item.ident, message, "declare it so"))
}

/// The fields that the rules read are there and are constants.
fn constants(spec: &SpecLiteral<'_>) -> Vec<Remark> {
    let read = [
        ("name", spec.name.is_some()),
        ("model_type", spec.model_type.is_some()),
        ("architecture", spec.architecture.is_some()),
        ("task", spec.task.is_some()),
        ("devices", spec.devices.is_some()),
        ("precisions", spec.precisions.is_some()),
    ];
    let unread = read.into_iter().filter(|(_, is_read)| !is_read).map(|(name, _)| match spec.fields.get(name) {
        Some(value) => Remark::at(*value, format!("`SPEC.{name}` is not a known constant"), AGAIN),
        None => Remark::at(&spec.item.ident, format!("`SPEC` has no field `{name}`"), AGAIN),
    });
    unread.collect()
}

/// What holds for any spec.
fn consistent(spec: &SpecLiteral<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut add = |field: &str, message: String| remarks.extend(remark(spec, field, message));
    if spec.name.as_deref() == Some("") {
        add("name", "`SPEC.name` is empty".to_owned());
    }
    if let (Some(model_type), Some(architecture)) = (spec.model_type, spec.architecture)
        && model_type.architecture() != architecture
    {
        add("architecture", format!("`{model_type}` is of the architecture `{}`", model_type.architecture()));
    }
    if let (Some(task), Some(architecture)) = (spec.task, spec.architecture)
        && !architecture.tasks().contains(&task)
    {
        add("task", format!("`{task}` is no task of the architecture `{architecture}`"));
    }
    if spec.devices.as_ref().is_some_and(|devices| !is_set(devices)) {
        add("devices", "`SPEC.devices` must name at least one device, and none twice".to_owned());
    }
    if spec.precisions.as_ref().is_some_and(|precisions| !is_set(precisions)) {
        add("precisions", "`SPEC.precisions` must name at least one precision, and none twice".to_owned());
    }
    remarks
}

/// The checkpoint: `Source { path: "..", hub: .. }`.
fn source(harness: &Harness<'_>, spec: &SpecLiteral<'_>) -> Option<Remark> {
    let message = "`SPEC.source` is not `Source { path: \"..\", hub: Some(\"..\") }`, or with `hub: None`";
    let Some(value) = spec.fields.get("source") else { return Some(Remark::at(&spec.item.ident, message, AGAIN)) };
    let is_hub = |hub: &Expr| match literal::plain(hub) {
        Expr::Path(path) => path.path.is_ident("None"),
        Expr::Call(call) => {
            let some = matches!(call.func.as_ref(), Expr::Path(path) if path.path.is_ident("Some"));
            some && call.args.len() == 1 && call.args.iter().all(|argument| literal::text(argument).is_some())
        }
        _ => false,
    };
    let fields = literal::structure(&harness.names, value, "Source").map(literal::fields);
    let written = fields.is_some_and(|fields| {
        let path = fields.get("path").and_then(|path| literal::text(path)).is_some_and(|path| !path.is_empty());
        path && fields.get("hub").is_some_and(|hub| is_hub(hub))
    });
    (!written).then(|| Remark::at(*value, message, AGAIN))
}

/// A tolerance of the spec's own without a reason.
fn tolerances(harness: &Harness<'_>, spec: &SpecLiteral<'_>) -> Vec<Remark> {
    let Some(list) = spec.fields.get("tolerances") else { return Vec::new() };
    let Some(entries) = literal::elements(list) else {
        return vec![Remark::at(*list, "`SPEC.tolerances` is not written as a list", AGAIN)];
    };
    let explained = |entry: &Expr| {
        let entry = literal::structure(&harness.names, entry, "ToleranceOverride")?;
        literal::text(literal::fields(entry).get("reason")?).filter(|reason| !reason.trim().is_empty())
    };
    let bare = entries.into_iter().filter(|entry| explained(entry).is_none());
    let message = "a tolerance of the spec's own without a reason";
    bare.map(|entry| Remark::at(entry, message, "write the reason into the spec's `tolerance`")).collect()
}

fn is_set<T: Ord>(words: &[T]) -> bool {
    !words.is_empty() && words.iter().collect::<BTreeSet<_>>().len() == words.len()
}

/// What holds for this spec.
fn agrees(spec: &SpecLiteral<'_>, expectation: &Expectation) -> Vec<Remark> {
    let set = |words: &[_]| words.iter().copied().collect::<BTreeSet<_>>();
    let precisions = |words: &[_]| words.iter().copied().collect::<BTreeSet<_>>();
    let remarks = [
        differs(spec, "name", spec.name.as_ref(), &expectation.name),
        differs(spec, "model_type", spec.model_type, expectation.model_type),
        differs(spec, "architecture", spec.architecture, expectation.architecture),
        differs(spec, "task", spec.task, expectation.task),
        differs(spec, "devices", spec.devices.as_deref().map(set), set(&expectation.devices)),
        differs(spec, "precisions", spec.precisions.as_deref().map(precisions), precisions(&expectation.precisions)),
    ];
    remarks.into_iter().flatten().collect()
}

fn differs<T: PartialEq + Debug>(spec: &SpecLiteral<'_>, field: &str, found: Option<T>, expected: T) -> Option<Remark> {
    let found = found?;
    let message = format!("`SPEC.{field}` is {found:?}, the spec says {expected:?}");
    if found == expected { None } else { remark(spec, field, message) }
}

fn remark(spec: &SpecLiteral<'_>, field: &str, message: String) -> Option<Remark> {
    spec.fields.get(field).map(|value| Remark::at(*value, message, AGAIN))
}
