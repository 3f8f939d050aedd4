//! Macro calls: printing is ignored, ending the process ends the path, everything else is
//! unsupported.

use super::{
    branch::{self, Branch},
    code_path::{Callee, RecordedCall},
    interpreter::Interpreter,
    method::may_change,
    operator::is_assigning,
    state::PathState,
    value::Value,
};
use crate::vocabulary;
use syn::{Expr, Macro, Token, punctuated::Punctuated};

impl<'a> Interpreter<'_, 'a> {
    /// A macro call; `place` is none for a statement.
    pub(super) fn macro_call(
        &mut self,
        call: &'a Macro,
        place: Option<&'a Expr>,
        mut state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let name = call
            .path
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        if vocabulary::PANICKING.contains(&name.as_str()) {
            // The path ends for a known reason: `forbidden` reports the macro.
            self.ends += 1;
            return Vec::new();
        }
        // An assertion continues like printing: `forbidden` reports that it may end the process.
        if !vocabulary::PRINTING.contains(&name.as_str())
            && !vocabulary::ASSERTING.contains(&name.as_str())
        {
            return self.unsupported(
                call,
                "this macro",
                "write what it does, or print with `eprintln!`",
            );
        }
        // The arguments are only tested, not interpreted: a call of a function in them would not
        // become a step.
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        if !arguments.is_ok_and(|arguments| {
            arguments
                .iter()
                .all(|argument| is_plain(printed(argument), &state))
        }) {
            return self.unsupported(
                call,
                "code inside of this macro",
                "bind the value with `let` and print its name",
            );
        }
        let value = match place {
            Some(place) => state.call(RecordedCall {
                callee: Callee::Other(name),
                arguments: Vec::new(),
                place,
            }),
            None => Value::unit(),
        };
        branch::value(state, value)
    }
}

/// The value of an argument, which may have a name in the format string: `name = value`.
fn printed(argument: &Expr) -> &Expr {
    match argument {
        // The value of anything but a name would be assigned.
        Expr::Assign(named) if matches!(*named.left, Expr::Path(_)) => &named.right,
        _ => argument,
    }
}

/// Whether an argument of printing has no side effects: names, fields, literals, methods and
/// operators of them.
fn is_plain(expression: &Expr, state: &PathState<'_>) -> bool {
    match expression {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Field(inner) => is_plain(&inner.base, state),
        Expr::Paren(inner) => is_plain(&inner.expr, state),
        Expr::Reference(inner) => inner.mutability.is_none() && is_plain(&inner.expr, state),
        Expr::MethodCall(inner) => {
            !may_change(inner, state)
                && is_plain(&inner.receiver, state)
                && inner.args.iter().all(|argument| is_plain(argument, state))
        }
        Expr::Binary(inner) => {
            !is_assigning(&inner.op)
                && is_plain(&inner.left, state)
                && is_plain(&inner.right, state)
        }
        Expr::Unary(inner) => is_plain(&inner.expr, state),
        _ => false,
    }
}
