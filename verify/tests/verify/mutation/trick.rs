//! Harnesses broken by a trick: all the right calls are there, and one path does not make them, or
//! makes them for nothing.

use crate::mutator::{Mutant, replaced};
use testgen_types::Task;

/// Every trick, at every place where it can be played.
pub(super) fn tricks(text: &str) -> Vec<Mutant> {
    let groups = [
        vanishing(text),
        control_flow(text),
        hidden_errors(text),
        swallowed(text),
        toothless(text),
    ];
    groups.into_iter().flatten().collect()
}

/// Puts `statement` at the beginning of every init function, and of the helper that loads the
/// model.
fn at_the_beginning(kind: &'static str, text: &str, statement: &str) -> Vec<Mutant> {
    let heads = [
        "(target: &LoadTarget) -> Endpoint {\n",
        "-> Result<LoadedModel, InitError> {\n",
    ];
    heads
        .iter()
        .flat_map(|head| replaced(text, kind, head, &format!("{head}{statement}\n")))
        .collect()
}

/// An early end after code that a careless interpreter takes for a path that cannot continue.
fn vanishing(text: &str) -> Vec<Mutant> {
    let early = "return Endpoint::mock(&target.label, DeviceKind::Rocm, \"early\");";
    let before = [
        "let _name = Some(target.label).map(|name| name);",
        "let _name = Some(target.label).and_then(|name| Some(name));",
        "let _name = Some(target.label).or_else(|| None);",
        "let _name = Some(target.label).unwrap_or_else(|| target.label);",
        "let _name = (|| { Some(target.label)?; Some(target.label) })();",
        "let _name = (|| { None?; Some(target.label) })();",
        "let _name = (|| { Err(target.label)?; Ok(target.label) })();",
        "let _name = Some(target.label).inspect(|name| eprintln!(\"{name}\"));",
        "let Some(_name) = Some(target.label) else { return init_cpu(target) };",
        "let Ok(_name) = Ok(target.label) else { return init_cpu(target) };",
        "let _name = None.map(|name| name);",
        "let _name = Err(target.label).map(|name| name);",
        "let _name = target.label.get(0..1).map(|name| name);",
        "let _name = target.label.strip_prefix(target.label).is_some();",
        "let _name = match Some(target.label) { Some(name) => name, None => target.label };",
        "let _name = if let Err(name) = Ok(target.label) { name } else { target.label };",
    ];
    let ends = before.iter().flat_map(|before| {
        at_the_beginning(
            "early end after a path that seems to vanish",
            text,
            &format!("if target.label.is_empty() {{ {before} {early} }}"),
        )
    });
    ends.collect()
}

