//! Harnesses broken in the requests that they build from recorded inputs.

use crate::mutator::{self, Mutant, one_line};
use syn::{Expr, File, parse_quote};

/// Requests of another task, or of inputs that were not recorded for it.
pub(super) fn requests(file: &File) -> Vec<Mutant> {
    let mut all = Vec::new();
    let input = |expression: &Expr| match expression {
        Expr::Try(inner) => match inner.expr.as_ref() {
            Expr::MethodCall(call) if one_line(&call.receiver) == "recorded" => Some(call.clone()),
            _ => None,
        },
        _ => None,
    };
    type Replacement = fn(&syn::ExprMethodCall) -> Expr;
    let replacements: [(&str, Replacement); 6] = [
        ("an input that was not recorded", |_| parse_quote!(())),
        ("an input that was not recorded", |_| {
            parse_quote!(SPEC.name)
        }),
        (
            "a recorded input or its default",
            |call| parse_quote!(#call.unwrap_or_default()),
        ),
        (
            "a recorded input changed",
            |call| parse_quote!(#call?.reversed()),
        ),
        ("another recorded input", |_| {
            parse_quote!(recorded.other()?)
        }),
        ("an input of another request", |_| {
            parse_quote!(RecordedRequest::new().texts()?)
        }),
    ];
    for (kind, replace) in replacements {
        all.extend(mutator::expressions(file, kind, &|expression| {
            let Some(call) = input(expression) else {
                return false;
            };
            *expression = replace(&call);
            true
        }));
    }
    all.extend(mutator::expressions(
        file,
        "the request of another task",
        &|expression| {
            match expression {
                Expr::Call(call) if one_line(&call.func).starts_with("Request ::") => {
                    call.func = parse_quote!(Request::Other);
                }
                Expr::Struct(literal) if one_line(&literal.path).starts_with("Request ::") => {
                    literal.path = parse_quote!(Request::Other);
                }
                _ => return false,
            }
            true
        },
    ));
    all.extend(mutator::expressions(
        file,
        "a part of the request left out",
        &|expression| {
            let Expr::Struct(literal) = expression else {
                return false;
            };
            literal.fields.pop();
            one_line(&literal.path).starts_with("Request ::")
        },
    ));
    all
}
