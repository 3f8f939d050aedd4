//! Proves from the syntax tree that a harness covers every device, ROCm above all.
//!
//! Owns: the rules, the reader that turns a function into the ways through it, and how findings are printed. Does not
//! own: what a harness must test (that is `testgen-types`), how it is written (the templates), or what the calls do
//! (`testgen-runtime`). Nothing here searches strings: a call counts when it is made, on the value that it must get.
//!
//! The pipeline: text -> `syn::File` -> `harness` (names, functions, statics) -> `reader` (every way through a
//! function, as a straight line of calls and assumptions) -> `rule` (each looks at that form) -> [`Finding`]s.

#![warn(missing_docs)]

mod autofix;
mod document;
mod expectation;
mod finding;
mod harness;
mod human;
mod journey;
mod json;
mod literal;
mod names;
mod reader;
mod registry;
mod rule;
mod signature;
mod skip;
mod spec;
mod verifier;
mod vocabulary;

pub use autofix::{Fixed, autofix};
pub use document::rules_markdown;
pub use expectation::{Expectation, ExpectedSkip, ExpectedTolerance};
pub use finding::Finding;
pub use human::{Repeated, also_in, collapse, render_human};
pub use json::render_json;
pub use registry::{Rule, RuleId, explain, rules};
pub use verifier::{Source, normal_form, verify_all, verify_harness};
pub use vocabulary::runtime_names;
