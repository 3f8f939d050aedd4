//! The cycle that `verify` had until `RuleId` got a module: a macro in `registry.rs` defined the
//! type beside the table of the rules' functions, and the test did not see a type that a macro
//! defines.

use super::samples::cycles_of;

/// `RuleId` as `registry.rs` defined it, and the table that made the registry use every rule.
const REGISTRY: &str = "
    use crate::{finding::Diagnostic, harness::Harness, rule};
    pub struct Rule { check: fn(&Harness) -> Vec<Diagnostic> }
    macro_rules! registry {
        ($($id:ident = $name:ident),+ $(,)?) => {
            pub enum RuleId { $($id),+ }
            static RULES: &[(RuleId, Rule)] = &[$((RuleId::$id, Rule { check: rule::$name::check })),+];
        };
    }
    registry! { Parses = parses }
";

/// The modules that used it, with their imports of each other, and `module` in place of the module
/// that defined `RuleId`.
fn verify_with(module: &str, registry: &str) -> Vec<String> {
    let declared = format!(
        "mod finding; mod harness; mod init_path; mod reader; mod registry; mod rule; mod {module};"
    );
    let root = match module {
        "registry" => declared.replacen("mod registry;", "", 1),
        _ => declared,
    };
    let [finding, reader, interpreter] = [
        "use crate::registry::RuleId; pub struct Finding(RuleId); pub(crate) struct Diagnostic;",
        "mod branch; mod interpreter; use crate::{finding::Diagnostic, registry::RuleId};\
         use {branch::Flow, interpreter::Interpreter};\
         pub(crate) struct Interpretation(Vec<(RuleId, Diagnostic)>, Flow, Interpreter);",
        "use crate::{finding::Diagnostic, registry::RuleId};\
         pub(super) struct Interpreter(Vec<(RuleId, Diagnostic)>);",
    ]
    .map(|source| source.replace("registry::RuleId", &format!("{module}::RuleId")));
    cycles_of(&[
        ("src/lib.rs", &root),
        ("src/finding.rs", &finding),
        (
            "src/harness.rs",
            "use crate::{init_path::InitPath, reader::Interpretation};\
             pub(crate) struct Harness(InitPath, Interpretation);",
        ),
        (
            "src/init_path.rs",
            "use crate::reader::Interpretation; pub(crate) struct InitPath(Interpretation);",
        ),
        ("src/reader.rs", &reader),
        (
            "src/reader/branch.rs",
            "use super::interpreter::Interpreter; pub(super) struct Flow(Interpreter);",
        ),
        ("src/reader/interpreter.rs", &interpreter),
        ("src/registry.rs", registry),
        ("src/rule.rs", "pub(crate) mod parses;"),
        (
            "src/rule/parses.rs",
            "use crate::{finding::Diagnostic, harness::Harness};\
             pub(crate) fn check(_: &Harness) -> Vec<Diagnostic> { Vec::new() }",
        ),
        ("src/rule_id.rs", "pub enum RuleId { Parses }"),
    ])
}

#[test]
fn a_type_that_a_macro_defines_beside_its_users_is_in_a_cycle() {
    let found = verify_with("registry", REGISTRY).join("\n");
    for module in ["finding", "harness", "init_path", "reader", "registry"] {
        assert!(
            found.contains(&format!("crate::{module} uses")),
            "no cycle through `{module}`:\n{found}"
        );
    }
}

#[test]
fn a_module_for_the_type_ends_the_cycle() {
    let registry = REGISTRY
        .replace("use crate::{", "use crate::{rule_id::RuleId, ")
        .replace("pub enum RuleId { $($id),+ }", "");
    assert_eq!(verify_with("rule_id", &registry), [""; 0]);
}
