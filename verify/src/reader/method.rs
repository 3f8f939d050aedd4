//! Method calls: the combinators of `Result` and `Option` are interpreted, the others are steps.

use super::{
    branch::{self, Branch},
    code_path::{Callee, RecordedCall},
    interpreter::Interpreter,
    pattern,
    state::PathState,
    value::{BranchOutcome, Value},
};
use std::rc::Rc;
use syn::{Expr, ExprMethodCall, ext::IdentExt};

/// Methods that return their receiver, as far as any rule is concerned.
const TRANSPARENT: &[&str] = &[
    "as_deref",
    "as_ref",
    "as_str",
    "borrow",
    "clone",
    "cloned",
    "copied",
    "into",
    "to_owned",
    "to_string",
];

/// The effect of a combinator on the payload of one side.
#[derive(Clone, Copy)]
enum Then {
    /// Wraps the closure's result on the same side.
    Wrap,
    /// Returns the closure's result.
    Give,
    /// Runs the closure and returns the receiver.
    Look,
}

/// A combinator: whether its closure runs on the good side, its effect there, and whether the other
/// side is unwrapped.
struct Combinator {
    on_good: bool,
    then: Then,
    unwraps: bool,
}

impl Combinator {
    /// The side on which the closure runs, if the good side is `good`.
    fn side(&self, good: BranchOutcome) -> BranchOutcome {
        if self.on_good { good } else { good.opposite() }
    }
}

impl<'a> Interpreter<'_, 'a> {
    /// `receiver.method(arguments)`.
    pub(super) fn method_call(
        &mut self,
        place: &'a Expr,
        call: &'a ExprMethodCall,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let method = call.method.unraw().to_string();
        if may_change(call, &state) {
            let help = "bind it without `mut`, and each new value with a new `let`";
            return self.unsupported(place, "a method that may change its receiver", help);
        }
        let receivers = self.expression(&call.receiver, state);
        self.each(receivers, |reader, state, receiver| {
            reader.with_list(call.args.iter(), state, |reader, state, arguments| {
                reader.method(place, &method, receiver.clone(), arguments, state)
            })
        })
    }

    fn method(
        &mut self,
        place: &'a Expr,
        method: &str,
        receiver: Value<'a>,
        arguments: Vec<Value<'a>>,
        mut state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        match (arguments.as_slice(), side_of(method), combinator(method)) {
            ([], _, _) if TRANSPARENT.contains(&method) => return branch::value(state, receiver),
            ([], Some(side), _) => return self.ask(place, side, &receiver, state),
            ([function], _, Some(combinator)) => {
                return self.combine(place, &combinator, &receiver, function, state);
            }
            ([] | [_], _, _) if matches!(method, "unwrap" | "expect") => {
                return self.unwrap(place, &receiver, state);
            }
            _ => {}
        }
        if arguments
            .iter()
            .any(|argument| matches!(argument, Value::Closure(_)))
        {
            return self.unsupported(
                place,
                "a closure passed to this method",
                "use `match`, and call it there",
            );
        }
        let arguments = [vec![receiver], arguments].concat();
        let value = state.call(RecordedCall {
            callee: Callee::Method(method.to_owned()),
            arguments,
            place,
        });
        branch::value(state, value)
    }

    /// `is_ok()` and similar methods.
    fn ask(
        &mut self,
        place: &'a Expr,
        side: BranchOutcome,
        value: &Value<'a>,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let sides = self.side(place, side, value, state);
        sides
            .into_iter()
            .flat_map(|(state, payload)| branch::value(state, Value::Truth(payload.is_some())))
            .collect()
    }

    /// `unwrap` ends the process on one side, which `forbidden` reports; the interpretation
    /// continues with the other.
    fn unwrap(
        &mut self,
        place: &'a Expr,
        value: &Value<'a>,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        // The path on which it panics ends for a reason that is reported elsewhere.
        self.ends += 1;
        let sides = self.side(place, pattern::good_side(value, &state), value, state);
        let going_on = sides
            .into_iter()
            .filter_map(|(state, payload)| Some((state, payload?)));
        going_on
            .flat_map(|(state, payload)| branch::value(state, payload))
            .collect()
    }

    fn combine(
        &mut self,
        place: &'a Expr,
        combinator: &Combinator,
        receiver: &Value<'a>,
        function: &Value<'a>,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let Combinator { then, unwraps, .. } = *combinator;
        let side = combinator.side(pattern::good_side(receiver, &state));
        let mut all = Vec::new();
        for (state, payload) in self.side(place, side, receiver, state) {
            let Some(payload) = payload else {
                all.extend(self.other_side(place, side, receiver, unwraps, state));
                continue;
            };
            // The closure for a `None` has no argument.
            let arguments = if side == BranchOutcome::None {
                Vec::new()
            } else {
                vec![payload.clone()]
            };
            let given = self.apply(place, function, arguments, state);
            all.extend(self.each(given, |_, state, given| {
                let value = match then {
                    Then::Wrap => Value::Wrapped(side, Rc::new(given)),
                    Then::Give => given,
                    Then::Look => Value::Wrapped(side, Rc::new(payload.clone())),
                };
                branch::value(state, value)
            }));
        }
        all
    }

    /// The side on which a combinator does nothing.
    fn other_side(
        &mut self,
        place: &'a Expr,
        side: BranchOutcome,
        receiver: &Value<'a>,
        unwraps: bool,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let other = side.opposite();
        let sides = self.side(place, other, receiver, state);
        let kept = sides
            .into_iter()
            .filter_map(|(state, payload)| Some((state, payload?)));
        let kept = kept.flat_map(|(state, payload)| {
            branch::value(
                state,
                if unwraps {
                    payload
                } else {
                    Value::Wrapped(other, Rc::new(payload))
                },
            )
        });
        kept.collect()
    }
}

