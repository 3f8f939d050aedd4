//! Harnesses whose local variables have other names.

use crate::mutator::{self, Mutant};
use syn::{File, ItemFn, visit_mut::VisitMut};

/// Variants with one local variable renamed, to names with and without another meaning.
pub(super) fn renamed(file: &File) -> Vec<Mutant> {
    let names = [
        "device",
        "probe",
        "precision",
        "before",
        "after",
        "model",
        "detected",
        "error",
        "unavailable",
        "hip",
        "cuda",
        "target",
        "loaded",
        "recorded",
    ];
    let mut all = Vec::new();
    for from in names {
        for to in ["renamed", "memory", "cuda_driver", "_x", "cpu"] {
            let kind = if to == "memory" || to == "cuda_driver" {
                "local like a function"
            } else {
                "local renamed"
            };
            // A variable must not take the name of a function that is called below it.
            if kind == "local like a function" && from != "model" && from != "error" {
                continue;
            }
            all.extend(mutator::functions(file, kind, &|function: &mut ItemFn| {
                let old = function.clone();
                Rename { from, to }.visit_item_fn_mut(function);
                let calls_it = kind == "local like a function" && from == "model" && to == "memory";
                *function != old && !calls_it
            }));
        }
    }
    all
}

/// Renames every use of a local variable.
struct Rename<'n> {
    from: &'n str,
    to: &'n str,
}

impl VisitMut for Rename<'_> {
    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if path.path.is_ident(self.from) {
            path.path = syn::parse_str(self.to).expect("a name");
        }
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        if pattern.ident == self.from {
            pattern.ident = syn::Ident::new(self.to, pattern.ident.span());
        }
    }

    /// The name of a called function is not a variable.
    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        call.args
            .iter_mut()
            .for_each(|argument| self.visit_expr_mut(argument));
    }
}
