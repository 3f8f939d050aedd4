//! The state of the interpreter itself: the items of the file, its budget, and the unsupported code
//! that it found.
//!
//! The other modules interpret expressions and statements, each an `impl` of [`Interpreter`].

use crate::{finding::Diagnostic, names::Names, rule_id::RuleId};
use std::collections::BTreeMap;
use syn::{Expr, ItemFn, spanned::Spanned};

/// The number of expressions to interpret.
// A harness needs far fewer; a function that exceeds it has too many paths to be proven.
const BUDGET: usize = 20_000;

/// The functions and constants of a file, which are interpreted where they are used.
#[derive(Debug, Default)]
pub(crate) struct FileItems<'a> {
    pub(crate) functions: BTreeMap<String, &'a ItemFn>,
    pub(crate) constants: BTreeMap<String, &'a Expr>,
}

/// The interpreter of one function.
pub(super) struct Interpreter<'n, 'a> {
    pub(super) names: &'n Names,
    pub(super) file_items: &'n FileItems<'a>,
    pub(super) unsupported: Vec<(RuleId, Diagnostic)>,
    budget: usize,
    pub(super) depth: usize,
    /// The number of abandoned paths whose reason is reported elsewhere, or which do not compile.
    pub(super) ends: usize,
}

impl<'n, 'a> Interpreter<'n, 'a> {
    pub(super) fn new(names: &'n Names, file_items: &'n FileItems<'a>) -> Self {
        Self {
            names,
            file_items,
            unsupported: Vec::new(),
            budget: BUDGET,
            depth: 0,
            ends: 0,
        }
    }

    /// Reports that `place` is not supported and abandons its path.
    pub(super) fn unsupported<T>(
        &mut self,
        place: &impl Spanned,
        what: &str,
        help: &str,
    ) -> Vec<T> {
        let message = format!("the verifier cannot follow {what}");
        self.unsupported
            .push((RuleId::Readable, Diagnostic::at(place, message, help)));
        Vec::new()
    }

    /// Reports that `place` names something undefined.
    pub(super) fn undefined<T>(
        &mut self,
        place: &impl Spanned,
        message: String,
        help: &str,
    ) -> Vec<T> {
        self.unsupported
            .push((RuleId::Imports, Diagnostic::at(place, message, help)));
        Vec::new()
    }

    /// Whether the budget suffices for one more expression; the first time it does not, that is
    /// reported.
    pub(super) fn spend(&mut self, place: &impl Spanned) -> bool {
        // Reported once, when it is used up, and not again for every expression that follows.
        if self.budget == 1 {
            let _: Vec<()> = self.unsupported(
                place,
                "so many paths through one function",
                "write it straight, with early returns",
            );
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}