/// Whether the call may change a variable.
pub(super) fn may_change(call: &ExprMethodCall, state: &PathState<'_>) -> bool {
    let method = call.method.unraw().to_string();
    // The method may take `&mut self`, and then the variable would have a value that no step shows.
    is_changing(&call.receiver, state)
        && !TRANSPARENT.contains(&method.as_str())
        && side_of(&method).is_none()
}

/// Whether `receiver` is a mutable variable, a part of one, or the value that one points to.
fn is_changing(receiver: &Expr, state: &PathState<'_>) -> bool {
    match receiver {
        Expr::Path(path) => {
            let name = path.path.get_ident().map(|ident| ident.unraw().to_string());
            name.and_then(|name| state.variable(&name))
                .is_some_and(|variable| variable.mutable)
        }
        Expr::Paren(inner) => is_changing(&inner.expr, state),
        Expr::Field(inner) => is_changing(&inner.base, state),
        Expr::Unary(inner) => is_changing(&inner.expr, state),
        // Every other expression has its own value, in which a change is lost.
        _ => false,
    }
}

/// The side that a method such as `is_ok` asks for.
fn side_of(method: &str) -> Option<BranchOutcome> {
    match method {
        "is_ok" => Some(BranchOutcome::Ok),
        "is_err" => Some(BranchOutcome::Err),
        "is_some" => Some(BranchOutcome::Some),
        "is_none" => Some(BranchOutcome::None),
        _ => None,
    }
}

fn combinator(method: &str) -> Option<Combinator> {
    let (on_good, then, unwraps) = match method {
        "map" => (true, Then::Wrap, false),
        "map_err" => (false, Then::Wrap, false),
        "and_then" => (true, Then::Give, false),
        "or_else" => (false, Then::Give, false),
        "unwrap_or_else" => (false, Then::Give, true),
        "inspect" => (true, Then::Look, false),
        "inspect_err" => (false, Then::Look, false),
        _ => return None,
    };
    Some(Combinator {
        on_good,
        then,
        unwraps,
    })
}
