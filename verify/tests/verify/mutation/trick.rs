//! Harnesses broken by a trick: all the right calls are there, and one way does not make them, or makes them for nothing.

use crate::mutator::{Mutant, replaced};
use testgen_contract::Task;

/// Every trick, at every place where it can be played.
pub(super) fn tricks(text: &str) -> Vec<Mutant> {
    let groups = [vanishing(text), control_flow(text), hidden_errors(text), swallowed(text), toothless(text)];
    groups.into_iter().flatten().collect()
}

/// Puts `statement` at the beginning of every init function.
fn at_the_beginning(kind: &'static str, text: &str, statement: &str) -> Vec<Mutant> {
    replaced(text, kind, "label: &str) -> Endpoint {\n", &format!("label: &str) -> Endpoint {{\n{statement}\n"))
}

/// An early end behind something that a careless reader takes for a way that cannot go on.
fn vanishing(text: &str) -> Vec<Mutant> {
    let early = "return Endpoint::mock(label, DeviceKind::Rocm, \"early\");";
    let before = [
        "let _name = Some(label).map(|name| name);",
        "let _name = Some(label).and_then(|name| Some(name));",
        "let _name = Some(label).or_else(|| None);",
        "let _name = Some(label).unwrap_or_else(|| label);",
        "let _name = (|| { Some(label)?; Some(label) })();",
        "let _name = (|| { None?; Some(label) })();",
        "let _name = (|| { Err(label)?; Ok(label) })();",
        "let _name = Some(label).inspect(|name| eprintln!(\"{name}\"));",
        "let Some(_name) = Some(label) else { return init_cpu(checkpoint, request, label) };",
        "let Ok(_name) = Ok(label) else { return init_cpu(checkpoint, request, label) };",
        "let _name = None.map(|name| name);",
        "let _name = Err(label).map(|name| name);",
        "let _name = label.get(0..1).map(|name| name);",
        "let _name = label.strip_prefix(label).is_some();",
        "let _name = match Some(label) { Some(name) => name, None => label };",
        "let _name = if let Err(name) = Ok(label) { name } else { label };",
    ];
    let ends = before.iter().flat_map(|before| {
        at_the_beginning(
            "early end behind a way that seems to vanish",
            text,
            &format!("if label.is_empty() {{ {before} {early} }}"),
        )
    });
    ends.collect()
}

/// Ways around the detection, the probe and the load.
fn control_flow(text: &str) -> Vec<Mutant> {
    let early = "return Endpoint::mock(label, DeviceKind::Rocm, \"early\")";
    let statements = [
        format!("if cfg!(test) {{ {early}; }}"),
        format!("match label.is_empty() {{ true => {early}, false => {{}} }}"),
        format!("match request.precision {{ Some(_) => {early}, None => {{}} }}"),
        format!("if let Some(_precision) = request.precision {{ {early}; }}"),
        format!("let Some(_precision) = request.precision else {{ {early} }};"),
        format!("let _never = (|| {early})();\n return _never;"),
        format!("'out: {{ if label.is_empty() {{ break 'out; }} {early}; }}"),
        "loop {}".to_owned(),
        "loop { if label.is_empty() { break; } return Endpoint::mock(label, DeviceKind::Rocm, label); }".to_owned(),
        format!("while label.is_empty() {{ {early}; }}"),
        format!("for _once in [label] {{ {early}; }}"),
        format!("if label.is_empty() && request.index == request.index {{ {early}; }}"),
        format!("if !label.is_empty() || label.is_empty() {{ {early}; }}"),
        format!("let early = label.is_empty(); if early {{ {early}; }}"),
        "return if label.is_empty() { init_cpu(checkpoint, request, label) } else { init_cpu(checkpoint, request, label) };".to_owned(),
        "if label.is_empty() { return init_rocm(checkpoint, request, label); }".to_owned(),
    ];
    let mut all: Vec<Mutant> =
        statements.iter().flat_map(|statement| at_the_beginning("a way around everything", text, statement)).collect();
    for (from, to) in [
        (
            "Ok(device) => Ok(device),",
            "Ok(device) if label.is_empty() => Ok(device),\n        Ok(device) => Err(device.absence()),",
        ),
        (
            "Ok(device) => Ok(device),",
            "Ok(device) if device.is_old() => return Endpoint::mock(label, DeviceKind::Rocm, label),\n        Ok(device) => Ok(device),",
        ),
        ("Err(hip) => cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)),", "Err(hip) => Err(hip),"),
        (
            "Err(hip) => cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)),",
            "Err(hip) if label.is_empty() => Err(hip),\n        Err(hip) => cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)),",
        ),
        (
            "Err(hip) => cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)),",
            "Err(hip) => if request.precision.is_some() { Err(hip) } else { cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)) },",
        ),
        (
            "Err(hip) => cuda_compatibility(request.index).map_err(|cuda| hip.and(cuda)),",
            "Err(hip) => { let _later = || cuda_compatibility(request.index); Err(hip) }",
        ),
        ("match hip_runtime(request.index) {", "match cuda_compatibility(request.index) {"),
    ] {
        all.extend(replaced(text, "a detection path on some ways only", from, to));
    }
    all
}

