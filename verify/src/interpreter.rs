//! Reads a function into the ways through it: each a straight line of calls and assumptions, and a result.
//!
//! A small abstract reading: local variables, blocks, `match`, `if`, `let else`, `?`, closures that are called,
//! helper functions of the file, and the combinators of `Result` are followed; what is not understood is trouble, never
//! silently passed over. Values are named by where they come from, so that a rule can ask which value reached a call.

mod branch;
mod call;
mod condition;
mod expression;
mod interpreter;
mod macros;
mod method;
mod pattern;
mod state;
mod statement;
mod value;
mod way;

pub(crate) use interpreter::Library;
pub(crate) use value::{Outcome, Value};
pub(crate) use way::{Call, Callee, Way};

use crate::{RuleId, finding::Remark, names::Names};
use branch::Flow;
use interpreter::Interpreter;
use state::State;
use syn::ItemFn;

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
    let mut interpreter = Interpreter::new(names, library);
    let arguments = (0..function.sig.inputs.len()).map(Value::Parameter).collect();
    let branches = interpreter.inline(function, arguments, State::default());
    let ways = branches.into_iter().map(|branch| {
        let (Flow::Value(result) | Flow::Return(result)) = branch.flow;
        Way { steps: branch.state.into_steps(), result, function: &function.sig.ident }
    });
    let ways = ways.collect();
    let mut troubles = interpreter.troubles;
    troubles.sort();
    troubles.dedup();
    Reading { ways, troubles }
}
