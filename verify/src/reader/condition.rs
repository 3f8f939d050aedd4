//! `if`, `match` and their conditions.

use super::{
    branch::{self, Branch, Flow},
    interpreter::Interpreter,
    pattern::Matched,
    state::PathState,
    value::{BranchOutcome, Value},
};
use syn::{BinOp, Expr, ExprIf, ExprMatch};

impl<'a> Interpreter<'_, 'a> {
    /// Interprets `if`, with `if let` and its chains.
    pub(super) fn if_expression(
        &mut self,
        expression: &'a ExprIf,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let mark = state.mark();
        let (conditions, mut all) = self.condition(&expression.cond, state);
        for (mut state, holds) in conditions {
            if holds {
                all.extend(self.block(&expression.then_branch, state));
                continue;
            }
            // Names that the condition bound are not in scope in the other branch.
            state.close(mark);
            match &expression.else_branch {
                Some((_, otherwise)) => all.extend(self.expression(otherwise, state)),
                None => all.extend(branch::value(state, Value::unit())),
            }
        }
        branch::close(all, mark)
    }

    /// Interprets `match`, arm by arm.
    pub(super) fn match_expression(
        &mut self,
        expression: &'a ExprMatch,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let mark = state.mark();
        let branches = self.expression(&expression.expr, state);
        let branches = self.each(branches, |reader, state, value| {
            reader.arms(expression, &value, state, mark)
        });
        branch::close(branches, mark)
    }

    /// Tries the arms in order.
    fn arms(
        &mut self,
        expression: &'a ExprMatch,
        value: &Value<'a>,
        state: PathState<'a>,
        mark: usize,
    ) -> Vec<Branch<'a>> {
        let mut all = Vec::new();
        // A `match` that is not exhaustive does not compile, but exhaustiveness is not proven here.
        let mut open = vec![state];
        for arm in &expression.arms {
            for state in std::mem::take(&mut open) {
                for (mut state, matched) in self.bind(&arm.pat, value.clone(), state) {
                    if matched {
                        all.extend(self.expression(&arm.body, state));
                    } else {
                        // Names that a pattern bound before it failed are not in scope in the next
                        // arm.
                        state.close(mark);
                        open.push(state);
                    }
                }
            }
        }
        // A path without an arm would be lost, and what it does would never be checked.
        if !open.is_empty() {
            all.extend(self.unsupported(
                expression,
                "a `match` without an arm for every case",
                "add the missing arm",
            ));
        }
        all
    }

    /// Whether `expression` holds on each path; and the paths that left while it was evaluated.
    pub(super) fn condition(
        &mut self,
        expression: &'a Expr,
        state: PathState<'a>,
    ) -> (Matched<'a>, Vec<Branch<'a>>) {
        match expression {
            Expr::Paren(inner) => self.condition(&inner.expr, state),
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_) => self.short_circuit(&binary.left, &binary.right, true, state),
                BinOp::Or(_) => self.short_circuit(&binary.left, &binary.right, false, state),
                _ => self.truth(expression, state),
            },
            Expr::Let(binding) => {
                let branches = self.expression(&binding.expr, state);
                self.decide(branches, |reader, state, value| {
                    reader.bind(&binding.pat, value, state)
                })
            }
            _ => self.truth(expression, state),
        }
    }

    /// `left && right` continues when left holds, `left || right` when it does not.
    fn short_circuit(
        &mut self,
        left: &'a Expr,
        right: &'a Expr,
        go_on: bool,
        state: PathState<'a>,
    ) -> (Matched<'a>, Vec<Branch<'a>>) {
        let (first, mut gone) = self.condition(left, state);
        let mut all = Vec::new();
        for (state, holds) in first {
            if holds == go_on {
                let (second, left) = self.condition(right, state);
                all.extend(second);
                gone.extend(left);
            // The right side does not run on this path, so that its calls are not recorded.
            } else {
                all.push((state, holds));
            }
        }
        (all, gone)
    }

    /// A condition that is a value: known, or both are possible.
    fn truth(
        &mut self,
        expression: &'a Expr,
        state: PathState<'a>,
    ) -> (Matched<'a>, Vec<Branch<'a>>) {
        let branches = self.expression(expression, state);
        self.decide(branches, |reader, state, value| match value {
            // A known truth has one path: the other one would be reported although it never runs.
            Value::Truth(truth) => vec![(state, truth)],
            value => {
                let sides = reader.side(expression, BranchOutcome::True, &value, state);
                sides
                    .into_iter()
                    .map(|(state, payload)| (state, payload.is_some()))
                    .collect()
            }
        })
    }

    fn decide(
        &mut self,
        branches: Vec<Branch<'a>>,
        mut how: impl FnMut(&mut Self, PathState<'a>, Value<'a>) -> Matched<'a>,
    ) -> (Matched<'a>, Vec<Branch<'a>>) {
        let (mut matched, mut left) = (Vec::new(), Vec::new());
        for branch in branches {
            match branch.flow {
                Flow::Value(value) => matched.extend(how(self, branch.state, value)),
                Flow::Return(_) => left.push(branch),
            }
        }
        (matched, left)
    }
}
