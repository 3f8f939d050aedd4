//! The reference, compared with results that PyTorch computed in float64 (`pytorch/record.py`).

use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};
use testgen_operators::{
    calls::{Call, Element},
    cases::{Arithmetic, Case, cases, integer_cases, odd_sizes, reference, special_cases},
};
use testgen_types::{Operator, Precision};

/// Elements of a result above which special numbers are not recorded.
const LARGE: usize = 200;

/// The calls with their names and the arithmetic of their reference.
fn calls() -> BTreeMap<String, (Call, Arithmetic)> {
    let mut calls = BTreeMap::new();
    for &operator in Operator::ALL {
        let float = Arithmetic::for_precision(Precision::F32);
        let small = odd_sizes(operator);
        let lists = [
            ("", cases(operator, &small, Element::F32), float),
            ("special ", special_cases(operator, Element::F32), float),
            (
                "integer ",
                integer_cases(operator),
                Arithmetic::exact(Element::I32),
            ),
        ];
        for (kind, cases, arithmetic) in lists {
            // Special numbers in large results would be most of the file.
            let is_small = |case: &Case| {
                kind != "special " || reference(&case.call, arithmetic).numbers.len() <= LARGE
            };
            for case in cases.into_iter().filter(is_small) {
                let name = format!("{operator}: {kind}{}", case.description());
                assert!(
                    calls
                        .insert(name.clone(), (case.call, arithmetic))
                        .is_none(),
                    "{name} is twice in the list"
                );
            }
        }
    }
    calls
}

/// The largest difference in units of a result, or of a thousandth: both sides compute in f64.
const CLOSE: f64 = 1e-11;

#[test]
fn the_reference_agrees_with_pytorch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pytorch/results.json");
    let text = fs::read_to_string(&path).expect("results were recorded");
    let recorded: BTreeMap<String, Value> = serde_json::from_str(&text).expect("they are JSON");
    let calls = calls();
    let mut differences = Vec::new();
    for (name, (call, arithmetic)) in &calls {
        match recorded.get(name) {
            Some(result) => differences
                .extend(difference(call, *arithmetic, result).map(|it| format!("{name}: {it}"))),
            None => differences.push(format!("{name}: not recorded")),
        }
    }
    let without_call = recorded
        .keys()
        .filter(|name| *name != "torch" && !calls.contains_key(*name));
    differences.extend(
        without_call.map(|name| format!("{name}: recorded for a call that is not in the list")),
    );
    assert!(
        differences.is_empty(),
        "{} of {} differ:\n{}",
        differences.len(),
        calls.len(),
        differences.join("\n")
    );
}

fn difference(call: &Call, arithmetic: Arithmetic, recorded: &Value) -> Option<String> {
    let computed = reference(call, arithmetic);
    let shape: Vec<usize> =
        serde_json::from_value(recorded["shape"].clone()).expect("a shape is a list");
    if shape != computed.shape {
        return Some(format!(
            "the shape is {:?}, PyTorch's {shape:?}",
            computed.shape
        ));
    }
    let values = recorded["values"]
        .as_array()
        .expect("values are a list")
        .iter()
        .map(number);
    computed
        .numbers
        .iter()
        .zip(values)
        .enumerate()
        .find_map(|(index, (number, expected))| {
            let value = number.value;
            let close = (value - expected).abs() <= CLOSE * expected.abs().max(1e-3);
            let same = value == expected || value.is_nan() && expected.is_nan() || close;
            (!same).then(|| format!("element {index} is {value:?}, PyTorch's {expected:?}"))
        })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| {
        value
            .as_str()
            .and_then(|text| text.parse().ok())
            .expect("a number")
    })
}

/// Writes the calls for `record.py`.
#[test]
#[ignore = "writes the calls that pytorch/record.py computes"]
fn write_calls() {
    let calls: BTreeMap<String, Call> = calls()
        .into_iter()
        .map(|(name, (call, _))| (name, call))
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/operator_calls.json");
    fs::write(path, serde_json::to_string(&calls).expect("calls are JSON"))
        .expect("the file can be written");
}
