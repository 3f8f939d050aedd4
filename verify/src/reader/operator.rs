//! Operators between values.

use super::{
    branch::{self, Branch},
    code_path::{Callee, RecordedCall},
    interpreter::Interpreter,
    state::PathState,
    value::Value,
};
use syn::{BinOp, Expr, UnOp};

impl<'a> Interpreter<'_, 'a> {
    /// An operator: its operands are interpreted; no rule asks for its result.
    pub(super) fn operator(
        &mut self,
        expression: &'a Expr,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let operands: Vec<&'a Expr> = match expression {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                // A dereference has the value of its operand, as a borrow has.
                return self.expression(&unary.expr, state);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                return self.truth_value(&unary.expr, false, state);
            }
            Expr::Unary(unary) => vec![&unary.expr],
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                return self.truth_value(expression, true, state);
            }
            Expr::Binary(binary) if !is_assigning(&binary.op) => vec![&binary.left, &binary.right],
            _ => {
                return self.unsupported(
                    expression,
                    "an assigning operator",
                    "bind a new name with `let`",
                );
            }
        };
        self.with_list(operands.into_iter(), state, |_, mut state, arguments| {
            let callee = Callee::Other("operator".to_owned());
            let value = state.call(RecordedCall {
                callee,
                arguments,
                place: expression,
            });
            branch::value(state, value)
        })
    }

    /// Whether `condition` is `expected`, as a value.
    fn truth_value(
        &mut self,
        condition: &'a Expr,
        expected: bool,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let (conditions, mut all) = self.condition(condition, state);
        let values = conditions
            .into_iter()
            .flat_map(|(state, holds)| branch::value(state, Value::Truth(holds == expected)));
        all.extend(values);
        all
    }
}

/// Whether the operator changes its left operand.
pub(super) fn is_assigning(op: &BinOp) -> bool {
    use BinOp::{
        Add, And, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub,
    };
    // The other operators are listed, so that an operator that a later `syn` adds is refused.
    !matches!(
        op,
        Add(_)
            | Sub(_)
            | Mul(_)
            | Div(_)
            | Rem(_)
            | And(_)
            | Or(_)
            | BitXor(_)
            | BitAnd(_)
            | BitOr(_)
            | Shl(_)
            | Shr(_)
            | Eq(_)
            | Lt(_)
            | Le(_)
            | Ne(_)
            | Ge(_)
            | Gt(_)
    )
}
