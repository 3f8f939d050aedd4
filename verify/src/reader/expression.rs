//! Expressions.

use super::{
    branch::{self, Branch, Flow},
    interpreter::Interpreter,
    pattern,
    state::PathState,
    value::{BranchOutcome, Closure, Value},
};
use crate::names::Meaning;
use std::rc::Rc;
use syn::{
    Expr, ExprAssign, ExprClosure, ExprPath, ExprStruct, ExprTry, Lit, Member, ext::IdentExt,
};

/// The help when no more precise one is known.
const PLAIN: &str = "write it as `let`, `match`, `if`, calls and `return`";

impl<'a> Interpreter<'_, 'a> {
    /// Interprets `expression` on one path; it may split into several.
    pub(super) fn expression(
        &mut self,
        expression: &'a Expr,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        // Every expression costs, so that code whose paths multiply ends with a finding in bounded
        // time.
        if !self.spend(expression) {
            return Vec::new();
        }
        match expression {
            Expr::Paren(inner) => self.expression(&inner.expr, state),
            // Not for `&mut`: the function that it is passed to could change the value.
            Expr::Reference(inner) if inner.mutability.is_none() => {
                self.expression(&inner.expr, state)
            }
            Expr::Lit(literal) => branch::value(state, literal_value(&literal.lit)),
            Expr::Path(path) => self.path(expression, path, state),
            Expr::Field(field) => self.field(field, state),
            Expr::Call(call) => self.call(expression, call, state),
            Expr::MethodCall(call) => self.method_call(expression, call, state),
            Expr::Macro(call) => self.macro_call(&call.mac, Some(expression), state),
            Expr::Match(inner) => self.match_expression(inner, state),
            Expr::If(inner) => self.if_expression(inner, state),
            Expr::Block(inner) if inner.label.is_none() => self.block(&inner.block, state),
            // `forbidden` reports it; its effect is interpreted nevertheless.
            Expr::Unsafe(inner) => self.block(&inner.block, state),
            Expr::Return(inner) => self.return_expression(inner.expr.as_deref(), state),
            Expr::Try(inner) => self.question_mark(inner, state),
            Expr::Assign(inner) => self.assign(inner, state),
            Expr::Tuple(tuple) => self.tuple(tuple.elems.iter(), state),
            // A list is treated as a tuple: its elements are interpreted, and no rule asks for its
            // value.
            Expr::Array(array) => self.tuple(array.elems.iter(), state),
            // With `..rest`, fields would have values that the interpreter does not know.
            Expr::Struct(literal) if literal.rest.is_none() && literal.qself.is_none() => {
                self.structure(literal, state)
            }
            Expr::Closure(closure) if closure.asyncness.is_none() => closure_value(closure, state),
            Expr::Unary(_) | Expr::Binary(_) => self.operator(expression, state),
            _ => self.unsupported(expression, what(expression), PLAIN),
        }
    }

    fn tuple(
        &mut self,
        elements: impl Iterator<Item = &'a Expr>,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        self.with_list(elements, state, |_, state, values| {
            branch::value(state, Value::Tuple(values))
        })
    }

    /// A struct of the runtime; a harness defines no struct.
    fn structure(&mut self, literal: &'a ExprStruct, state: PathState<'a>) -> Vec<Branch<'a>> {
        let Meaning::Runtime(path) = self.names.meaning(&literal.path) else {
            return self.unsupported(literal, "a value built from its fields", PLAIN);
        };
        let named: Option<Vec<String>> = literal
            .fields
            .iter()
            .map(|field| field_name(&field.member))
            .collect();
        let Some(named) = named else {
            return self.unsupported(literal, "a value built from numbered fields", PLAIN);
        };
        self.with_list(
            literal.fields.iter().map(|field| &field.expr),
            state,
            |_, state, values| {
                let fields = named.iter().cloned().zip(values).collect();
                branch::value(state, Value::Structure(path.clone(), fields))
            },
        )
    }

    fn path(
        &mut self,
        place: &'a Expr,
        path: &'a ExprPath,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        if path.qself.is_some() {
            return self.unsupported(
                path,
                "a path through a trait",
                "call the function by its name",
            );
        }
        // Local variables first: they hide items and imports.
        if let Some(name) = path.path.get_ident().map(|ident| ident.unraw().to_string())
            && let Some(variable) = state.variable(&name)
        {
            return match variable.value.clone() {
                Some(value) => branch::value(state, value),
                None => self.unsupported(
                    path,
                    "a variable without a value",
                    "assign its value with `let`",
                ),
            };
        }
        match self.names.meaning(&path.path) {
            Meaning::Runtime(name) => branch::value(state, Value::Runtime(name)),
            Meaning::Local(name) => match self.file_items.constants.get(&name).copied() {
                Some(constant) => self.constant(constant, state),
                None => branch::value(state, Value::Local(name)),
            },
            // `Wrapped` always has a payload; `None` gets the empty tuple.
            Meaning::Prelude(name) if name == "None" || name == "Option::None" => branch::value(
                state,
                Value::Wrapped(BranchOutcome::None, Rc::new(Value::unit())),
            ),
            Meaning::Prelude(name) => branch::value(state, Value::Prelude(name)),
            // `imports` reports it; a rule that needs the value will not accept this one.
            Meaning::Foreign(name) => branch::value(state, Value::Prelude(name)),
            Meaning::Unknown(name) => {
                let message = format!("nothing here is called `{name}`");
                self.undefined(
                    place,
                    message,
                    "define it in this file or import it from `testgen_runtime`",
                )
            }
        }
    }

    /// A constant of the file is replaced by its expression.
    fn constant(&mut self, constant: &'a Expr, mut state: PathState<'a>) -> Vec<Branch<'a>> {
        // A constant sees no local variable of the function that uses it.
        let outer = state.enter(Vec::new());
        let branches = self.expression(constant, state);
        branch::leave(branches, &outer)
    }

    fn field(&mut self, field: &'a syn::ExprField, state: PathState<'a>) -> Vec<Branch<'a>> {
        let branches = self.expression(&field.base, state);
        self.each(branches, |_, state, base| {
            let value = match (&field.member, base) {
                (Member::Unnamed(index), Value::Tuple(values)) => {
                    values.get(index.index as usize).cloned()
                }
                (Member::Named(name), base) => {
                    Some(Value::Field(Rc::new(base), name.unraw().to_string()))
                }
                (Member::Unnamed(index), base) => {
                    Some(Value::Field(Rc::new(base), index.index.to_string()))
                }
            };
            // A tuple without this position does not compile, so this path needs no finding.
            value.map_or_else(Vec::new, |value| branch::value(state, value))
        })
    }

    fn return_expression(
        &mut self,
        value: Option<&'a Expr>,
        state: PathState<'a>,
    ) -> Vec<Branch<'a>> {
        let Some(value) = value else {
            return vec![Branch {
                state,
                flow: Flow::Return(Value::unit()),
            }];
        };
        let branches = self.expression(value, state);
        self.each(branches, |_, state, value| {
            vec![Branch {
                state,
                flow: Flow::Return(value),
            }]
        })
    }

    /// `?`: continues with the payload of `Ok` or `Some`, returns the `Err` or `None`.
    fn question_mark(&mut self, inner: &'a ExprTry, state: PathState<'a>) -> Vec<Branch<'a>> {
        let branches = self.expression(&inner.expr, state);
        self.each(branches, |reader, state, value| {
            let good = pattern::good_side(&value, &state);
            let sides = reader.side(inner, good, &value, state);
            let continued = sides
                .into_iter()
                .flat_map(|(state, payload)| match payload {
                    Some(payload) => branch::value(state, payload),
                    None => {
                        // `side` returns a payload only for the outcome that it is asked for.
                        let error = reader.side(inner, good.opposite(), &value, state);
                        let returned = error.into_iter().filter_map(|(state, payload)| {
                            let value = Value::Wrapped(good.opposite(), Rc::new(payload?));
                            Some(Branch {
                                state,
                                flow: Flow::Return(value),
                            })
                        });
                        returned.collect()
                    }
                });
            continued.collect()
        })
    }

    fn assign(&mut self, assignment: &'a ExprAssign, state: PathState<'a>) -> Vec<Branch<'a>> {
        let Expr::Path(target) = assignment.left.as_ref() else {
            return self.unsupported(
                assignment,
                "an assignment to a part of a value",
                "bind a new name with `let`",
            );
        };
        // A longer path becomes the empty name, which no variable has, so that it is reported
        // below.
        let name = target
            .path
            .get_ident()
            .map(|ident| ident.unraw().to_string())
            .unwrap_or_default();
        let branches = self.expression(&assignment.right, state);
        self.each(branches, |reader, mut state, value| {
            if state.assign(&name, value) {
                branch::value(state, Value::unit())
            } else {
                reader.unsupported(
                    assignment,
                    "an assignment to something other than a local variable",
                    "return the value",
                )
            }
        })
    }
}

