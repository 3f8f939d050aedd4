//! What the interpreter of a function knows besides the state of a path: the file, its budget, and what it did not understand.
//!
//! How expressions and statements are read is in the modules beside this one, each an `impl` of [`Interpreter`].

use crate::{RuleId, finding::Remark, names::Names};
use std::collections::BTreeMap;
use syn::{Expr, ItemFn, spanned::Spanned};

/// More than enough for a harness; a function that needs more is too tangled to be proven.
const BUDGET: usize = 20_000;

/// The functions and constants of a file, which the reader looks through.
#[derive(Debug, Default)]
pub(crate) struct Library<'a> {
    pub(crate) functions: BTreeMap<String, &'a ItemFn>,
    pub(crate) constants: BTreeMap<String, &'a Expr>,
}

/// The interpreter of one function.
pub(super) struct Interpreter<'n, 'a> {
    pub(super) names: &'n Names,
    pub(super) library: &'n Library<'a>,
    pub(super) troubles: Vec<(RuleId, Remark)>,
    budget: usize,
    pub(super) depth: usize,
    /// How often a way was given up for a reason that is a finding elsewhere, or that does not compile.
    pub(super) ends: usize,
}

impl<'n, 'a> Interpreter<'n, 'a> {
    pub(super) fn new(names: &'n Names, library: &'n Library<'a>) -> Self {
        Self { names, library, troubles: Vec::new(), budget: BUDGET, depth: 0, ends: 0 }
    }

    /// Notes that `place` is not understood and gives up the way that leads there.
    pub(super) fn unreadable<T>(&mut self, place: &impl Spanned, what: &str, help: &str) -> Vec<T> {
        let message = format!("the verifier cannot follow {what}");
        self.troubles.push((RuleId::Readable, Remark::at(place, message, help)));
        Vec::new()
    }

    /// Notes that `place` names something that is not there.
    pub(super) fn undefined<T>(&mut self, place: &impl Spanned, message: String, help: &str) -> Vec<T> {
        self.troubles.push((RuleId::Imports, Remark::at(place, message, help)));
        Vec::new()
    }

    /// Whether there is budget for one more expression; the first time there is none, that is trouble.
    pub(super) fn spend(&mut self, place: &impl Spanned) -> bool {
        if self.budget == 1 {
            let _: Vec<()> =
                self.unreadable(place, "so many ways through one function", "write it straight, with early returns");
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}
