//! The mutation proof: no broken harness is accepted.

use super::{
    base,
    mutator::{self, Mutant, called, kind_of, one_line},
};
use std::collections::BTreeMap;
use syn::{Expr, File, Item, Stmt, Visibility, parse_quote};
use testgen_verify::{Expectation, Source, verify_all};

/// How many mutants of a kind and a model an ordinary run looks at.
const SAMPLE: usize = 12;

const RUNTIME: [&str; 12] = [
    "cuda_compatibility",
    "cuda_driver",
    "hip_runtime",
    "host_processor",
    "load",
    "memory",
    "open",
    "probe_half_precision",
    "report_memory",
    "report_probe",
    "report_visibility",
    "visible_devices",
];

#[test]
fn no_broken_harness_is_accepted() {
    let (mut made, mut accepted) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for expectation in base::models() {
        let text = base::harness(&expectation);
        let file = syn::parse_file(&text).expect("the base parses");
        let mutants = mutants(&file, &text, &expectation);
        let sources = mutants.iter().map(|mutant| Source { path: base::PATH, text: &mutant.text });
        let asked: Vec<_> = sources.map(|source| (source, Some(&expectation))).collect();
        for (mutant, findings) in mutants.iter().zip(verify_all(&asked)) {
            *made.entry(mutant.kind).or_default() += 1;
            if findings.is_empty() {
                accepted.push(format!("{}: {}\n{}", expectation.name, mutant.kind, mutant.text));
            }
        }
    }
    let total: usize = made.values().sum();
    println!("{total} broken harnesses of {} kinds, {} accepted: {made:#?}", made.len(), accepted.len());
    assert!(accepted.is_empty(), "{} accepted\n{}", accepted.len(), accepted.join("\n----\n"));
    assert!(made.len() >= 20 && total >= 500 && made.values().all(|&count| count > 0));
}

fn mutants(file: &File, text: &str, expectation: &Expectation) -> Vec<Mutant> {
    let groups = [bodies(file), moved(file), shadows(file), flows(file), words(file, text), outside(file, text)];
    let mut all: Vec<Mutant> = groups.into_iter().flatten().collect();
    all.extend(lists(text, expectation));
    sample(all)
}

/// Of each kind every mutant when `TESTGEN_ALL_MUTANTS` is set, else at most [`SAMPLE`], spread evenly.
fn sample(all: Vec<Mutant>) -> Vec<Mutant> {
    if std::env::var_os("TESTGEN_ALL_MUTANTS").is_some() {
        return all;
    }
    let mut kinds: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    all.into_iter().for_each(|mutant| kinds.entry(mutant.kind).or_default().push(mutant));
    let spread = kinds.into_values().flat_map(|mutants| {
        let step = mutants.len().div_ceil(SAMPLE).max(1);
        mutants.into_iter().step_by(step)
    });
    spread.collect()
}

