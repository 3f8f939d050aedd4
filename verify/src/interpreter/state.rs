//! What is known at one point of a way: the local variables and the steps so far.

use super::{
    value::{Binding, Bindings, Outcome, Value},
    way::{self, Call, Step},
};
use std::rc::Rc;

/// What is known at one point of a way.
#[derive(Clone, Debug, Default)]
pub(super) struct State<'a> {
    bindings: Bindings<'a>,
    /// The variables below belong to somebody else: they can be read, not assigned.
    base: usize,
    steps: Vec<Rc<Step<'a>>>,
}

/// The variables of a caller, kept while its callee is read.
pub(super) struct Outer<'a> {
    bindings: Bindings<'a>,
    base: usize,
}

impl<'a> State<'a> {
    /// Begins the body of a function or closure that sees `captured`.
    pub(super) fn enter(&mut self, captured: Bindings<'a>) -> Outer<'a> {
        let base = std::mem::replace(&mut self.base, captured.len());
        Outer { bindings: std::mem::replace(&mut self.bindings, captured), base }
    }

    /// Ends the body that [`State::enter`] began.
    pub(super) fn leave(&mut self, outer: &Outer<'a>) {
        self.bindings.clone_from(&outer.bindings);
        self.base = outer.base;
    }

    /// The number of variables, to return to with [`State::close`] at the end of a block.
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
        self.bindings.push(Binding { name, value, mutable });
    }

    /// The innermost variable of that name.
    pub(super) fn variable(&self, name: &str) -> Option<&Binding<'a>> {
        self.bindings.iter().rev().find(|binding| binding.name == name)
    }

    /// Assigns the innermost variable of that name; false when it is not there or somebody else's.
    pub(super) fn assign(&mut self, name: &str, value: Value<'a>) -> bool {
        let Some(position) = self.bindings.iter().rposition(|binding| binding.name == name) else { return false };
        let own = position >= self.base;
        if own {
            self.bindings[position].value = Some(value);
        }
        own
    }

    /// Adds a call and gives its value.
    pub(super) fn call(&mut self, call: Call<'a>) -> Value<'a> {
        self.steps.push(Rc::new(Step::Call(call)));
        Value::Called(self.steps.len() - 1)
    }

    /// Adds what is known of `value` from here on.
    pub(super) fn assume(&mut self, value: Value<'a>, outcome: Outcome) {
        self.steps.push(Rc::new(Step::Assume(value, outcome)));
    }

    /// The side on which `value` is known to be.
    pub(super) fn outcome(&self, value: &Value<'a>) -> Option<Outcome> {
        way::outcome(&self.steps, value)
    }

    /// The steps, when the way has reached its end.
    pub(super) fn into_steps(self) -> Vec<Rc<Step<'a>>> {
        self.steps
    }
}