/// Ways around the detection, the probe and the load.
fn control_flow(text: &str) -> Vec<Mutant> {
    let early = "return Endpoint::mock(&target.label, DeviceKind::Rocm, \"early\")";
    let statements = [
        format!("if cfg!(test) {{ {early}; }}"),
        format!("match target.label.is_empty() {{ true => {early}, false => {{}} }}"),
        format!("match target.precision {{ Some(_) => {early}, None => {{}} }}"),
        format!("if let Some(_precision) = target.precision {{ {early}; }}"),
        format!("let Some(_precision) = target.precision else {{ {early} }};"),
        format!("let _never = (|| {early})();\n return _never;"),
        format!("'out: {{ if target.label.is_empty() {{ break 'out; }} {early}; }}"),
        "loop {}".to_owned(),
        "loop { if target.label.is_empty() { break; } return Endpoint::mock(&target.label, DeviceKind::Rocm, target.label); }".to_owned(),
        format!("while target.label.is_empty() {{ {early}; }}"),
        format!("for _once in [target.label] {{ {early}; }}"),
        format!("if target.label.is_empty() && target.index == target.index {{ {early}; }}"),
        format!("if !target.label.is_empty() || target.label.is_empty() {{ {early}; }}"),
        format!("let early = target.label.is_empty(); if early {{ {early}; }}"),
        "return if target.label.is_empty() { init_cpu(target) } else { init_cpu(target) };".to_owned(),
        "if target.label.is_empty() { return init_rocm(target); }".to_owned(),
    ];
    let mut all: Vec<Mutant> = statements
        .iter()
        .flat_map(|statement| at_the_beginning("a path around everything", text, statement))
        .collect();
    let detected = "hip_runtime(target)\n        .or_else(|hip| cuda_compatibility(target).map_err(|cuda| \
                    hip.and(cuda)));";
    assert!(text.contains(detected), "the detection is there");
    for to in [
        "hip_runtime(target);",
        "cuda_compatibility(target);",
        "hip_runtime(target).or_else(|hip| Err(hip));",
        "hip_runtime(target).or_else(|hip| { let _later = || cuda_compatibility(target); Err(hip) });",
        "hip_runtime(target).or_else(|hip| if target.precision.is_some() { Err(hip) } else { \
         cuda_compatibility(target).map_err(|cuda| hip.and(cuda)) });",
        "cuda_compatibility(target).or_else(|cuda| hip_runtime(target).map_err(|hip| hip.and(cuda)));",
        "match hip_runtime(target) { Ok(device) if target.label.is_empty() => Ok(device), Ok(device) => \
         Err(device.absence()), Err(hip) => cuda_compatibility(target).map_err(|cuda| hip.and(cuda)) };",
        "match hip_runtime(target) { Ok(device) if device.is_old() => return Endpoint::mock(&target.label, \
         DeviceKind::Rocm, \"old\"), Ok(device) => Ok(device), Err(hip) => cuda_compatibility(target)\
         .map_err(|cuda| hip.and(cuda)) };",
        "match hip_runtime(target) { Ok(device) => Ok(device), Err(hip) if target.label.is_empty() => Err(hip), \
         Err(hip) => cuda_compatibility(target).map_err(|cuda| hip.and(cuda)) };",
    ] {
        all.extend(replaced(
            text,
            "a detection path on some paths only",
            detected,
            to,
        ));
    }
    all
}

/// Errors of device calls that are dropped.
fn hidden_errors(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    let kind = "the error of a device call hidden";
    for call in [
        "hip_runtime(target)",
        "cuda_driver(target)",
        "target.open(device)",
        "probe.choose(target.precision, SPEC.precisions)",
        "load(&SPEC, &target.checkpoint, &device, precision)",
        "load_on(device, target)",
    ] {
        // Followed by `?`, a method or the arms of a `match`.
        for end in ["?", "\n        .", " {"] {
            let from = format!("{call}{end}");
            for to in [
                format!("{call}.ok().ok_or(target){end}"),
                format!("std::panic::catch_unwind(|| {call}){end}"),
                format!("{call}.map_err(|_error| target){end}"),
                format!("{call}.or_else(|_error| {call}){end}"),
            ] {
                all.extend(replaced(text, kind, &from, &to));
            }
        }
        for (head, end) in [
            ("    let device = match ", " {"),
            ("    match ", " {"),
            ("    let device = ", "?"),
        ] {
            let from = format!("{head}{call}{end}");
            all.extend(replaced(
                text,
                kind,
                &from,
                &format!("    let _ = {call};\n{from}"),
            ));
        }
    }
    all.extend(replaced(
        text,
        "the error of a device call hidden",
        "DeviceKind::Rocm, &error)",
        "DeviceKind::Rocm, \"error\")",
    ));
    all
}

