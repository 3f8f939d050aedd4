//! Reads a function into the ways through it: each a straight line of calls and assumptions, and a result.
//!
//! A small abstract reading: local variables, blocks, `match`, `if`, `let else`, `?`, closures that are called,
//! helper functions of the file, and the combinators of `Result` are followed; what is not understood is trouble, never
//! silently passed over. Values are named by where they come from, so that a rule can ask which value reached a call.

mod branch;
mod call;
mod condition;
mod expression;
mod macros;
mod method;
mod pattern;
mod state;
mod statement;
mod value;
mod way;

pub(crate) use value::{Outcome, Value};
pub(crate) use way::{Call, Callee, Way};

use crate::{RuleId, finding::Remark, names::Names};
use branch::{Branch, Flow};
use state::State;
use std::collections::BTreeMap;
use syn::{Expr, FnArg, ItemFn, spanned::Spanned};

/// More than enough for a harness; a function that needs more is too tangled to be proven.
const BUDGET: usize = 20_000;

/// How deep helpers and closures may call each other.
const DEPTH: usize = 12;

/// The functions and constants of a file, which the reader looks through.
#[derive(Debug, Default)]
pub(crate) struct Library<'a> {
    pub(crate) functions: BTreeMap<String, &'a ItemFn>,
    pub(crate) constants: BTreeMap<String, &'a Expr>,
}

/// A function as it was read.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// Every way through the function that reaches its end.
    pub(crate) ways: Vec<Way<'a>>,
    /// What was not understood, and the rule that says so. When there is any, `ways` prove nothing.
    pub(crate) troubles: Vec<(RuleId, Remark)>,
}

/// Reads `function`; its parameters become `Value::Parameter(0)`, `(1)`, and so on.
pub(crate) fn read<'a>(names: &Names, library: &Library<'a>, function: &'a ItemFn) -> Reading<'a> {
    let mut reader = Reader { names, library, troubles: Vec::new(), budget: BUDGET, depth: 0, ends: 0 };
    let arguments = (0..function.sig.inputs.len()).map(Value::Parameter).collect();
    let branches = reader.inline(function, arguments, State::default());
    let ways = branches.into_iter().map(|branch| {
        let (Flow::Value(result) | Flow::Return(result)) = branch.flow;
        Way { steps: branch.state.into_steps(), result, function: &function.sig.ident }
    });
    let ways = ways.collect();
    let mut troubles = reader.troubles;
    troubles.sort();
    troubles.dedup();
    Reading { ways, troubles }
}

/// The reader of one function.
struct Reader<'n, 'a> {
    names: &'n Names,
    library: &'n Library<'a>,
    troubles: Vec<(RuleId, Remark)>,
    budget: usize,
    depth: usize,
    /// How often a way was given up for a reason that is a finding elsewhere, or that does not compile.
    ends: usize,
}

impl<'a> Reader<'_, 'a> {
    /// Notes that `place` is not understood and gives up the way that leads there.
    fn unreadable<T>(&mut self, place: &impl Spanned, what: &str, help: &str) -> Vec<T> {
        let message = format!("the verifier cannot follow {what}");
        self.troubles.push((RuleId::Readable, Remark::at(place, message, help)));
        Vec::new()
    }

    /// Notes that `place` names something that is not there.
    fn undefined(&mut self, place: &impl Spanned, message: String, help: &str) -> Vec<Branch<'a>> {
        self.troubles.push((RuleId::Imports, Remark::at(place, message, help)));
        Vec::new()
    }

    /// Reads the body of `function` with `arguments` as its parameters, in place of a call.
    fn inline(&mut self, function: &'a ItemFn, arguments: Vec<Value<'a>>, mut state: State<'a>) -> Vec<Branch<'a>> {
        if self.depth >= DEPTH {
            return self.unreadable(
                &function.sig.ident,
                "functions that call each other so deeply",
                "call them in turn",
            );
        }
        let outer = state.enter(Vec::new());
        let mut states = vec![state];
        for (parameter, argument) in function.sig.inputs.iter().zip(arguments) {
            let FnArg::Typed(typed) = parameter else {
                return self.unreadable(parameter, "a method of its own", "write a plain function");
            };
            let bound = states.into_iter().flat_map(|state| self.bind(&typed.pat, argument.clone(), state));
            states = bound.filter(|(_, matched)| *matched).map(|(state, _)| state).collect();
        }
        self.depth += 1;
        let branches = states.into_iter().flat_map(|state| self.block(&function.block, state)).collect();
        self.depth -= 1;
        branch::leave(branches, &outer)
    }

    /// Whether there is budget for one more expression; the first time there is none, that is trouble.
    fn spend(&mut self, place: &impl Spanned) -> bool {
        if self.budget == 1 {
            let _: Vec<Branch<'a>> =
                self.unreadable(place, "so many ways through one function", "write it straight, with early returns");
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}
