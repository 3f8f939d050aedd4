//! Macro calls: printing is ignored, ending the process ends the path, everything else is
//! unsupported.

use super::{
    branch::{self, Branch},
    code_path::{Callee, RecordedCall},
    interpreter::Interpreter,
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
        if !arguments.is_ok_and(|arguments| arguments.iter().all(is_plain)) {
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

/// Whether the arguments of printing have no side effects: names, fields, literals, methods and
/// operators of them.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Field(inner) => is_plain(&inner.base),
        Expr::Paren(inner) => is_plain(&inner.expr),
        Expr::Reference(inner) => inner.mutability.is_none() && is_plain(&inner.expr),
        // A named argument of a format string, `name = value`.
        Expr::Assign(inner) => is_plain(&inner.left) && is_plain(&inner.right),
        Expr::MethodCall(inner) => is_plain(&inner.receiver) && inner.args.iter().all(is_plain),
        Expr::Binary(inner) => is_plain(&inner.left) && is_plain(&inner.right),
        Expr::Unary(inner) => is_plain(&inner.expr),
        _ => false,
    }
}
