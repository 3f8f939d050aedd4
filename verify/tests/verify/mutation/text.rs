//! Harnesses broken in their words, their items, their header and their skips.

use crate::mutator::{self, Mutant, one_line};
use syn::{Expr, File, Item, parse_quote};
use testgen_types::{Check, Registration, engine_checks, required_checks};
use testgen_verify::Expectation;

/// One word for another.
pub(super) fn words(file: &File, text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    let kinds = ["Cpu", "Cuda", "Rocm"];
    for (from, to) in kinds
        .iter()
        .flat_map(|from| kinds.iter().map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
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
    for to in [
        "&Label::new(SPEC.name, DeviceKind::Rocm)",
        "&target.on(DeviceKind::Rocm).label",
        "\"rocm\"",
    ] {
        all.extend(mutator::occurrences(
            text,
            "wrong label",
            "&target.label",
            to,
        ));
    }
    for to in [
        "target",
        "&target.clone()",
        "&target.on(DeviceKind::Rocm).on(DeviceKind::Cuda)",
    ] {
        all.extend(mutator::occurrences(
            text,
            "wrong target",
            "&target.on(DeviceKind::Cpu)",
            to,
        ));
    }
    for to in ["with_memory(after, after)", "with_memory(after, before)"] {
        all.extend(mutator::occurrences(
            text,
            "wrong order",
            "with_memory(before, after)",
            to,
        ));
    }
    all.extend(mutator::occurrences(
        text,
        "wrong precision",
        "&device, precision)",
        "&device, Precision::F32)",
    ));
    let answer = "|_request| Ok(Default::default()))";
    for task in [
        "task::text_embedding)",
        "task::fill_mask)",
        "task::text_generation)",
        "task::image_classification)",
    ] {
        all.extend(mutator::occurrences(
            text,
            "success without running",
            task,
            answer,
        ));
        all.extend(mutator::occurrences(
            text,
            "wrong task",
            task,
            "task::question_answering)",
        ));
    }
    all.extend(mutator::occurrences(
        text,
        "wrong handler",
        "create_rocm_",
        "create_cpu_",
    ));
    all.extend(mutator::occurrences(
        text,
        "panics",
        "Endpoint::mock(&target.label, ",
        "panic!(\"{} {}\", ",
    ));
    all.extend(mutator::occurrences(
        text,
        "unsafe",
        "target.open(",
        "unsafe { target }.open(",
    ));
    all
}

/// Items and the header.
pub(super) fn outside(file: &File, text: &str) -> Vec<Mutant> {
    let mut all = mutator::items(file, "item removed", &|_| Some(Vec::new()));
    all.extend(mutator::items(file, "item twice", &|item| match item {
        Item::Use(_) => None,
        item => Some(vec![item.clone(), item.clone()]),
    }));
    all.extend(mutator::items(file, "item in a module", &|item| {
        Some(vec![parse_quote!(mod hidden { #item })])
    }));
    all.extend(mutator::items(file, "warning hidden", &|item| {
        let mut file: File = parse_quote!(
            #[allow(warnings)]
            const _: () = ();
        );
        let Item::Const(allowed) = file.items.remove(0) else {
            return None;
        };
        match item.clone() {
            Item::Fn(mut function) => {
                function.attrs.extend(allowed.attrs);
                Some(vec![Item::Fn(function)])
            }
            _ => None,
        }
    }));
    for (number, line) in text
        .lines()
        .take(5)
        .enumerate()
        .filter(|(_, line)| line.len() > 3)
    {
        all.extend(
            mutator::occurrences(text, "header line removed", line, "//!")
                .into_iter()
                .take(1),
        );
        let changed = line.replace(['a', '0'], "b");
        all.extend(
            mutator::occurrences(text, "header line changed", line, &changed)
                .into_iter()
                .take(usize::from(number > 1)),
        );
    }
    for (from, to) in [
        ("init_rocm,\n", "init_rocm: init_cpu,\n"),
        ("init_cuda,\n", "init_cuda: init_rocm,\n"),
    ] {
        all.extend(mutator::occurrences(
            text,
            "wrong function handed out",
            from,
            to,
        ));
    }
    for (from, to) in [
        (
            "memory, probe_half_precision",
            "memory as probe_half_precision, probe_half_precision as memory",
        ),
        ("load, memory", "host_processor as load, memory"),
    ] {
        all.extend(
            mutator::occurrences(text, "imports change places", from, to)
                .into_iter()
                .take(1),
        );
    }
    let swapped = text.replace(
        "hip_runtime, host_processor",
        "hip_runtime as host_processor, host_processor as hip_runtime",
    );
    all.push(Mutant {
        kind: "imports change places",
        text: swapped,
    });
    for (from, to) in [
        ("name: \"", "name: \"x"),
        ("DeviceKind::Rocm],", "],"),
        ("Precision::F16, ", ""),
        ("task: Task::", "task: task::"),
    ] {
        all.extend(
            mutator::occurrences(text, "spec changed", from, to)
                .into_iter()
                .take(1),
        );
    }
    all
}

/// The list of skips.
pub(super) fn skips(text: &str, expectation: &Expectation) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut required = required_checks(
        expectation.architecture,
        &expectation.devices,
        &expectation.precisions,
    );
    required.extend(engine_checks(
        expectation.architecture,
        &expectation.devices,
        &expectation.precisions,
    ));
    let listed = "skipped: &[";
    for Registration {
        device,
        check,
        precision,
    } in required
    {
        let [device, check, precision] = [
            device.variant_name(),
            check.variant_name(),
            precision.variant_name(),
        ];
        let skip = format!(
            "{listed}Skip::on_in_precision(DeviceKind::{device}, Precision::{precision}, Check::{check}, \"slow\"), "
        );
        all.extend(mutator::replaced(text, "check skipped", listed, &skip));
    }
    for &check in Check::ALL {
        let skip = format!(
            "{listed}Skip::new(Check::{}, \"slow\"), ",
            check.variant_name()
        );
        all.extend(mutator::replaced(
            text,
            "check skipped everywhere",
            listed,
            &skip,
        ));
    }
    let reason = &expectation.skips[0].reason;
    for (kind, from, to) in [
        ("skip without a reason", reason.as_str(), ""),
        ("skip with another reason", reason.as_str(), "slow"),
        ("skip commented out", "        Skip::", "        // Skip::"),
        (
            "skip with another restriction",
            "Precision::F16, Check::",
            "Precision::F32, Check::",
        ),
        (
            "skip with another restriction",
            "on_in_precision(DeviceKind::Cpu,",
            "on_in_precision(DeviceKind::Rocm,",
        ),
        ("skip of another check", "Check::Placement", "Check::Finite"),
        (
            "skip that does not exist",
            "Skip::on_in_precision",
            "Skip::always",
        ),
        ("skips computed", listed, "skipped: SKIPS, // &["),
        ("skips computed", listed, "skipped: &[SKIP, "),
    ] {
        all.extend(mutator::replaced(text, kind, from, to));
    }
    all
}
