//! The state at one point of a path: the local variables and the steps so far.

use super::{
    code_path::{self, PathStep, RecordedCall},
    value::{Binding, Bindings, BranchOutcome, Value},
};
use std::rc::Rc;

/// The state at one point of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct PathState<'a> {
    bindings: Bindings<'a>,
    /// The variables below this index are captured by a closure: they can be read, not assigned.
    base: usize,
    // Shared, because the steps are copied whenever a path splits.
    steps: Vec<Rc<PathStep<'a>>>,
}

/// The variables of a caller, kept while its callee is interpreted.
pub(super) struct Outer<'a> {
    bindings: Bindings<'a>,
    base: usize,
}

impl<'a> PathState<'a> {
    /// Begins the body of a function or closure that sees `captured`.
    pub(super) fn enter(&mut self, captured: Bindings<'a>) -> Outer<'a> {
        // A closure may read what it captured; an assignment would have to change the captured
        // variable, which is not followed.
        let base = std::mem::replace(&mut self.base, captured.len());
        Outer {
            bindings: std::mem::replace(&mut self.bindings, captured),
            base,
        }
    }

    /// Ends the body that [`PathState::enter`] began.
    pub(super) fn leave(&mut self, outer: &Outer<'a>) {
        // A copy: every path through the body goes on with the variables of the caller.
        self.bindings.clone_from(&outer.bindings);
        self.base = outer.base;
    }

    /// The number of variables, to return to with [`PathState::close`] at the end of a block.
    pub(super) fn mark(&self) -> usize {
        self.bindings.len()
    }

    /// Forgets the variables declared since `mark`.
    pub(super) fn close(&mut self, mark: usize) {
        self.bindings.truncate(mark);
    }

    /// All variables, as a closure captures them.
    pub(super) fn captured(&self) -> Bindings<'a> {
        self.bindings.clone()
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, name: String, value: Option<Value<'a>>, mutable: bool) {
        self.bindings.push(Binding {
            name,
            value,
            mutable,
        });
    }

    /// The innermost variable of that name.
    pub(super) fn variable(&self, name: &str) -> Option<&Binding<'a>> {
        self.bindings
            .iter()
            .rev()
            .find(|binding| binding.name == name)
    }

    /// Assigns the innermost variable of that name; false when it does not exist or is captured.
    pub(super) fn assign(&mut self, name: &str, value: Value<'a>) -> bool {
        let Some(position) = self
            .bindings
            .iter()
            .rposition(|binding| binding.name == name)
        else {
            return false;
        };
        let own = position >= self.base;
        if own {
            self.bindings[position].value = Some(value);
        }
        own
    }

    /// Adds a call and returns its value.
    pub(super) fn call(&mut self, call: RecordedCall<'a>) -> Value<'a> {
        self.steps.push(Rc::new(PathStep::Call(call)));
        Value::Called(self.steps.len() - 1)
    }

    /// Adds the known side of `value` from here on.
    pub(super) fn assume(&mut self, value: Value<'a>, outcome: BranchOutcome) {
        self.steps.push(Rc::new(PathStep::Assume(value, outcome)));
    }

    /// The side on which `value` is known to be.
    pub(super) fn outcome(&self, value: &Value<'a>) -> Option<BranchOutcome> {
        code_path::outcome(&self.steps, value)
    }

    /// The steps of a finished path.
    pub(super) fn into_steps(self) -> Vec<Rc<PathStep<'a>>> {
        self.steps
    }
}
