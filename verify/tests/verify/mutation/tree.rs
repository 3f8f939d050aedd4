//! Harnesses broken in their functions: bodies, calls, what names mean.

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
