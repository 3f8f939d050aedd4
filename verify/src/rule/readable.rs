//! The verifier can follow every path through an init function and a handler.
//!
//! It understands `let` (with `else`), assignments to local variables, blocks, `match` and `if let`
//! on `Ok`, `Err`, `Some` and `None`, `?`, `return`, calls, closures that are called here, private
//! helper functions, constants, the combinators `map`, `map_err`, `and_then`, `or_else`,
//! `unwrap_or_else`, `inspect` and `inspect_err`, and printing. Other code (loops, labelled blocks,
//! asynchronous code, mutable borrows, methods of `mut` variables, other assignments, closures
//! passed to other functions, other macros, items inside of a function) is not accepted on trust:
//! it is this finding, and no other rule is applied to the function until it is fixed.

use crate::{finding::Diagnostic, harness::ParsedHarness, reader::Interpretation, rule_id::RuleId};
use syn::ItemFn;

/// Reports the code that the interpreter does not support.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    harness
        .interpretations()
        .flat_map(|(function, interpretation)| one(function, interpretation))
        .collect()
}

fn one(function: &ItemFn, interpretation: &Interpretation<'_>) -> Vec<Diagnostic> {
    let unsupported = &interpretation.unsupported;
    // Without any path, every requirement for all paths would hold.
    if unsupported.is_empty() && interpretation.code_paths.is_empty() {
        let message = "no path through this function reaches its end";
        return vec![Diagnostic::at(
            &function.sig.ident,
            message,
            "return a value on every path",
        )];
    }
    unsupported
        .iter()
        .filter(|(rule, _)| *rule == RuleId::Readable)
        .map(|(_, diagnostic)| diagnostic.clone())
        .collect()
}
