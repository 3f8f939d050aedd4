//! Harnesses broken in their words, their items, their header and their list of checks.

use crate::mutator::{self, Mutant, one_line};
use syn::{Expr, File, Item, parse_quote};
use testgen_verify::Expectation;

/// One word for another.
pub(super) fn words(file: &File, text: &str) -> Vec<Mutant> {
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
pub(super) fn outside(file: &File, text: &str) -> Vec<Mutant> {
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
pub(super) fn lists(text: &str, expectation: &Expectation) -> Vec<Mutant> {
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
