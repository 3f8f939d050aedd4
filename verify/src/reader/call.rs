//! Calls of functions and closures.

use super::{
    branch::{self, Branch},
    code_path::{Callee, RecordedCall},
    interpreter::Interpreter,
    state::PathState,
    value::{BranchOutcome, Closure, Value},
};
use crate::vocabulary;
use std::rc::Rc;
use syn::{Expr, ExprCall, FnArg, ItemFn};

/// The depth to which helpers and closures may call each other.
const DEPTH: usize = 12;

impl<'a> Interpreter<'_, 'a> {
    /// `function(arguments)`.
    pub(super) fn call(
        &mut self,
        place: &'a Expr,
        call: &'a ExprCall,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let functions = self.expression(&call.func, state);
        self.each(functions, |reader, state, function| {
            reader.with_list(call.args.iter(), state, |reader, state, arguments| {
                reader.apply(place, &function, arguments, state)
            })
        })
    }

    /// Calls `function`: interprets closures and helpers of the file, and records everything else
    /// as a step.
    pub(super) fn apply(
        &mut self,
        place: &'a Expr,
        function: &Value<'a>,
        mut arguments: Vec<Value<'a>>,
        mut state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let callee = match function {
            Value::Closure(closure) => return self.closure(place, closure, arguments, state),
            // Entry points are proven on their own; a call of one stays a step, which rules look
            // for.
            Value::Local(name) if !vocabulary::is_entry(name) => {
                return match self.file_items.functions.get(name).copied() {
                    Some(helper) => self.inline(helper, arguments, state),
                    None => self.unsupported(
                        place,
                        "a call of what is not a function",
                        "call a function of this file",
                    ),
                };
            }
            Value::Local(name) => Callee::Local(name.clone()),
            Value::Runtime(name) => Callee::Runtime(name.clone()),
            Value::Prelude(name) => match (BranchOutcome::constructor(name), arguments.len()) {
                (Some(outcome), 1) => {
                    let payload = arguments.remove(0);
                    return branch::value(state, Value::Wrapped(outcome, Rc::new(payload)));
                }
                // `String::from(text)` has the value of the text.
                _ if name == "String::from" && arguments.len() == 1 => {
                    return branch::value(state, arguments.remove(0));
                }
                _ => Callee::Other(name.clone()),
            },
            _ => {
                return self.unsupported(
                    place,
                    "a call of a function that is not known",
                    "call the function by its name",
                );
            }
        };
        // The called function may run the closure or not, and the calls in it would be on no path.
        if arguments
            .iter()
            .any(|argument| matches!(argument, Value::Closure(_)))
            && !self.takes_closures(&callee)
        {
            return self.unsupported(
                place,
                "a closure that is passed on",
                "call it here, or write its body here",
            );
        }
        let value = state.call(RecordedCall {
            callee,
            arguments,
            place,
        });
        branch::value(state, value)
    }

    /// Interprets the body of `function` with `arguments` as its parameters, in place of a call.
    pub(super) fn inline(
        &mut self,
        function: &'a ItemFn,
        arguments: Vec<Value<'a>>,
        mut state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        // Also ends recursion, which would otherwise use up the stack.
        if self.depth >= DEPTH {
            return self.unsupported(
                &function.sig.ident,
                "functions that call each other so deeply",
                "call them in turn",
            );
        }
        // Unlike a closure, a function sees no variable of its caller.
        let outer = state.enter(Vec::new());
        let mut states = vec![state];
        for (parameter, argument) in function.sig.inputs.iter().zip(arguments) {
            let FnArg::Typed(typed) = parameter else {
                return self.unsupported(parameter, "a method", "write a plain function");
            };
            let bound = states
                .into_iter()
                .flat_map(|state| self.bind(&typed.pat, argument.clone(), state));
            states = bound
                // A pattern of a parameter that may fail does not compile.
                .filter(|(_, matched)| *matched)
                .map(|(state, _)| state)
                .collect();
        }
        self.depth += 1;
        let branches = states
            .into_iter()
            .flat_map(|state| self.block(&function.block, state))
            .collect();
        self.depth -= 1;
        branch::leave(branches, &outer)
    }

    /// Interprets the body of `closure` with its captured variables.
    fn closure(
        &mut self,
        place: &'a Expr,
        closure: &Rc<Closure<'a>>,
        arguments: Vec<Value<'a>>,
        mut state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        if self.depth >= DEPTH || closure.expression.inputs.len() != arguments.len() {
            return self.unsupported(place, "this call of a closure", "write its body here");
        }
        // The values at its definition are still right: Rust forbids assigning to a borrowed
        // variable, and `move` copies the value.
        let outer = state.enter(closure.captured.clone());
        let mut states = vec![state];
        for (parameter, argument) in closure.expression.inputs.iter().zip(arguments) {
            let bound = states
                .into_iter()
                .flat_map(|state| self.bind(parameter, argument.clone(), state));
            states = bound
                .filter(|(_, matched)| *matched)
                .map(|(state, _)| state)
                .collect();
        }
        self.depth += 1;
        let body = &closure.expression.body;
        let branches = states
            .into_iter()
            .flat_map(|state| self.expression(body, state))
            .collect();
        self.depth -= 1;
        branch::leave(branches, &outer)
    }

    /// The interpreter accepts a closure as an argument of `Endpoint::real`; the rule `handlers`
    /// checks it.
    fn takes_closures(&self, callee: &Callee) -> bool {
        *callee == Callee::Runtime("Endpoint::real".to_owned())
    }
}