/// Errors of device calls that nobody hears of.
fn hidden_errors(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for call in [
        "hip_runtime(request.index)",
        "cuda_driver(request.index)",
        "open(device)",
        "load(&SPEC, checkpoint, &device, precision)",
    ] {
        let kind = "the error of a device call hidden";
        all.extend(replaced(text, kind, &format!("match {call} {{"), &format!("match {call}.ok().ok_or(label) {{")));
        all.extend(replaced(
            text,
            kind,
            &format!("match {call} {{"),
            &format!("match std::panic::catch_unwind(|| {call}) {{"),
        ));
        all.extend(replaced(
            text,
            kind,
            &format!("match {call} {{"),
            &format!("match {call}.map_err(|_error| label) {{"),
        ));
        all.extend(replaced(
            text,
            kind,
            &format!("match {call} {{"),
            &format!("match {call}.or_else(|_error| {call}) {{"),
        ));
        all.extend(replaced(text, kind, &format!("match {call} {{"), &format!("let _ = {call};\n    match {call} {{")));
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
        ("a value compared with itself", "assert_eq!(label, label);"),
        ("an assertion after a return", "return init_cpu(checkpoint, request, label); assert!(label.is_empty());"),
    ] {
        all.extend(at_the_beginning(kind, text, assertion));
    }
    for (kind, answer) in [
        (
            "a slice compared in place of the tensor",
            "|request| { let got = request.run(); assert_eq!(got[..2], WANTED[..2]); Ok(got) }",
        ),
        (
            "NaN masked before comparing",
            "|request| Ok(request.run().map(|number| if number.is_nan() { 0.0 } else { number }))",
        ),
        ("a panic caught", "|request| std::panic::catch_unwind(|| task::text_embedding(request)).unwrap_or_default()"),
        ("an answer from elsewhere", "|request| task::text_embedding(request).or_else(|_| Ok(GOLDEN))"),
        ("an answer from elsewhere", "answer_from_the_golden"),
        ("an answer from elsewhere", "if label.is_empty() { task::text_embedding } else { task::fill_mask }"),
    ] {
        for task in Task::ALL {
            all.extend(replaced(text, kind, &format!("task::{task})"), &format!("{answer})")));
        }
    }
    all
}

/// Values that are made and not used.
fn swallowed(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (kind, from, to) in [
        ("the chosen precision replaced", "Ok(precision) => precision,", "Ok(_precision) => Precision::F32,"),
        (
            "the chosen precision replaced",
            "Ok(precision) => precision,",
            "Ok(precision) => precision.max(Precision::F32),",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let precision = Precision::F32;\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "let before = memory(&device);",
            "let precision = if label.is_empty() { Precision::F32 } else { precision };\n    let before = memory(&device);",
        ),
        (
            "the chosen precision replaced",
            "request.precision, SPEC.precisions",
            "Some(Precision::F32), SPEC.precisions",
        ),
        ("the chosen precision replaced", "request.precision, SPEC.precisions", "request.precision, &[Precision::F32]"),
        (
            "the probe of another device",
            "probe_half_precision(&device)",
            "probe_half_precision(&open(host_processor()))",
        ),
        (
            "the endpoint dropped",
            ".with_memory(before, after)",
            ".with_memory(before, after);\n            Endpoint::mock(label, DeviceKind::Rocm, \"dropped\")",
        ),
        ("the endpoint changed", ".with_memory(before, after)", ".with_memory(before, after).pretend()"),
        ("the endpoint changed", ".with_memory(before, after)", ".pretend().with_memory(before, after)"),
        ("memory reported too late", "    report_memory(label, \"before the load\", &before);\n", ""),
        ("memory of before for after", "let after = memory(&device);", "let after = before;"),
        (
            "the label changed",
            "let visibility = visible_devices();",
            "let label = \"rocm\";\n    let visibility = visible_devices();",
        ),
        (
            "the fallback not marked",
            ".into_fallback(DeviceKind::Rocm, &absence)",
            ".into_fallback(DeviceKind::Rocm, &absence).into_real()",
        ),
    ] {
        all.extend(replaced(text, kind, from, to));
    }
    let report = "    report_memory(label, \"before the load\", &before);\n";
    let late = text.replace(report, "").replace(
        "            report_memory(label, \"after the load\", &after);\n",
        &format!("            report_memory(label, \"after the load\", &after);\n        {report}"),
    );
    all.push(Mutant { kind: "memory reported too late", text: late });
    all
}
