//! The normal form: one path through a function.

use super::value::{BranchOutcome, Value};
use proc_macro2::Span;
use std::{fmt, rc::Rc};
use syn::{Expr, Ident, spanned::Spanned};

/// One path through a function, from its beginning to its end.
#[derive(Debug)]
pub(crate) struct CodePath<'a> {
    pub(super) steps: Vec<Rc<PathStep<'a>>>,
    /// The value that the function returns on this path.
    pub(crate) result: Value<'a>,
    pub(super) function: &'a Ident,
}

/// One event on a path.
#[derive(Debug)]
pub(super) enum PathStep<'a> {
    /// A call is made.
    Call(RecordedCall<'a>),
    /// From here on, a value is known to be on one of its sides.
    Assume(Value<'a>, BranchOutcome),
}

/// A call that is not interpreted but recorded.
#[derive(Debug)]
pub(crate) struct RecordedCall<'a> {
    pub(crate) callee: Callee,
    /// The arguments; the receiver of a method is the first.
    pub(crate) arguments: Vec<Value<'a>>,
    pub(super) place: &'a Expr,
}

/// The called function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of `testgen_runtime`, by its path there.
    Runtime(String),
    /// An entry point of the harness, for instance `init_cpu`.
    Local(String),
    /// A method.
    Method(String),
    /// An operator, a macro or a function of the language; rules never ask for it.
    Other(String),
}

impl Callee {
    /// The name as it is written without its path.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Runtime(name) | Self::Local(name) | Self::Method(name) | Self::Other(name) => {
                name
            }
        }
    }
}

impl<'a> RecordedCall<'a> {
    /// The position of the call.
    pub(crate) fn span(&self) -> Span {
        match self.place {
            // The name of the method: a chain of calls begins at the same place.
            Expr::MethodCall(call) => call.method.span(),
            other => other.span(),
        }
    }
}

impl<'a> CodePath<'a> {
    /// Every call with its step.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, &RecordedCall<'a>)> {
        self.steps
            .iter()
            .enumerate()
            .filter_map(|(step, kind)| match kind.as_ref() {
                PathStep::Call(call) => Some((step, call)),
                PathStep::Assume(..) => None,
            })
    }

    /// Every call of the runtime's function `name`.
    pub(crate) fn runtime(&self, name: &str) -> impl Iterator<Item = (usize, &RecordedCall<'a>)> {
        self.calls().filter(
            move |(_, call)| matches!(&call.callee, Callee::Runtime(found) if found == name),
        )
    }

    /// The call that returned `value`.
    pub(crate) fn call_of(&self, value: &Value<'a>) -> Option<&RecordedCall<'a>> {
        let Value::Called(step) = value else {
            return None;
        };
        match self.steps.get(*step)?.as_ref() {
            PathStep::Call(call) => Some(call),
            PathStep::Assume(..) => None,
        }
    }

    /// The side of the result of the call at `step` on this path, or `None` if it was not tested.
    pub(crate) fn outcome(&self, step: usize) -> Option<BranchOutcome> {
        outcome(&self.steps, &Value::Called(step))
    }

    /// The position at which the path ends: the call whose value it returns, else the function's
    /// name.
    pub(crate) fn end(&self) -> Span {
        // The function's name if nothing was called, because a path has no place itself.
        self.call_of(&self.result)
            .map_or_else(|| self.function.span(), RecordedCall::span)
    }
}

/// The side on which `steps` found `value`.
pub(super) fn outcome<'a>(steps: &[Rc<PathStep<'a>>], value: &Value<'a>) -> Option<BranchOutcome> {
    // The first assumption counts: the reader makes no second one about the same value.
    steps.iter().find_map(|step| match step.as_ref() {
        PathStep::Assume(known, outcome) if known == value => Some(*outcome),
        _ => None,
    })
}

impl fmt::Display for CodePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            match step.as_ref() {
                PathStep::Call(call) => {
                    let arguments: Vec<String> =
                        call.arguments.iter().map(ToString::to_string).collect();
                    writeln!(
                        f,
                        "  %{number} = {}({})",
                        call.callee.name(),
                        arguments.join(", ")
                    )?;
                }
                PathStep::Assume(value, outcome) => writeln!(f, "  {value} is {outcome:?}")?,
            }
        }
        writeln!(f, "  return {}", self.result)
    }
}
