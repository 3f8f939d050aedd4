//! The GPU functions read the visible-device variables and report them, on every path.
//!
//! `ROCR_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES` and `CUDA_VISIBLE_DEVICES` hide devices; if a
//! report of an absent device omits them, its reader searches for a broken driver. `init_cuda` and
//! `init_rocm` call `visible_devices()` and pass its value to `report_visibility(label, ..)`, also
//! on the path to the fallback.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, of_target},
    reader::Value,
};
use testgen_types::DeviceKind;

/// Checks every path through the init functions of the GPUs.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let gpus = harness
        .init_paths()
        .filter(|init_path| init_path.device != DeviceKind::Cpu);
    Diagnostic::once(gpus.filter_map(|init_path| one(&init_path)).collect())
}

fn one(init_path: &InitPath<'_, '_>) -> Option<Diagnostic> {
    let (function, path) = (init_path.function(), &init_path.code_path);
    let help = "begin with `report_visibility(&target.label, &visible_devices());`";
    let Some((_, first)) = path.runtime("visible_devices").next() else {
        let message =
            format!("a path through `{function}` does not read the visible-device variables");
        return Some(init_path.diagnostic(message, help));
    };
    // They may be read again, for instance for a condition: one value must be reported.
    let is_reported = path.runtime("visible_devices").any(|(read, _)| {
        let expected = [of_target("label"), Value::Called(read)];
        path.runtime("report_visibility")
            .any(|(_, call)| call.arguments == expected)
    });
    if is_reported {
        return None;
    }
    let message = format!(
        "a path through `{function}` reads the visible-device variables and does not report them"
    );
    Some(Diagnostic::span(first.span(), message, help))
}
