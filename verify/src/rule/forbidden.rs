//! A harness cannot end the process, disable code, or hide a warning.
//!
//! Forbidden are: `unwrap`, `expect` and the macros that panic (a GPU that fails must become a mock
//! with the reason, and must not abort the whole suite); `unsafe`; attributes other than
//! documentation, `#[inline]`, `#[must_use]` and `#[expect(.., reason = "..")]`, in particular
//! `#[cfg]` and `#[allow]`; `if` and guards on a literal; statements after a `return`; and items
//! other than imports, functions, constants and statics: no macros, modules, types or traits.
//!
//! Handle the `Err` with `Endpoint::mock(label, device, &error)`, and delete code that does not
//! run.

use crate::{finding::Diagnostic, harness::ParsedHarness, literal, vocabulary};
use syn::{
    Attribute, Block, Expr, ExprIf, ExprMethodCall, ExprUnsafe, Item, ItemFn, Lit, Macro, Meta,
    PatGuard, Safety, StaticMutability, Stmt, Token, punctuated::Punctuated, spanned::Spanned,
    visit::Visit,
};

/// Checks the whole tree.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let mut visitor = ForbiddenVisitor {
        diagnostics: Vec::new(),
    };
    visitor.visit_file(harness.file);
    visitor.diagnostics
}

struct ForbiddenVisitor {
    diagnostics: Vec<Diagnostic>,
}

impl ForbiddenVisitor {
    fn add(&mut self, place: &impl Spanned, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::at(place, message, help));
    }

    fn constant_condition(&mut self, condition: &Expr) {
        let constant = match condition {
            Expr::Unary(unary) => is_boolean(&unary.expr),
            Expr::Paren(inner) => return self.constant_condition(&inner.expr),
            other => is_boolean(other),
        };
        if constant {
            self.add(
                condition,
                "a condition that never changes",
                "keep the branch that runs, delete the other",
            );
        }
    }
}

impl<'ast> Visit<'ast> for ForbiddenVisitor {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let path = attribute.path();
        let explained = path.is_ident("expect") && has_reason(&attribute.meta);
        let harmless = ["doc", "inline", "must_use"]
            .iter()
            .any(|name| path.is_ident(name));
        if !harmless && !explained {
            let name = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect::<Vec<_>>()
                .join("::");
            self.add(attribute, format!("the attribute `{name}`"), "remove it");
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Const(_) | Item::Fn(_) | Item::Static(_) | Item::Use(_) => {}
            _ => self.add(
                item,
                "an item of a kind that a harness does not have",
                "write plain functions",
            ),
        }
        if let Item::Static(item) = item
            && matches!(item.mutability, StaticMutability::Mut(_))
        {
            self.add(item, "a static that can change", "remove `mut`");
        }
        syn::visit::visit_item(self, item);
    }

    /// `init_functions` checks the attributes of init functions.
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let name = function.sig.ident.to_string();
        // Otherwise one attribute would be two findings.
        if !name.starts_with("init_") || !vocabulary::is_entry(&name) {
            function
                .attrs
                .iter()
                .for_each(|attribute| self.visit_attribute(attribute));
            if let Safety::Unsafe(place) = &function.sig.safety {
                self.add(place, "an `unsafe` function", "remove `unsafe`");
            }
        }
        self.visit_signature(&function.sig);
        self.visit_block(&function.block);
    }

    fn visit_expr_unsafe(&mut self, expression: &'ast ExprUnsafe) {
        self.add(
            expression,
            "an `unsafe` block",
            "call the runtime, which contains all unsafe code",
        );
        syn::visit::visit_expr_unsafe(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if [
            "unwrap",
            "expect",
            "unwrap_err",
            "expect_err",
            "unwrap_unchecked",
        ]
        .iter()
        .any(|name| call.method == name)
        {
            let message = format!("`{}` ends the process when there is an error", call.method);
            self.add(
                &call.method,
                message,
                "match, and return `Endpoint::mock` with the error",
            );
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let name = call
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string())
            .unwrap_or_default();
        // By the last part of the path, so that `std::panic!` is found like `panic!`.
        if vocabulary::PANICKING.contains(&name.as_str())
            || vocabulary::ASSERTING.contains(&name.as_str())
        {
            let help = "return `Endpoint::mock` with the error";
            self.add(call, format!("`{name}!` ends the process"), help);
        }
    }

    fn visit_expr_if(&mut self, expression: &'ast ExprIf) {
        self.constant_condition(&expression.cond);
        syn::visit::visit_expr_if(self, expression);
    }

    fn visit_pat_guard(&mut self, pattern: &'ast PatGuard) {
        self.constant_condition(&pattern.guard);
        syn::visit::visit_pat_guard(self, pattern);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        // The statement after the one that leaves: everything after that is dead for the same
        // reason.
        let end = block.stmts.iter().position(statement_leaves);
        if let Some(dead) = end.and_then(|end| block.stmts.get(end + 1)) {
            self.add(
                dead,
                "this never runs: the function returns before it",
                "delete it, or the `return` before it",
            );
        }
        syn::visit::visit_block(self, block);
    }
}

/// Whether an `expect` ends with a `reason = ".."` that is not empty.
fn has_reason(meta: &Meta) -> bool {
    let Meta::List(list) = meta else { return false };
    let words = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    words.is_ok_and(|words| {
        words.iter().any(|word| match word {
            Meta::NameValue(pair) if pair.path.is_ident("reason") => {
                literal::text(&pair.value).is_some_and(|reason| !reason.trim().is_empty())
            }
            _ => false,
        })
    })
}

fn statement_leaves(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(expression, _) => leaves(expression),
        Stmt::Local(local) => local.init.as_ref().is_some_and(|init| leaves(&init.expr)),
        // An item does not run, and a macro that ends the process is a separate kind of finding.
        Stmt::Item(_) | Stmt::Macro(_) => false,
    }
}

/// Whether every path through `expression` leaves the function.
fn leaves(expression: &Expr) -> bool {
    match expression {
        Expr::Return(_) => true,
        Expr::Paren(inner) => leaves(&inner.expr),
        Expr::Block(inner) => inner.block.stmts.iter().any(statement_leaves),
        Expr::If(inner) => {
            let otherwise = inner
                .else_branch
                .as_ref()
                .is_some_and(|(_, otherwise)| leaves(otherwise));
            // Both branches: with one alone, what follows can run.
            otherwise && inner.then_branch.stmts.iter().any(statement_leaves)
        }
        Expr::Match(inner) => {
            // A match without arms is a match on a value that cannot exist.
            !inner.arms.is_empty() && inner.arms.iter().all(|arm| leaves(&arm.body))
        }
        _ => false,
    }
}

fn is_boolean(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(lit) if matches!(lit.lit, Lit::Bool(_)))
}
