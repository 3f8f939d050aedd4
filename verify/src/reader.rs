//! Interprets a function abstractly: computes the paths through it, each a sequence of calls and
//! assumptions with a result.
//!
//! It follows local variables, blocks, `match`, `if`, `let else`, `?`, closures that are called,
//! helper functions of the file, and the combinators of `Result`. Unsupported code is reported,
//! never ignored. Values are identified by their origin, so that a rule can check which value a
//! call receives.

mod branch;
mod call;
mod code_path;
mod condition;
mod expression;
mod interpreter;
mod macros;
mod method;
mod operator;
mod pattern;
mod state;
mod statement;
mod value;

pub(crate) use code_path::{Callee, CodePath, RecordedCall};
pub(crate) use interpreter::FileItems;
pub(crate) use value::{BranchOutcome, Value};

use crate::{finding::Diagnostic, names::Names, rule_id::RuleId};
use branch::Flow;
use interpreter::Interpreter;
use state::PathState;
use syn::ItemFn;

/// The interpretation of a function.
#[derive(Debug)]
pub(crate) struct Interpretation<'a> {
    /// Every path through the function that reaches its end.
    pub(crate) code_paths: Vec<CodePath<'a>>,
    /// Unsupported code, and the rule that reports it. If there is any, the paths prove nothing.
    pub(crate) unsupported: Vec<(RuleId, Diagnostic)>,
}

/// Interprets `function`; its parameters become `Value::Parameter(0)`, `(1)`, and so on.
pub(crate) fn read<'a>(
    names: &Names,
    file_items: &FileItems<'a>,
    function: &'a ItemFn,
) -> Interpretation<'a> {
    let mut interpreter = Interpreter::new(names, file_items);
    let arguments = (0..function.sig.inputs.len())
        .map(Value::Parameter)
        .collect();
    let branches = interpreter.inline(function, arguments, PathState::default());
    let code_paths = branches.into_iter().map(|branch| {
        let (Flow::Value(result) | Flow::Return(result)) = branch.flow;
        CodePath {
            steps: branch.state.into_steps(),
            result,
            function: &function.sig.ident,
        }
    });
    let code_paths = code_paths.collect();
    let mut unsupported = interpreter.unsupported;
    // Several paths may reach the same unsupported code.
    unsupported.sort();
    unsupported.dedup();
    Interpretation {
        code_paths,
        unsupported,
    }
}
