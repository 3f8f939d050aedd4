//! The other half of the proof: harmless changes cause no findings.

mod renamed;

use super::{
    good_harness,
    mutator::{self, Mutant, called, one_line},
    proof,
};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{Expr, File, Stmt, parse_quote};
use testgen_verify::{HarnessSource, verify_all};

/// Every function that harnesses import, with another name for it.
const ALIASES: [(&str, &str); 6] = [
    ("hip_runtime", "amd"),
    ("cuda_compatibility", "amd_through_cuda"),
    ("host_processor", "processor"),
    ("probe_half_precision", "probe_it"),
    ("report_visibility", "show_visibility"),
    ("visible_devices", "what_is_visible"),
];

#[test]
fn no_harmless_change_raises_an_alarm() {
    let (mut made, mut alarms) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for expectation in good_harness::models() {
        let text = good_harness::harness(&expectation);
        let file = syn::parse_file(&text).expect("the base parses");
        let variants = variants(&file, &text);
        let sources = variants.iter().map(|variant| HarnessSource {
            path: good_harness::PATH,
            text: &variant.text,
        });
        let asked: Vec<_> = sources.map(|source| (source, Some(&expectation))).collect();
        for (variant, findings) in variants.iter().zip(verify_all(&asked)) {
            *made.entry(variant.kind).or_default() += 1;
            if !findings.is_empty() {
                alarms.push(format!(
                    "{}: {}\n{findings:#?}\n{}",
                    expectation.name, variant.kind, variant.text
                ));
            }
        }
    }
    let total: usize = made.values().sum();
    println!(
        "{total} harmless variants of {} kinds, {} alarms: {made:#?}",
        made.len(),
        alarms.len()
    );
    assert!(
        alarms.is_empty(),
        "{} alarms\n{}",
        alarms.len(),
        alarms.join("\n----\n")
    );
    proof::record("Harmless variants", &made, alarms.len());
    assert!(made.len() >= 10 && (total >= 200 || mutator::is_reduced()));
}

fn variants(file: &File, text: &str) -> Vec<Mutant> {
    let groups = [
        texts(text),
        orders(file),
        renamed::renamed(file),
        rewritten(file),
        added(file, text),
    ];
    mutator::sample(groups.into_iter().flatten().collect())
}

/// Formatting, comments, and other names for imports.
fn texts(text: &str) -> Vec<Mutant> {
    let file = syn::parse_file(text).expect("the base parses");
    let mut all = vec![
        Mutant {
            kind: "formatted",
            text: prettyplease::unparse(&file),
        },
        Mutant {
            kind: "on one line",
            text: file.to_token_stream().to_string(),
        },
        Mutant {
            kind: "commented",
            text: text.replace(";\n", "; // unwrap(), if false, todo!()\n"),
        },
        Mutant {
            kind: "commented",
            text: text.replace("\n    let ", "\n    /* panic!(\"no\") */ let "),
        },
        Mutant {
            kind: "line ends",
            text: text.replace('\n', "\r\n"),
        },
    ];
    let (uses, body) = text.split_at(text.find("/// The model under test").expect("the spec"));
    for (name, alias) in ALIASES {
        let call = format!("{name}(");
        let aliased = uses.replace(&format!("{name},"), &format!("{name} as {alias},"));
        let aliased = aliased + &body.replace(&call, &format!("{alias}("));
        all.push(Mutant {
            kind: "imported under an alias",
            text: aliased,
        });
        let qualified = format!(
            "{uses}{}",
            body.replace(&call, &format!("testgen_runtime::{name}("))
        );
        all.push(Mutant {
            kind: "called by its full path",
            text: qualified,
        });
    }
    all.push(Mutant {
        kind: "called by its full path",
        text: body_qualified(uses, body),
    });
    all
}

fn body_qualified(uses: &str, body: &str) -> String {
    let body = body
        .replace("Endpoint::", "testgen_runtime::Endpoint::")
        .replace("task::", "testgen_runtime::task::");
    uses.to_owned() + &body.replace("&LoadTarget", "&testgen_runtime::LoadTarget")
}

/// Items in another order.
fn orders(file: &File) -> Vec<Mutant> {
    let turned = (1..file.items.len()).map(|turn| {
        let mut file = file.clone();
        file.items.rotate_left(turn);
        file
    });
    let mut reversed = file.clone();
    reversed.items.reverse();
    let all = turned.chain([reversed]);
    all.map(|file| Mutant {
        kind: "items reordered",
        text: prettyplease::unparse(&file),
    })
    .collect()
}

