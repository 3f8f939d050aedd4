//! Branches: the partial paths, each with the result of its latest expression.

use super::{interpreter::Interpreter, state::Outer, state::PathState, value::Value};
use syn::Expr;

/// A partial path.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    pub(super) state: PathState<'a>,
    pub(super) flow: Flow<'a>,
}

/// How an expression ended. A path that panics is not continued; the rule `forbidden` reports that
/// it can panic.
#[derive(Debug)]
pub(super) enum Flow<'a> {
    /// With a value.
    Value(Value<'a>),
    /// By returning from the function or closure around it.
    Return(Value<'a>),
}

/// The paths on which a list of expressions was interpreted completely, and the paths that left
/// before.
#[derive(Default)]
pub(super) struct Listed<'a> {
    pub(super) done: Vec<(PathState<'a>, Vec<Value<'a>>)>,
    pub(super) left: Vec<Branch<'a>>,
}

/// One branch that continues with `value`.
pub(super) fn value<'a>(state: PathState<'a>, value: Value<'a>) -> Vec<Branch<'a>> {
    vec![Branch {
        state,
        flow: Flow::Value(value),
    }]
}

/// Ends the body of a function or closure: its returned value becomes the value of the call.
pub(super) fn leave<'a>(branches: Vec<Branch<'a>>, outer: &Outer<'a>) -> Vec<Branch<'a>> {
    let returned = branches.into_iter().map(|mut branch| {
        branch.state.leave(outer);
        let (Flow::Value(value) | Flow::Return(value)) = branch.flow;
        Branch {
            state: branch.state,
            flow: Flow::Value(value),
        }
    });
    returned.collect()
}

/// Ends a block: the variables declared since `mark` go out of scope.
pub(super) fn close(mut branches: Vec<Branch<'_>>, mark: usize) -> Vec<Branch<'_>> {
    branches
        .iter_mut()
        .for_each(|branch| branch.state.close(mark));
    branches
}

impl<'a> Interpreter<'_, 'a> {
    /// Continues with `next` on every branch that has a value.
    pub(super) fn each(
        &mut self,
        branches: Vec<Branch<'a>>,
        mut next: impl FnMut(&mut Self, PathState<'a>, Value<'a>) -> Vec<Branch<'a>>,
    ) -> Vec<Branch<'a>> {
        let mut all = Vec::with_capacity(branches.len());
        for branch in branches {
            match branch.flow {
                Flow::Value(value) => all.extend(next(self, branch.state, value)),
                Flow::Return(_) => all.push(branch),
            }
        }
        all
    }

    /// Interprets `expressions` in order.
    pub(super) fn list(
        &mut self,
        expressions: impl Iterator<Item = &'a Expr>,
        state: PathState<'a>,
    ) -> Listed<'a> {
        let mut listed = Listed {
            done: vec![(state, Vec::new())],
            left: Vec::new(),
        };
        for expression in expressions {
            for (state, values) in std::mem::take(&mut listed.done) {
                for branch in self.expression(expression, state) {
                    match branch.flow {
                        Flow::Value(value) => {
                            listed
                                .done
                                .push((branch.state, [values.as_slice(), &[value]].concat()));
                        }
                        Flow::Return(_) => listed.left.push(branch),
                    }
                }
            }
        }
        listed
    }

    /// Interprets `expressions` in order and continues with their values.
    pub(super) fn with_list(
        &mut self,
        expressions: impl Iterator<Item = &'a Expr>,
        state: PathState<'a>,
        mut next: impl FnMut(&mut Self, PathState<'a>, Vec<Value<'a>>) -> Vec<Branch<'a>>,
    ) -> Vec<Branch<'a>> {
        let listed = self.list(expressions, state);
        let mut all = listed.left;
        for (state, values) in listed.done {
            all.extend(next(self, state, values));
        }
        all
    }
}