/// A closure is a value with the variables that it can see; its body is interpreted when it is
/// called.
fn closure_value<'a>(expression: &'a ExprClosure, state: PathState<'a>) -> Vec<Branch<'a>> {
    let captured = state.captured();
    let closure = Closure {
        expression,
        captured,
    };
    branch::value(state, Value::Closure(Rc::new(closure)))
}

fn field_name(member: &Member) -> Option<String> {
    match member {
        Member::Named(name) => Some(name.unraw().to_string()),
        Member::Unnamed(_) => None,
    }
}

fn literal_value<'a>(literal: &Lit) -> Value<'a> {
    match literal {
        Lit::Str(text) => Value::Text(text.value()),
        Lit::Bool(truth) => Value::Truth(truth.value),
        // Without suffix and separators, so that `1_000` and `1000usize` are the same value.
        Lit::Int(number) => Value::Literal(number.base10_digits().to_owned()),
        Lit::Float(number) => Value::Literal(number.base10_digits().to_owned()),
        // A character or bytes, which no rule compares.
        _ => Value::Literal("literal".to_owned()),
    }
}

/// The name of `expression` in a message.
fn what(expression: &Expr) -> &'static str {
    match expression {
        Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) | Expr::Break(_) | Expr::Continue(_) => {
            "a loop"
        }
        Expr::Reference(_) | Expr::RawAddr(_) => "a mutable borrow",
        Expr::Async(_) | Expr::Await(_) | Expr::Closure(_) | Expr::Yield(_) => "asynchronous code",
        Expr::Struct(_) => "a value built from its fields",
        Expr::Repeat(_) | Expr::Index(_) | Expr::Range(_) => "indices and ranges",
        Expr::Block(_) => "a labelled block",
        Expr::Cast(_) => "a cast",
        _ => "this expression",
    }
}