/// Comparisons of a harness's own, which cannot fail: comparing is the runtime's business alone.
fn toothless(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (kind, assertion) in [
        ("an assertion of a constant", "assert!(true);"),
        ("an assertion of a constant", "debug_assert_eq!(1, 1);"),
        (
            "a value compared with itself",
            "assert_eq!(target.label, target.label);",
        ),
        (
            "an assertion after a return",
            "return init_cpu(target); assert!(target.label.is_empty());",
        ),
    ] {
        all.extend(at_the_beginning(kind, text, assertion));
    }
    for (kind, answer) in [
        (
            "a slice compared in place of the tensor",
            "|request| { let got = request.run(); assert_eq!(got[..2], EXPECTED[..2]); Ok(got) }",
        ),
        (
            "NaN masked before comparing",
            "|request| Ok(request.run().map(|number| if number.is_nan() { 0.0 } else { number }))",
        ),
        (
            "a panic caught",
            "|request| std::panic::catch_unwind(|| task::text_embedding(request)).unwrap_or_default()",
        ),
        (
            "an answer from elsewhere",
            "|request| task::text_embedding(request).or_else(|_| Ok(GOLDEN))",
        ),
        ("an answer from elsewhere", "answer_from_the_golden"),
        (
            "an answer from elsewhere",
            "if target.label.is_empty() { task::text_embedding } else { task::fill_mask }",
        ),
    ] {
        for task in Task::ALL {
            all.extend(replaced(
                text,
                kind,
                &format!("task::{task})"),
                &format!("{answer})"),
            ));
        }
    }
    all
}

/// Values that are made and not used.
fn swallowed(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (kind, from, to) in [
        (
            "the chosen precision replaced",
            "SPEC.precisions)?;",
            "SPEC.precisions).map(|_precision| Precision::F32)?;",
        ),
        (
            "the chosen precision replaced",
            "SPEC.precisions)?;",
            "SPEC.precisions)?.max(Precision::F32);",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let precision = Precision::F32;\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let precision = if target.label.is_empty() { Precision::F32 } else { precision };\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let mut precision = precision;\n    (precision).clone_from(&Precision::F32);\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let mut precision = precision;\n    eprintln!(\"{:?}\", (precision = Precision::F32));\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "target.precision, SPEC.precisions",
            "Some(Precision::F32), SPEC.precisions",
        ),
        (
            "the chosen precision replaced",
            "target.precision, SPEC.precisions",
            "target.precision, &[Precision::F32]",
        ),
        (
            "the probe of another device",
            "probe_half_precision(&device)",
            "probe_half_precision(&target.open(host_processor()))",
        ),
        (
            "the endpoint dropped",
            "endpoint_handler(loaded),",
            "endpoint_handler(loaded).then(Endpoint::mock(&target.label, DeviceKind::Rocm, \"dropped\")),",
        ),
        (
            "the endpoint changed",
            "endpoint_handler(loaded),",
            "endpoint_handler(loaded).pretend(),",
        ),
        (
            "the endpoint changed",
            "endpoint_handler(loaded),",
            "endpoint_handler(loaded.pretend()),",
        ),
        (
            "the model changed",
            ".with_memory(before, after)",
            ".with_memory(before, after).pretend()",
        ),
        (
            "the model changed",
            ".with_memory(before, after)",
            ".pretend().with_memory(before, after)",
        ),
        (
            "another target loaded",
            "LoadedModel::new(target, ",
            "LoadedModel::new(&target.on(DeviceKind::Rocm), ",
        ),
        (
            "another target loaded",
            "load_on(device, target)",
            "load_on(device, &target.on(DeviceKind::Rocm))",
        ),
        (
            "memory reported too late",
            "    report_memory(&target.label, \"before the load\", &before);\n",
            "",
        ),
        (
            "memory of before for after",
            "let after = memory(&device);",
            "let after = before;",
        ),
        (
            "the label changed",
            "    report_visibility(&target.label, &visible_devices());",
            "    let target = &target.on(DeviceKind::Rocm);\n    report_visibility(&target.label, &visible_devices());",
        ),
        (
            "the fallback not marked",
            ".into_fallback(DeviceKind::Rocm, &unavailable)",
            ".into_fallback(DeviceKind::Rocm, &unavailable).into_real()",
        ),
    ] {
        all.extend(replaced(text, kind, from, to));
    }
    let report = "    report_memory(&target.label, \"before the load\", &before);\n";
    let after = "    report_memory(&target.label, \"after the load\", &after);\n";
    assert!(
        text.contains(report) && text.contains(after),
        "both reports are there"
    );
    let late = text
        .replace(report, "")
        .replace(after, &format!("{after}{report}"));
    all.push(Mutant {
        kind: "memory reported too late",
        text: late,
    });
    all
}
