//! The names that harnesses use: exports of `testgen_runtime`, and names of the language.

use testgen_types::DeviceKind;

/// The crate that a harness imports.
pub(crate) const RUNTIME: &str = "testgen_runtime";

/// The types of `testgen_runtime`, including the ones that only appear in the signature of an
/// extracted helper, and its module of tasks.
const TYPES: &[&str] = &[
    "DeviceUnavailable",
    "Architecture",
    "Check",
    "Checkpoint",
    "Device",
    "DeviceIndex",
    "DeviceKind",
    "Endpoint",
    "Harness",
    "InitError",
    "Label",
    "LoadError",
    "LoadTarget",
    "LoadedModel",
    "DeviceMemory",
    "Model",
    "ModelType",
    "OpenDevice",
    "Operator",
    "OperatorShapes",
    "OpenError",
    "Precision",
    "PrecisionError",
    "PrecisionProbe",
    "RecordedRequest",
    "Request",
    "RequestError",
    "Skip",
    "Source",
    "Spec",
    "StressShapes",
    "Subject",
    "Task",
    "ToleranceOverride",
    "Visibility",
    "task",
];

/// The functions of `testgen_runtime`.
const FUNCTIONS: &[&str] = &[
    "cuda_compatibility",
    "cuda_driver",
    "hip_runtime",
    "host_processor",
    "load",
    "memory",
    "probe_half_precision",
    "report_memory",
    "report_probe",
    "report_visibility",
    "visible_devices",
];

/// The macros of the standard library that only print or format.
pub(crate) const PRINTING: &[&str] = &["eprint", "eprintln", "format", "print", "println"];

/// The macros of the standard library that can end the process.
pub(crate) const PANICKING: &[&str] = &["panic", "todo", "unimplemented", "unreachable"];

/// The macros of the standard library that end the process when a condition does not hold.
pub(crate) const ASSERTING: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
];

/// The prelude's names, as far as a harness can use them.
const PRELUDE: &[&str] = &[
    "Err", "None", "Ok", "Option", "Result", "Some", "String", "drop", "str",
];

/// Every name of `testgen_runtime` that a harness may use.
pub fn runtime_names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().chain(FUNCTIONS).copied()
}

/// Whether `testgen_runtime` exports `name` to harnesses.
pub(crate) fn is_runtime(name: &str) -> bool {
    TYPES.contains(&name) || FUNCTIONS.contains(&name)
}

/// Whether `name` is in the prelude.
pub(crate) fn is_prelude(name: &str) -> bool {
    PRELUDE.contains(&name)
}

/// Whether a harness must not redefine `name`.
pub(crate) fn is_protected(name: &str) -> bool {
    let macros = [PRINTING, PANICKING, ASSERTING];
    name == RUNTIME
        || is_runtime(name)
        || is_prelude(name)
        || macros.iter().any(|list| list.contains(&name))
}

/// Whether `name` is an entry point of a harness.
pub(crate) fn is_entry(name: &str) -> bool {
    // Rules check the calls of entry points, and the interpreter never follows them.
    matches!(name, "init_cpu" | "init_cuda" | "init_rocm" | "request") || is_handler(name)
}

/// Whether `name` has the form `create_<device>_<task>_endpoint_handler`.
pub(crate) fn is_handler(name: &str) -> bool {
    // By its form, so that a handler of another task or device also stays a step, which `handlers`
    // compares with the required one.
    name.starts_with("create_") && name.ends_with("_endpoint_handler")
}

/// `init_<device>`.
pub(crate) fn init_name(device: DeviceKind) -> String {
    format!("init_{device}")
}