/// The same thing, written another way.
fn rewritten(file: &File) -> Vec<Mutant> {
    let mut all = mutator::expressions(file, "call in a block", &|expression| {
        let Some(_) =
            called(expression).filter(|name| name.chars().next().is_some_and(char::is_lowercase))
        else {
            return false;
        };
        *expression = parse_quote!({ #expression });
        true
    });
    all.extend(mutator::expressions(file, "`Err` first", &|expression| {
        let Expr::Match(inner) = expression else {
            return false;
        };
        inner.arms.reverse();
        inner
            .arms
            .iter_mut()
            .for_each(|arm| arm.comma = Some(Default::default()));
        true
    }));
    all.extend(mutator::expressions(
        file,
        "`if let` for `match`",
        &|expression| {
            let Expr::Match(inner) = expression else {
                return false;
            };
            let [ok, err] = inner.arms.as_slice() else {
                return false;
            };
            let (value, ok, ok_body, err, err_body) =
                (&inner.expr, &ok.pat, &ok.body, &err.pat, &err.body);
            // The interpreter knows that the second pattern matches where the first does not.
            let rewritten = parse_quote!({
                let outcome = #value;
                if let #ok = outcome {
                    #ok_body
                } else {
                    let #err = outcome else { return init_cpu(target) };
                    #err_body
                }
            });
            *expression = rewritten;
            true
        },
    ));
    all.extend(mutator::functions(file, "explicit return", &|function| {
        let Some(Stmt::Expr(last, None)) = function.block.stmts.pop() else {
            return false;
        };
        function.block.stmts.push(parse_quote!(return #last;));
        true
    }));
    all.extend(mutator::functions(file, "result named", &|function| {
        let Some(Stmt::Expr(last, None)) = function.block.stmts.pop() else {
            return false;
        };
        function.block.stmts.extend::<Vec<Stmt>>(vec![
            parse_quote!(let result = #last;),
            parse_quote!(return result;),
        ]);
        true
    }));
    all.extend(mutator::functions(
        file,
        "body in a closure that is called",
        &|function| {
            let block = &function.block;
            function.block = parse_quote!({ let body = || #block; body() });
            true
        },
    ));
    all.extend(helpers(file));
    all
}

/// The body in a private helper.
fn helpers(file: &File) -> Vec<Mutant> {
    mutator::items(file, "body in a helper", &|item| {
        let syn::Item::Fn(function) = item else {
            return None;
        };
        let mut helper = function.clone();
        helper.vis = syn::Visibility::Inherited;
        helper.sig.ident = quote::format_ident!("really_{}", function.sig.ident);
        let (name, mut outer) = (&helper.sig.ident, function.clone());
        let arguments = function.sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&typed.pat),
            syn::FnArg::Receiver(_) => None,
        });
        outer.block = parse_quote!({ #name(#(#arguments),*) });
        Some(vec![syn::Item::Fn(outer), syn::Item::Fn(helper)])
    })
}

/// Further code that changes nothing.
fn added(file: &File, text: &str) -> Vec<Mutant> {
    let mut all = mutator::statements(file, "printing added", &|statement| {
        Some(vec![
            parse_quote!(eprintln!("going on");),
            statement.clone(),
        ])
    });
    all.extend(mutator::statements(file, "condition added", &|statement| {
        Some(vec![
            parse_quote!(if visible_devices().is_set() {
                eprintln!("there are variables");
            }),
            statement.clone(),
        ])
    }));
    all.extend(mutator::functions(
        file,
        "documentation added",
        &|function| {
            function
                .attrs
                .push(parse_quote!(#[doc = " if false { unwrap() }"]));
            function.sig.ident.to_string().starts_with("init_") || one_line(function).contains("fn")
        },
    ));
    for more in [
        "",
        "Skip::on_in_precision(DeviceKind::Cpu, Precision::F16, Check::Placement, \"takes an hour\"), ",
    ] {
        let list = format!("skipped: (&[{more}");
        let text = text
            .replace("skipped: &[", &list)
            .replace("\n    ],\n};", "\n    ]),\n};");
        all.push(Mutant {
            kind: "skip repeated",
            text,
        });
    }
    let marked = text.replace("into_fallback(DeviceKind::Rocm,", "into_fallback(AMD,");
    let constant = format!("{marked}\nconst AMD: DeviceKind = DeviceKind::Rocm;\n");
    all.push(Mutant {
        kind: "constant extracted",
        text: constant,
    });
    let unused =
        format!("{text}\n/// Never called.\nfn unused(number: u8) -> u8 {{\n    number + 1\n}}\n");
    all.push(Mutant {
        kind: "helper added",
        text: unused,
    });
    all
}
