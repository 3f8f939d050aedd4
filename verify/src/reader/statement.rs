//! Blocks and statements.

use super::{
    branch::{self, Branch, Flow},
    interpreter::Interpreter,
    state::PathState,
    value::Value,
};
use crate::{names::item_name, vocabulary};
use syn::{Block, Expr, Item, Local, Stmt};

impl<'a> Interpreter<'_, 'a> {
    /// Interprets `block`; its value is the value of its last expression.
    pub(super) fn block(&mut self, block: &'a Block, state: PathState<'a>) -> Vec<Branch<'a>> {
        let mark = state.mark();
        let mut branches = branch::value(state, Value::unit());
        for statement in &block.stmts {
            branches = self.each(branches, |reader, state, _| {
                reader.going_on(statement, state)
            });
        }
        branch::close(branches, mark)
    }

    /// Interprets `statement`.
    fn going_on(&mut self, statement: &'a Stmt, state: PathState<'a>) -> Vec<Branch<'a>> {
        let ends = self.ends;
        let branches = self.statement(statement, state);
        // A path that is lost without a known reason would make every later requirement hold, so it
        // is reported.
        if branches.is_empty() && self.ends == ends && self.unsupported.is_empty() {
            return self.unsupported(
                statement,
                "where this statement leads",
                "write it as `match`, one arm for each case",
            );
        }
        branches
    }

    fn statement(&mut self, statement: &'a Stmt, state: PathState<'a>) -> Vec<Branch<'a>> {
        match statement {
            Stmt::Local(local) => self.local(local, state),
            Stmt::Item(item) => self.nested(item, state),
            Stmt::Expr(expression, None) => self.expression(expression, state),
            Stmt::Expr(expression, Some(_)) => {
                let branches = self.expression(expression, state);
                self.each(branches, |_, state, _| branch::value(state, Value::unit()))
            }
            Stmt::Macro(statement) => {
                let branches = self.macro_call(&statement.mac, None, state);
                let silent = statement.semi_token.is_some();
                self.each(branches, |_, state, value| {
                    branch::value(state, if silent { Value::unit() } else { value })
                })
            }
        }
    }

    fn local(&mut self, local: &'a Local, state: PathState<'a>) -> Vec<Branch<'a>> {
        let Some(init) = &local.init else {
            return self.declaration(local, state);
        };
        let branches = self.expression(&init.expr, state);
        self.each(branches, |reader, state, value| {
            let mut all = Vec::new();
            for (state, matched) in reader.bind(&local.pat, value, state) {
                match (&init.diverge, matched) {
                    (_, true) => all.extend(branch::value(state, Value::unit())),
                    (Some((_, otherwise)), false) => all.extend(reader.diverging(otherwise, state)),
                    (None, false) => {
                        let help = "add an `else` that returns";
                        all.extend(reader.unsupported(
                            &local.pat,
                            "a `let` that does not cover every case",
                            help,
                        ));
                    }
                }
            }
            all
        })
    }

    /// The `else` of a `let`: in a file that compiles, no path reaches its end.
    fn diverging(&mut self, otherwise: &'a Expr, state: PathState<'a>) -> Vec<Branch<'a>> {
        let branches = self.expression(otherwise, state);
        branches
            .into_iter()
            .filter(|branch| matches!(branch.flow, Flow::Return(_)))
            .collect()
    }

    /// `let name;`
    fn declaration(&mut self, local: &'a Local, mut state: PathState<'a>) -> Vec<Branch<'a>> {
        let syn::Pat::Ident(pattern) = &local.pat else {
            return self.unsupported(
                local,
                "this declaration",
                "declare one variable, with its value",
            );
        };
        state.declare(
            pattern.ident.to_string(),
            None,
            pattern.mutability.is_some(),
        );
        branch::value(state, Value::unit())
    }

    /// An item in a body: `imports` reports imports and items that take a protected name.
    fn nested(&mut self, item: &'a Item, state: PathState<'a>) -> Vec<Branch<'a>> {
        if matches!(item, Item::Use(_))
            || item_name(item).is_some_and(|name| vocabulary::is_protected(&name))
        {
            return branch::value(state, Value::unit());
        }
        self.unsupported(
            item,
            "an item inside of a function",
            "move it to the top of the file",
        )
    }
}
