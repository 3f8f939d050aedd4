//! Proves from the syntax tree that a harness covers every device, in particular ROCm.
//!
//! Owns: the rules, the interpreter that computes the paths through a function, and how findings
//! are printed. Does not own: the checks that a harness must have (`testgen-types`), its text (the
//! templates), or the functions that it calls (`testgen-runtime`). Nothing here searches strings: a
//! call counts when it is made on the value that it must receive.
//!
//! The pipeline: text -> `syn::File` -> `harness` (names, functions, statics) -> `interpreter`
//! (every path through a function, as a sequence of calls and assumptions) -> `rule` (each
//! evaluates these paths) -> [`Finding`]s.

#![warn(missing_docs)]

mod autofix;
mod document;
mod expectation;
mod finding;
mod harness;
mod human;
mod init_path;
mod json;
mod literal;
mod names;
mod reader;
mod registry;
mod rule;
mod rule_id;
mod signature;
mod skip;
mod spec;
mod subject;
mod verifier;
mod vocabulary;

pub use autofix::{Fixed, autofix};
pub use document::rules_markdown;
pub use expectation::{Expectation, ExpectedSkip, ExpectedTolerance};
pub use finding::Finding;
pub use human::{RepeatedFinding, also_in, collapse, render_human};
pub use json::render_json;
pub use registry::{Rule, explain, rules};
pub use rule_id::RuleId;
pub use subject::{ExpectedOperator, ExpectedStress, ExpectedSubject};
pub use verifier::{
    HarnessSource, is_parsable, normal_form, on_own_stack, verify_all, verify_harness,
};
pub use vocabulary::runtime_names;
