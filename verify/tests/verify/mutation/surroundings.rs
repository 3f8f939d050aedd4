//! Harnesses whose functions are right, broken elsewhere: in the statics, the imports, attributes,
//! other items.

use crate::mutator::{Mutant, replaced};

/// Every change around the functions.
pub(super) fn surroundings(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (kind, from, to) in [
        (
            "another checkpoint",
            "path: \"../fixtures/bert\"",
            "path: \"../fixtures/easy\"",
        ),
        (
            "another checkpoint",
            "hub: Some(\"google-bert/bert-base-uncased\")",
            "hub: None",
        ),
        (
            "another checkpoint",
            "hub: Some(\"google-bert/bert-base-uncased\")",
            "hub: Some(\"someone/easy\")",
        ),
        (
            "another operator",
            "Operator::Matmul",
            "Operator::BatchMatmul",
        ),
        ("another shape", "&[33, 65, 17]", "&[33, 64, 17]"),
        ("a shape less", "&[1, 40, 24], ", ""),
        (
            "a tolerance that the spec does not have",
            "tolerances: &[]",
            "tolerances: &[ToleranceOverride { output: \"logits\", precision: Precision::F32, rel_l2: 1e-5, max_rel: 1e-5, reason: \"r\" }]",
        ),
        (
            "a tolerance above the table",
            "tolerances: &[]",
            "tolerances: &[ToleranceOverride { output: \"logits\", precision: Precision::F32, rel_l2: 1.0, max_rel: 1.0, reason: \"r\" }]",
        ),
        (
            "another memory requirement",
            "vram_mib: None",
            "vram_mib: Some(1)",
        ),
        (
            "another time limit",
            "limit_seconds: None",
            "limit_seconds: Some(1)",
        ),
        (
            "precisions in another order",
            "Precision::F16, Precision::Bf16",
            "Precision::Bf16, Precision::F16",
        ),
        (
            "the process ended",
            "report_visibility(&target.label, &visible_devices());",
            "testgen_runtime::suite::main();\n    report_visibility(&target.label, &visible_devices());",
        ),
        (
            "something else of the runtime",
            "report_visibility(&target.label, &visible_devices());",
            "testgen_runtime::cleanup();\n    report_visibility(&target.label, &visible_devices());",
        ),
        (
            "something else of the runtime",
            "use testgen_runtime::{",
            "use testgen_runtime::suite::main;\nuse testgen_runtime::{",
        ),
        (
            "something else of the runtime",
            "use testgen_runtime::{",
            "use testgen_runtime::suite::*;\nuse testgen_runtime::{",
        ),
        (
            "code from elsewhere",
            "use testgen_runtime::{",
            "include!(\"other.rs\");\nuse testgen_runtime::{",
        ),
        (
            "code from elsewhere",
            "report_visibility(&target.label, &visible_devices());",
            "include!(\"other.rs\");\n    report_visibility(&target.label, &visible_devices());",
        ),
        (
            "code from elsewhere",
            "use testgen_runtime::{",
            "#[path = \"other.rs\"]\nmod other;\nuse testgen_runtime::{",
        ),
        (
            "an attribute that switches off",
            "pub static HARNESS",
            "#[cfg(any())]\npub static HARNESS",
        ),
        (
            "an attribute that switches off",
            "pub static SPEC",
            "#[cfg_attr(all(), cfg(any()))]\npub static SPEC",
        ),
        (
            "an attribute that switches off",
            "        Skip::",
            "        #[cfg(any())]\n        Skip::",
        ),
        (
            "an attribute that switches off",
            "    init_rocm,\n",
            "    #[cfg(any())]\n    init_rocm,\n    #[cfg(all())]\n    init_rocm: init_cpu,\n",
        ),
        (
            "an attribute that switches off",
            "use testgen_runtime::{",
            "#![cfg(any())]\nuse testgen_runtime::{",
        ),
        (
            "an attribute that switches off",
            "    report_visibility(&target.label, &visible_devices());",
            "    #![cfg(any())]\n    report_visibility(&target.label, &visible_devices());",
        ),
        (
            "a warning expected without a reason",
            "pub fn create_",
            "#[expect(dead_code, clippy::no_reason)]\npub fn create_",
        ),
        (
            "a warning expected without a reason",
            "pub fn create_",
            "#[expect(dead_code, reason = \"\")]\npub fn create_",
        ),
        (
            "a trait that shadows",
            "/// Loads",
            "trait Marked { fn into_fallback(self) -> Self; }\n/// Loads",
        ),
        (
            "a trait that shadows",
            "/// Loads",
            "impl Endpoint { fn with_memory(self) -> Self { self } }\n/// Loads",
        ),
        (
            "a macro that shadows",
            "/// Loads",
            "macro_rules! eprintln { () => {}; }\n/// Loads",
        ),
        (
            "hidden by a feature",
            "pub fn init_rocm",
            "#[cfg(feature = \"rocm\")]\npub fn init_rocm",
        ),
        (
            "a macro that makes the function",
            "pub fn init_rocm(",
            "make! { pub fn init_rocm }\npub fn init_rocm_2(",
        ),
        ("a union", "/// Loads", "union Either { a: u8 }\n/// Loads"),
        (
            "linked by name",
            "pub fn init_rocm",
            "#[unsafe(no_mangle)]\npub fn init_rocm",
        ),
    ] {
        all.extend(replaced(text, kind, from, to));
    }
    all
}
