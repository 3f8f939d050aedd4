//! `HARNESS` contains this file's own spec and its own three init functions.
//!
//! ```text
//! pub static HARNESS: Harness = Harness { spec: &SPEC, init_cpu, init_cuda, init_rocm, request, skipped: &[ .. ] };
//! ```
//!
//! The suite calls the functions in this static, whatever their names are: `init_rocm: init_cpu`
//! would test the host processor under the name of an AMD GPU.

use crate::{finding::Diagnostic, harness::ParsedHarness, literal};
use syn::{Type, Visibility};

const HELP: &str = "write `pub static HARNESS: Harness = Harness { spec: &SPEC, init_cpu, init_cuda, init_rocm, request, skipped: &[ .. ] }`";

/// Checks the fields of `HARNESS`.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let missing = "the file has no `pub static HARNESS: Harness = Harness { .. }`";
    let Some(items) = harness.statics.get("HARNESS") else {
        return vec![Diagnostic::top(missing, HELP)];
    };
    let item = match items.as_slice() {
        [only] => only,
        [_, second, ..] => {
            return vec![Diagnostic::at(
                &second.ident,
                "`HARNESS` is defined twice",
                "keep one of them",
            )];
        }
        // `statics` has a name only with its items.
        [] => return Vec::new(),
    };
    let typed = matches!(item.ty.as_ref(), Type::Path(path) if harness.names.is_runtime(&path.path, "Harness"));
    let fields = harness
        .harness_fields()
        .filter(|_| typed && matches!(item.vis, Visibility::Public(_)));
    let Some(fields) = fields else {
        return vec![Diagnostic::at(&item.ident, missing, HELP)];
    };
    let expected = [
        ("spec", "SPEC"),
        ("init_cpu", "init_cpu"),
        ("init_cuda", "init_cuda"),
        ("init_rocm", "init_rocm"),
        ("request", "request"),
    ];
    let wrong = expected
        .into_iter()
        .filter_map(|(field, name)| match fields.get(field) {
            None => Some(Diagnostic::at(
                &item.ident,
                format!("`HARNESS` has no field `{field}`"),
                HELP,
            )),
            Some(value) => {
                (literal::local(&harness.names, value).as_deref() != Some(name)).then(|| {
                    Diagnostic::at(
                        *value,
                        format!("`HARNESS.{field}` is not this file's `{name}`"),
                        HELP,
                    )
                })
            }
        });
    wrong.collect()
}