/// Whole bodies.
fn bodies(file: &File) -> Vec<Mutant> {
    let functions = |kind, change: &dyn Fn(&mut syn::ItemFn) -> bool| mutator::functions(file, kind, change);
    let body = |kind, make: &dyn Fn(&syn::ItemFn) -> syn::Block| {
        functions(kind, &|function| {
            function.block = Box::new(make(function));
            true
        })
    };
    let mut all = body("body commented out", &|_| parse_quote!({}));
    all.extend(body("body not implemented", &|_| parse_quote!({ todo!() })));
    all.extend(body("body is a string with all the words", &|function| {
        let (words, kind) = (one_line(&function.block), kind_of(function));
        parse_quote!({
            let words = #words;
            Endpoint::mock(label, #kind, words)
        })
    }));
    all.extend(body("body in a closure that is never called", &|function| {
        let (block, kind) = (&function.block, kind_of(function));
        parse_quote!({
            let _body = || #block;
            Endpoint::mock(label, #kind, "later")
        })
    }));
    all.extend(body("body behind `if false`", &|function| {
        let (block, kind) = (&function.block, kind_of(function));
        parse_quote!({
            if false #block else { Endpoint::mock(label, #kind, "never") }
        })
    }));
    all.extend(body("body behind a return", &|function| {
        let (block, kind) = (&function.block, kind_of(function));
        parse_quote!({
            return Endpoint::mock(label, #kind, "early");
            #[expect(unreachable_code, reason = "kept for later")]
            #block
        })
    }));
    all.extend(functions("function renamed", &|function| {
        function.sig.ident = quote::format_ident!("{}_disabled", function.sig.ident);
        true
    }));
    all.extend(functions("function not public", &|function| {
        function.vis = Visibility::Inherited;
        true
    }));
    all.extend(functions("function switched off", &|function| {
        function.attrs.push(parse_quote!(#[cfg(feature = "later")]));
        true
    }));
    all.extend(functions("a parameter of another type", &|function| {
        *function.sig.inputs.last_mut().expect("a parameter") = parse_quote!(label: String);
        true
    }));
    let others = ["init_cpu", "init_cuda", "init_rocm"];
    for other in others.map(|name| quote::format_ident!("{name}")) {
        all.extend(functions("another device under this label", &|function| {
            function.block = parse_quote!({ #other(checkpoint, request, label) });
            function.sig.ident.to_string().starts_with("init_")
        }));
    }
    all
}

/// Calls and statements that no longer happen, or not always.
fn moved(file: &File) -> Vec<Mutant> {
    let mut all = mutator::statements(file, "statement removed", &|_| Some(Vec::new()));
    all.extend(mutator::statements(file, "statement behind `if false`", &|statement| match statement {
        Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(if false { #statement })]),
        _ => None,
    }));
    all.extend(mutator::statements(file, "statement on some ways only", &|statement| match statement {
        Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(if request.is_strict() { #statement })]),
        _ => None,
    }));
    all.extend(mutator::statements(file, "statement in a closure", &|statement| match statement {
        Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(let _later = || { #statement };)]),
        _ => None,
    }));
    all.extend(mutator::statements(file, "statement in a nested function", &|statement| match statement {
        Stmt::Expr(_, Some(_)) => Some(vec![parse_quote!(fn later() { #statement })]),
        _ => None,
    }));
    all.extend(mutator::blocks(file, "early return", &|block| {
        block.stmts.insert(0, parse_quote!(return Endpoint::mock(label, DeviceKind::Rocm, "early");));
        true
    }));
    all.extend(mutator::blocks(file, "early return on some ways", &|block| {
        let early = parse_quote!(if label.is_empty() {
            return Endpoint::mock(label, DeviceKind::Rocm, "early");
        });
        block.stmts.insert(0, early);
        true
    }));
    all.extend(mutator::expressions(file, "call commented out of a string", &|expression| {
        let Some(name) = called(expression) else { return false };
        *expression = parse_quote!(#name);
        true
    }));
    all
}

/// Other things under the same names.
fn shadows(file: &File) -> Vec<Mutant> {
    let mut all = Vec::new();
    for name in RUNTIME {
        let ident = quote::format_ident!("{name}");
        let add = |kind, item: Item| {
            let mut file = file.clone();
            file.items.push(item);
            Mutant { kind, text: prettyplease::unparse(&file) }
        };
        all.push(add("shadowed by a function", parse_quote!(fn #ident<T>(given: T) -> Result<T, T> { Ok(given) })));
        all.push(add("shadowed by a macro", parse_quote!(macro_rules! #ident { () => {}; })));
        all.push(add("shadowed by another import", parse_quote!(use crate::mine::#ident;)));
        let calls = one_line(file).contains(&format!("{name} ("));
        assert!(calls, "{name} is called");
        all.extend(mutator::functions(file, "shadowed by a nested function", &|function| {
            let calls = one_line(&function.block).contains(&format!("{name} ("));
            function.block.stmts.insert(0, parse_quote!(fn #ident<T>(given: T) -> Result<T, T> { Ok(given) }));
            calls
        }));
        all.extend(mutator::functions(file, "shadowed by a local closure", &|function| {
            let calls = one_line(&function.block).contains(&format!("{name} ("));
            function.block.stmts.insert(0, parse_quote!(let #ident = |_given| Ok(label);));
            calls
        }));
        all.extend(mutator::expressions(file, "call of what is not defined", &|expression| {
            let Expr::Call(call) = expression else { return false };
            let matches = one_line(&call.func) == name;
            if matches {
                let undefined = quote::format_ident!("{name}_somehow");
                call.func = parse_quote!(#undefined);
            }
            matches
        }));
    }
    all
}

/// Values that come from elsewhere or go nowhere.
fn flows(file: &File) -> Vec<Mutant> {
    let mut all = mutator::expressions(file, "call swapped for a constant", &|expression| {
        let replaced = called(expression).is_some();
        *expression = parse_quote!(Ok(SPEC.source));
        replaced
    });
    all.extend(mutator::expressions(file, "result unwrapped", &|expression| {
        let Expr::Match(inner) = expression else { return false };
        let scrutinee = &inner.expr;
        *expression = parse_quote!(#scrutinee.unwrap());
        true
    }));
    all.extend(mutator::expressions(file, "result not looked at", &|expression| {
        let Expr::Match(inner) = expression else { return false };
        *expression = inner.expr.as_ref().clone();
        true
    }));
    for position in 0..5 {
        for other in ["checkpoint", "request", "label"].map(|name| quote::format_ident!("{name}")) {
            all.extend(mutator::expressions(file, "another argument", &|expression| {
                let Expr::Call(call) = expression else { return false };
                let Some(argument) = call.args.get_mut(position) else { return false };
                let others: Expr = parse_quote!(#other);
                let same = one_line(argument).trim_start_matches("& ") == one_line(&others);
                if !same {
                    *argument = others;
                }
                !same
            }));
        }
    }
    all.extend(mutator::expressions(file, "arguments swapped", &|expression| {
        let arguments = match expression {
            Expr::Call(call) => &mut call.args,
            Expr::MethodCall(call) => &mut call.args,
            _ => return false,
        };
        let mut swapped: Vec<Expr> = arguments.iter().cloned().collect();
        swapped.reverse();
        *arguments = swapped.into_iter().collect();
        arguments.len() > 1
    }));
    all.extend(mutator::expressions(file, "method call dropped", &|expression| {
        let Expr::MethodCall(call) = expression else { return false };
        *expression = call.receiver.as_ref().clone();
        true
    }));
    all.extend(mutator::expressions(file, "index fixed", &|expression| {
        let is_index = one_line(expression) == "request . index";
        *expression = parse_quote!(0);
        is_index
    }));
    all.extend(mutator::arms(file, "`Ok` and `Err` change places", &|arm| {
        let swapped = match one_line(&arm.pat) {
            pattern if pattern.starts_with("Ok") => pattern.replacen("Ok", "Err", 1),
            pattern => pattern.replacen("Err", "Ok", 1),
        };
        arm.pat = syn::parse::Parser::parse_str(syn::Pat::parse_single, &swapped).expect("a pattern");
        true
    }));
    all.retain(|mutant| mutant.text != prettyplease::unparse(file));
    all
}

/// One word for another.
fn words(file: &File, text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    let kinds = ["Cpu", "Cuda", "Rocm"];
    for (from, to) in
        kinds.iter().flat_map(|from| kinds.iter().map(move |to| (from, to))).filter(|(from, to)| from != to)
    {
        let to: Expr = syn::parse_str(&format!("DeviceKind::{to}")).expect("a path");
        all.extend(mutator::expressions(file, "wrong device", &|expression| {
            let matches = one_line(expression) == format!("DeviceKind :: {from}");
            if matches {
                *expression = to.clone();
            }
            matches
        }));
    }
    for (from, to) in [("\"rocm\"", "\"cuda\""), ("\"cuda\"", "\"rocm\""), ("\"cpu\"", "\"rocm\"")] {
        all.extend(mutator::occurrences(text, "wrong label", from, to));
    }
    all.extend(mutator::occurrences(text, "wrong order", "with_memory(before, after)", "with_memory(after, after)"));
    all.extend(mutator::occurrences(text, "wrong precision", "&device, precision)", "&device, Precision::F32)"));
    let answer = "|_request| Ok(Default::default()))";
    for task in ["task::text_embedding)", "task::fill_mask)", "task::text_generation)", "task::image_classification)"] {
        all.extend(mutator::occurrences(text, "success without running", task, answer));
        all.extend(mutator::occurrences(text, "wrong task", task, "task::question_answering)"));
    }
    all.extend(mutator::occurrences(text, "wrong handler", "create_rocm_", "create_cpu_"));
    all.extend(mutator::occurrences(text, "panics", "return Endpoint::mock(label, ", "panic!(\"{} {}\", "));
    all.extend(mutator::occurrences(text, "unsafe", "open(", "unsafe { open }("));
    all
}

/// Items and the header.
fn outside(file: &File, text: &str) -> Vec<Mutant> {
    let mut all = mutator::items(file, "item removed", &|_| Some(Vec::new()));
    all.extend(mutator::items(file, "item twice", &|item| match item {
        Item::Use(_) => None,
        item => Some(vec![item.clone(), item.clone()]),
    }));
    all.extend(mutator::items(file, "item in a module", &|item| Some(vec![parse_quote!(mod hidden { #item })])));
    all.extend(mutator::items(file, "warning hidden", &|item| {
        let mut file: File = parse_quote!(
            #[allow(warnings)]
            const _: () = ();
        );
        let Item::Const(allowed) = file.items.remove(0) else { return None };
        match item.clone() {
            Item::Fn(mut function) => {
                function.attrs.extend(allowed.attrs);
                Some(vec![Item::Fn(function)])
            }
            _ => None,
        }
    }));
    for (number, line) in text.lines().take(5).enumerate().filter(|(_, line)| line.len() > 3) {
        all.extend(mutator::occurrences(text, "header line removed", line, "//!").into_iter().take(1));
        let changed = line.replace(['a', '0'], "b");
        all.extend(
            mutator::occurrences(text, "header line changed", line, &changed).into_iter().take(usize::from(number > 1)),
        );
    }
    for (from, to) in [("init_rocm,\n", "init_rocm: init_cpu,\n"), ("init_cuda,\n", "init_cuda: init_rocm,\n")] {
        all.extend(mutator::occurrences(text, "wrong function handed out", from, to));
    }
    for (from, to) in [("memory, open", "memory as open, open as memory"), ("load,", "host_processor as load,")] {
        all.extend(mutator::occurrences(text, "imports change places", from, to).into_iter().take(1));
    }
    let swapped =
        text.replace("hip_runtime, host_processor", "hip_runtime as host_processor, host_processor as hip_runtime");
    all.push(Mutant { kind: "imports change places", text: swapped });
    for (from, to) in [
        ("name: \"", "name: \"x"),
        ("DeviceKind::Rocm],", "],"),
        ("Precision::F16, ", ""),
        ("task: Task::", "task: task::"),
    ] {
        all.extend(mutator::occurrences(text, "spec changed", from, to).into_iter().take(1));
    }
    all
}

/// The list of checks.
fn lists(text: &str, expectation: &Expectation) -> Vec<Mutant> {
    let mut all = Vec::new();
    for line in text.lines().filter(|line| line.trim_start().starts_with("Registered::")) {
        let line = format!("{line}\n");
        let one = |kind, to: &str| Mutant { kind, text: text.replacen(&line, to, 1) };
        all.push(one("check not listed", ""));
        all.push(one("check commented out", &format!("        // {}", line.trim_start())));
        all.push(one("check twice", &line.repeat(2)));
        all.push(one("check skipped", &line.replace("run(", "skip(").replace(")", ", \"slow\")")));
        all.push(one("check that does not exist", &line.replace("Check::", "Check::Almost")));
    }
    let reason = &expectation.skips[0].1;
    all.push(Mutant { kind: "skip without a reason", text: text.replace(reason, "") });
    all
}
