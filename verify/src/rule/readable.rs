//! The verifier can follow every way through an init function and a handler.
//!
//! It understands `let` (with `else`), assignments to local variables, blocks, `match` and `if let` on `Ok`, `Err`, `Some`
//! and `None`, `?`, `return`, calls, closures that are called here, private helper functions, constants, the combinators
//! `map`, `map_err`, `and_then`, `or_else`, `unwrap_or_else`, `inspect` and `inspect_err`, and printing. What it does not
//! understand (loops, labelled blocks, asynchronous code, values that are lent to be changed, closures handed to somebody
//! else, other macros, items inside of a function) it does not accept on trust: that is this finding, and nothing else is
//! said about the function until it is gone.

use crate::{RuleId, finding::Remark, harness::Harness, reader::Reading};
use syn::ItemFn;

/// Passes on what the reader did not understand.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    harness.readings().flat_map(|(function, reading)| one(function, reading)).collect()
}

fn one(function: &ItemFn, reading: &Reading<'_>) -> Vec<Remark> {
    let troubles = &reading.troubles;
    if troubles.is_empty() && reading.ways.is_empty() {
        let message = "no way through this function comes to its end";
        return vec![Remark::at(&function.sig.ident, message, "let every way return a value")];
    }
    troubles.iter().filter(|(rule, _)| *rule == RuleId::Readable).map(|(_, remark)| remark.clone()).collect()
}
