//! Files of failed calls: what they keep, and which ones are refused.

use super::*;
use crate::calls::{attributes::Attributes, call::Input, layout::Layout};
use testgen_types::Operator;

fn tensor(element: Element, values: &[f64]) -> HostTensor {
    HostTensor::new([values.len()], element, values.to_vec())
}

/// Numbers that JSON has no words for, zeros of both signs, the limits, and numbers with 17 digits.
fn failed(element: Element) -> FailedCall {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        element.smallest(),
        element.largest(),
    ];
    let spread = (0..2000_u32).map(|index| {
        f64::from(f32::from_bits(
            index.wrapping_mul(0x0010_3a5b) & 0xff7f_ffff,
        ))
    });
    let values: Vec<f64> = special.into_iter().chain(spread).collect();
    let layouts = [Layout::Reversed, Layout::Sliced, Layout::Expanded];
    let inputs = layouts.map(|layout| Input {
        tensor: tensor(element, &values),
        layout,
    });
    let attributes = Attributes {
        dim: Some(1),
        eps: 1e-5,
        limits: [-0.1, 0.7],
        ..Attributes::default()
    };
    FailedCall {
        version: FailedCall::VERSION,
        subject: "elementwise".to_owned(),
        check: Check::SpecialValues,
        case: "`add` of [3]".to_owned(),
        precision: Precision::F32,
        tf32: false,
        device: DeviceKind::Rocm,
        device_name: Some("AMD \"gfx\"".to_owned()),
        simulated: true,
        engine: None,
        failure: "1 of 3 elements are wrong".to_owned(),
        again: Again {
            plain: Repetition::Same,
            blocking: Some(Repetition::Correct),
        },
        kernels: vec![LaunchedKernel {
            name: "a::Kernel".to_owned(),
            digest: "00ff".to_owned(),
        }],
        call: Call {
            operator: Operator::Add,
            inputs: inputs.to_vec(),
            attributes,
        },
        expected: Expected {
            shape: vec![values.len()],
            element,
            bounds: values.iter().map(|_| 0.25).collect(),
            values: values.clone(),
        },
        actual: Actual::Computed(tensor(element, &values)),
    }
}

fn bits(tensor: &HostTensor) -> Vec<u64> {
    tensor
        .values
        .iter()
        .map(|value| {
            if value.is_nan() {
                u64::MAX
            } else {
                value.to_bits()
            }
        })
        .collect()
}

#[test]
fn every_number_survives_the_file() {
    for element in [Element::F32, Element::F16, Element::Bf16] {
        let written = failed(element);
        let read = FailedCall::from_json(&written.to_json()).expect("is a failed call");
        for (one, other) in written.call.inputs.iter().zip(&read.call.inputs) {
            assert_eq!(
                (bits(&one.tensor), &one.layout),
                (bits(&other.tensor), &other.layout),
                "{element}"
            );
        }
        assert!(written.actual.is_same(&read.actual), "{element}");
        assert_eq!(read.call.attributes, written.call.attributes);
        assert_eq!((read.kernels, read.again), (written.kernels, written.again));
        assert!(read.expected.values[0].is_nan() && read.expected.values[4].is_sign_negative());
    }
}

#[test]
fn a_zero_of_the_other_sign_is_another_result() {
    let [zero, negative, not] =
        [0.0, -0.0, f64::NAN].map(|value| Actual::Computed(tensor(Element::F32, &[value])));
    assert!(zero.is_same(&zero) && not.is_same(&not));
    assert!(!zero.is_same(&negative) && !zero.is_same(&not));
    let error = |text: &str| Actual::Error(text.to_owned());
    assert!(
        error("a\nat 0x10").is_same(&error("a\nat 0x20"))
            && !error("a").is_same(&error("b"))
            && !error("a").is_same(&zero)
    );
    assert!(!zero.is_same(&Actual::Computed(tensor(Element::F16, &[0.0]))));
}

#[test]
fn damaged_and_foreign_texts_are_refused() {
    let good = failed(Element::F32).to_json();
    let later = good.replacen("\"version\":1", "\"version\":2,\"other\":[]", 1);
    let foreign = r#"{"version": 1, "model": "bert"}"#;
    let shape = good.replacen("\"shape\":[2007]", "\"shape\":[2008]", 1);
    let huge = good.replacen("\"shape\":[2007]", "\"shape\":[4611686018427387904,4]", 1);
    let bounds = good.replacen("\"bounds\":[0.25,", "\"bounds\":[", 1);
    let more = good.replacen("\"subject\"", "\"more\":1,\"subject\"", 1);
    for (text, part) in [
        (&good[..good.len() / 2], "EOF"),
        ("", "EOF"),
        ("[1]", "expected struct"),
        (foreign, "unknown field `model`"),
        (&later, "version 2, but this testgen reads version 1"),
        (&shape, "[2008] has 2007 elements"),
        (&huge, "has 2007 elements"),
        (&bounds, "differ in number"),
        (&more, "unknown field `more`"),
    ] {
        let error = FailedCall::from_json(text).expect_err(part);
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}

#[test]
fn a_file_of_too_many_elements_is_refused() {
    let mut large = failed(Element::F32);
    let count = FailedCall::ELEMENTS;
    large.call.inputs.truncate(1);
    large.call.inputs[0].tensor = tensor(Element::F32, &vec![0.0; count]);
    let error = FailedCall::from_json(&large.to_json()).expect_err("is too large");
    assert!(error.contains("at most 1048576"), "{error}");
}
