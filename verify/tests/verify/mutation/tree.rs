//! Harnesses broken in their functions: bodies, calls, what names mean, where values come from.

use crate::mutator::{self, Mutant, called, kind_of, one_line};
use syn::{Expr, File, Item, Stmt, Visibility, parse_quote};

const RUNTIME: [&str; 11] = [
    "cuda_compatibility",
    "cuda_driver",
    "hip_runtime",
    "host_processor",
    "load",
    "memory",
    "probe_half_precision",
    "report_memory",
    "report_probe",
    "report_visibility",
    "visible_devices",
];

/// Whole bodies.
pub(super) fn bodies(file: &File) -> Vec<Mutant> {
    let functions =
        |kind, change: &dyn Fn(&mut syn::ItemFn) -> bool| mutator::functions(file, kind, change);
    let body = |kind, make: &dyn Fn(&syn::ItemFn) -> syn::Block| {
        functions(kind, &|function| {
            *function.block = make(function);
            true
        })
    };
    let mut all = body("body commented out", &|_| parse_quote!({}));
    all.extend(body("body not implemented", &|_| parse_quote!({ todo!() })));
    all.extend(body("body is a string with all the words", &|function| {
        let (words, kind) = (one_line(&function.block), kind_of(function));
        parse_quote!({
            let words = #words;
            Endpoint::mock(&target.label, #kind, words)
        })
    }));
    all.extend(body(
        "body in a closure that is never called",
        &|function| {
            let (block, kind) = (&function.block, kind_of(function));
            parse_quote!({
                let _body = || #block;
                Endpoint::mock(&target.label, #kind, "later")
            })
        },
    ));
    all.extend(body("body in `if false`", &|function| {
        let (block, kind) = (&function.block, kind_of(function));
        parse_quote!({
            if false #block else { Endpoint::mock(&target.label, #kind, "never") }
        })
    }));
    all.extend(body("body after a return", &|function| {
        let (block, kind) = (&function.block, kind_of(function));
        parse_quote!({
            return Endpoint::mock(&target.label, #kind, "early");
            #[expect(unreachable_code, reason = "kept for later")]
            #block
        })
    }));
    all.extend(functions("function renamed", &|function| {
        function.sig.ident = quote::format_ident!("{}_disabled", function.sig.ident);
        true
    }));
    all.extend(functions("function not public", &|function| {
        let is_public = matches!(function.vis, Visibility::Public(_));
        function.vis = Visibility::Inherited;
        is_public
    }));
    all.extend(functions("function switched off", &|function| {
        function.attrs.push(parse_quote!(#[cfg(feature = "later")]));
        true
    }));
    all.extend(functions("a parameter of another type", &|function| {
        *function.sig.inputs.last_mut().expect("a parameter") = parse_quote!(target: String);
        // The compiler alone compares the parameters of a helper with what it is called with.
        matches!(function.vis, Visibility::Public(_))
    }));
    let others = ["init_cpu", "init_cuda", "init_rocm"];
    for other in others.map(|name| quote::format_ident!("{name}")) {
        all.extend(functions("another device under this label", &|function| {
            function.block = parse_quote!({ #other(target) });
            function.sig.ident.to_string().starts_with("init_")
        }));
    }
    all
}

/// Calls and statements that no longer happen, or not always.
pub(super) fn moved(file: &File) -> Vec<Mutant> {
    let mut all = mutator::statements(file, "statement removed", &|_| Some(Vec::new()));
    all.extend(mutator::statements(
        file,
        "statement in `if false`",
        &|statement| match statement {
            Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(if false { #statement })]),
            _ => None,
        },
    ));
    all.extend(mutator::statements(
        file,
        "statement on some paths only",
        &|statement| match statement {
            Stmt::Expr(_, Some(_)) => Some(vec![
                parse_quote!(if visible_devices().is_strict() { #statement }),
            ]),
            _ => None,
        },
    ));
    all.extend(mutator::statements(
        file,
        "statement in a closure",
        &|statement| match statement {
            Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(let _later = || { #statement };)]),
            _ => None,
        },
    ));
    all.extend(mutator::statements(
        file,
        "statement in a nested function",
        &|statement| match statement {
            Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(fn later() { #statement })]),
            _ => None,
        },
    ));
    all.extend(mutator::blocks(file, "early return", &|block| {
        block.stmts.insert(
            0,
            parse_quote!(return Endpoint::mock(&SPEC.label, DeviceKind::Rocm, "early");),
        );
        true
    }));
    all.extend(mutator::blocks(
        file,
        "early return on some paths",
        &|block| {
            let early = parse_quote!(if visible_devices().is_strict() {
                return Endpoint::mock(&SPEC.label, DeviceKind::Rocm, "early");
            });
            block.stmts.insert(0, early);
            true
        },
    ));
    all.extend(mutator::expressions(
        file,
        "call commented out of a string",
        &|expression| {
            let Some(name) = called(expression) else {
                return false;
            };
            *expression = parse_quote!(#name);
            true
        },
    ));
    all
}

/// Other things under the same names.
pub(super) fn shadows(file: &File) -> Vec<Mutant> {
    let mut all = Vec::new();
    for name in RUNTIME {
        let ident = quote::format_ident!("{name}");
        let add = |kind, item: Item| {
            let mut file = file.clone();
            file.items.push(item);
            Mutant {
                kind,
                text: prettyplease::unparse(&file),
            }
        };
        all.push(add(
            "shadowed by a function",
            parse_quote!(fn #ident<T>(given: T) -> Result<T, T> { Ok(given) }),
        ));
        all.push(add(
            "shadowed by a macro",
            parse_quote!(macro_rules! #ident { () => {}; }),
        ));
        all.push(add(
            "shadowed by another import",
            parse_quote!(use crate::mine::#ident;),
        ));
        let calls = one_line(file).contains(&format!("{name} ("));
        assert!(calls, "{name} is called");
        all.extend(mutator::functions(
            file,
            "shadowed by a nested function",
            &|function| {
                let calls = one_line(&function.block).contains(&format!("{name} ("));
                function.block.stmts.insert(
                    0,
                    parse_quote!(fn #ident<T>(given: T) -> Result<T, T> { Ok(given) }),
                );
                calls
            },
        ));
        all.extend(mutator::functions(
            file,
            "shadowed by a local closure",
            &|function| {
                let calls = one_line(&function.block).contains(&format!("{name} ("));
                function
                    .block
                    .stmts
                    .insert(0, parse_quote!(let #ident = |_given| Ok(SPEC);));
                calls
            },
        ));
        all.extend(mutator::expressions(
            file,
            "call of what is not defined",
            &|expression| {
                let Expr::Call(call) = expression else {
                    return false;
                };
                let matches = one_line(&call.func) == name;
                if matches {
                    let undefined = quote::format_ident!("{name}_somehow");
                    call.func = parse_quote!(#undefined);
                }
                matches
            },
        ));
    }
    all
}

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
