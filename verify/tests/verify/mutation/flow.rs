//! Harnesses broken in their values: where they come from, where they go.

use crate::mutator::{self, Mutant, called, one_line};
use syn::{Expr, File, parse_quote};

/// Values that come from elsewhere or go nowhere.
pub(super) fn flows(file: &File) -> Vec<Mutant> {
    let mut all = mutator::expressions(file, "call swapped for a constant", &|expression| {
        let replaced = called(expression).is_some();
        *expression = parse_quote!(Ok(SPEC.subject));
        replaced
    });
    all.extend(mutator::expressions(
        file,
        "result unwrapped",
        &|expression| {
            let Expr::Match(inner) = expression else {
                return false;
            };
            let scrutinee = &inner.expr;
            *expression = parse_quote!(#scrutinee.unwrap());
            true
        },
    ));
    all.extend(mutator::expressions(
        file,
        "result not looked at",
        &|expression| {
            let Expr::Match(inner) = expression else {
                return false;
            };
            *expression = inner.expr.as_ref().clone();
            true
        },
    ));
    all.extend(mutator::expressions(
        file,
        "result not looked at",
        &|expression| {
            let Expr::Try(inner) = expression else {
                return false;
            };
            *expression = inner.expr.as_ref().clone();
            true
        },
    ));
    all.extend(mutator::expressions(
        file,
        "result unwrapped",
        &|expression| {
            let Expr::Try(inner) = expression else {
                return false;
            };
            let result = &inner.expr;
            *expression = parse_quote!(#result.unwrap());
            true
        },
    ));
    for position in 0..5 {
        for other in
            ["target", "loaded", "recorded", "SPEC"].map(|name| quote::format_ident!("{name}"))
        {
            all.extend(mutator::expressions(
                file,
                "another argument",
                &|expression| {
                    let Expr::Call(call) = expression else {
                        return false;
                    };
                    let Some(argument) = call.args.get_mut(position) else {
                        return false;
                    };
                    let others: Expr = parse_quote!(#other);
                    let same = one_line(argument).trim_start_matches("& ") == one_line(&others);
                    if !same {
                        *argument = others;
                    }
                    !same
                },
            ));
        }
    }
    all.extend(mutator::expressions(
        file,
        "arguments swapped",
        &|expression| {
            let arguments = match expression {
                Expr::Call(call) => &mut call.args,
                Expr::MethodCall(call) => &mut call.args,
                _ => return false,
            };
            let mut swapped: Vec<Expr> = arguments.iter().cloned().collect();
            swapped.reverse();
            *arguments = swapped.into_iter().collect();
            arguments.len() > 1
        },
    ));
    all.extend(mutator::expressions(
        file,
        "method call dropped",
        &|expression| {
            let Expr::MethodCall(call) = expression else {
                return false;
            };
            *expression = call.receiver.as_ref().clone();
            true
        },
    ));
    all.extend(mutator::expressions(file, "index fixed", &|expression| {
        let Expr::Call(call) = expression else {
            return false;
        };
        let detects = ["hip_runtime", "cuda_driver", "cuda_compatibility"]
            .contains(&one_line(&call.func).as_str());
        call.args = parse_quote!(0);
        detects
    }));
    all.extend(mutator::arms(
        file,
        "`Ok` and `Err` change places",
        &|arm| {
            let swapped = match one_line(&arm.pat) {
                pattern if pattern.starts_with("Ok") => pattern.replacen("Ok", "Err", 1),
                pattern => pattern.replacen("Err", "Ok", 1),
            };
            arm.pat =
                syn::parse::Parser::parse_str(syn::Pat::parse_single, &swapped).expect("a pattern");
            true
        },
    ));
    all.retain(|mutant| mutant.text != prettyplease::unparse(file));
    all
}
