//! Tests of the checks that an entry matches, and of the errors of its keys.

use super::*;
use crate::results::read::parse_lines;

fn entry(rest: &str) -> ExpectedFailure {
    let text =
        format!("model = \"bert*\"\ncheck = \"finite\"\nreason = \"r\"\nowner = \"o\"\n{rest}");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn result(model: &str, status: &str, rest: &str) -> ReportEntry {
    let line = format!(
        r#"{{"version":1,"model":"{model}","architecture":"encoder_only","device":"rocm","check":"finite","precision":"f32","status":"{status}","device_name":"gfx1100",{rest}"milliseconds":1}}"#
    );
    parse_lines(&line).entries.remove(0)
}

#[test]
fn an_expectation_matches_only_its_checks() {
    let day = |text: &str| text.parse::<Date>().expect("is a date");
    let on = |rest: &str| ExpectedFailures::new(vec![entry(rest)], day("2027-01-31"));
    let far = "expires = \"2030-01-01\"\n";
    assert!(on(far).matching(&result("bert_tiny", "fail", "")).is_some());
    assert!(on(far).matching(&result("roberta", "fail", "")).is_none());
    assert!(on(far).matching(&result("bert", "ignored", "")).is_none());
    assert!(
        on(far)
            .matching(&result("bert", "fail", r#""mock":true,"#))
            .is_none()
    );
    assert!(
        on(&format!("{far}device = \"cuda\""))
            .matching(&result("bert", "fail", ""))
            .is_none()
    );
    let torch = r#""engine":"torch","#;
    assert!(
        on(far).matching(&result("bert", "fail", torch)).is_none(),
        "it is about the native engine"
    );
    assert!(
        on(&format!("{far}engine = \"torch\""))
            .matching(&result("bert", "fail", torch))
            .is_some()
    );
    assert!(
        on(&format!("{far}engine = \"torch\""))
            .matching(&result("bert", "fail", ""))
            .is_none()
    );
    for all in ["native", "*", "[\"torch\", \"native\"]"] {
        let engine = if all.starts_with('[') {
            all.to_owned()
        } else {
            format!("\"{all}\"")
        };
        let expected = on(&format!("{far}engine = {engine}"));
        assert!(
            expected.matching(&result("bert", "fail", "")).is_some(),
            "{all}"
        );
    }
    let eager = r#""engine":"torch/eager","#;
    assert!(
        on(&format!("{far}engine = \"torch\""))
            .matching(&result("bert", "fail", eager))
            .is_none()
    );
    assert!(
        on(&format!("{far}engine = \"torch*\""))
            .matching(&result("bert", "fail", eager))
            .is_some()
    );
    assert!(
        on(&format!("{far}engine = \"torch*\""))
            .matching(&result("bert", "fail", ""))
            .is_none()
    );
    assert!(
        on(&format!("{far}precision = \"f16\""))
            .matching(&result("bert", "fail", ""))
            .is_none()
    );
}

#[test]
fn it_is_in_force_through_its_last_day() {
    let expectation = entry("expires = \"2027-01-31\"\n");
    let on = |day: &str| {
        ExpectedFailures::new(vec![expectation.clone()], day.parse().expect("is a date"))
    };
    assert!(on("2027-01-31").is_in_force(&expectation));
    assert!(!on("2027-02-01").is_in_force(&expectation));
}

/// The lines of an entry with `keys`, as a report reads them.
fn parse(keys: &str) -> Result<ExpectedFailure, String> {
    toml::from_str(&format!(
        "{keys}reason = \"r\"\nowner = \"o\"\nexpires = \"2030-01-01\"\n"
    ))
    .map_err(|error| error.to_string())
}

#[test]
fn a_list_matches_as_an_entry_for_each_combination_of_its_values() {
    let lists = parse(
        "model = [\"bert*\", \"gpt2\"]\ncheck = [\"finite\", \"placement\"]\ndevice = [\"rocm\", \"cpu\"]\n\
         engine = [\"torch\", \"torch/tf32\"]\nprecision = [\"f16\", \"f32\"]\n",
    )
    .expect("is valid");
    let torch = r#""engine":"torch","#;
    assert!(lists.matches(&result("bert_tiny", "fail", torch)));
    assert!(lists.matches(&result("gpt2", "fail", torch)));
    assert!(lists.matches(&result("gpt2", "fail", r#""engine":"torch/tf32","#)));
    assert!(!lists.matches(&result("gpt2", "fail", r#""engine":"torch/eager","#)));
    assert!(!lists.matches(&result("gpt2_wide", "fail", torch)));
    let base = result("bert", "fail", torch);
    let with = |change: fn(&mut ReportEntry)| {
        let mut entry = base.clone();
        change(&mut entry);
        lists.matches(&entry)
    };
    assert!(with(|entry| entry.device = DeviceKind::Cpu));
    assert!(!with(|entry| entry.device = DeviceKind::Cuda));
    assert!(with(|entry| entry.precision = Precision::F16));
    assert!(!with(|entry| entry.precision = Precision::Bf16));
    assert!(with(|entry| entry.check = Check::Placement));
    assert!(!with(|entry| entry.check = Check::Determinism));
}

#[test]
fn an_invalid_list_is_an_error_that_shows_its_line() {
    let errors = [
        (
            "model = []\ncheck = \"finite\"\n",
            "1 | model = []",
            "the list is empty",
        ),
        (
            "model = \"a\"\ncheck = \"finite\"\nprecision = [\"f16\", \"f16\"]\n",
            "3 | precision = [",
            "`f16` is in the list twice; remove one",
        ),
        (
            "model = \"a\"\ncheck = \"finite\"\ndevice = [\"cpu\", \"tpu\"]\n",
            "3 | device = [",
            "unknown variant `tpu`, expected one of `cpu`, `cuda`, `rocm`",
        ),
        (
            "model = [\"a\", \"[\"]\ncheck = \"finite\"\n",
            "1 | model = [",
            "`[` is not a pattern",
        ),
        (
            "model = \"a\"\ncheck = 1\n",
            "2 | check = 1",
            "expected a text or a list of texts",
        ),
    ];
    for (keys, line, message) in errors {
        let error = parse(keys).expect_err(keys);
        assert!(error.contains(line) && error.contains(message), "{error}");
    }
}

/// An entry that names a check must not hide another failure of it.
#[test]
fn a_panic_an_absent_device_and_nan_are_not_expected() {
    let day = || "2027-01-31".parse::<Date>().expect("is a date");
    let far = "expires = \"2030-01-01\"\n";
    let known = |rest: &str| ExpectedFailures::new(vec![entry(&format!("{far}{rest}"))], day());
    let failed = |change: fn(&mut ReportEntry)| {
        let mut failed = result("bert", "fail", "");
        change(&mut failed);
        failed
    };
    let output = |headroom: f64, non_finite: u64| testgen_types::OutputError {
        non_finite,
        ..testgen_types::OutputError::with_headroom("logits".to_owned(), headroom)
    };
    let uncovered = [
        (failed(|entry| entry.panicked = true), "the check panicked"),
        (
            failed(|entry| entry.fallback = true),
            "nothing ran on the device",
        ),
        (
            failed(|entry| entry.device_name = None),
            "nothing ran on the device",
        ),
    ];
    for (entry, why) in uncovered {
        for known in [known(""), known("non_finite = true")] {
            assert!(known.matching(&entry).is_none(), "{why}");
            let note = known.unexpected_kind(&entry).expect(why);
            assert!(note.contains(why) && note.contains("(owner o, "), "{note}");
        }
    }
    let nan = |headroom, count| ReportEntry {
        outputs: vec![output(headroom, count)],
        ..result("bert", "fail", "")
    };
    assert!(known("").matching(&nan(0.0, 1)).is_none());
    assert!(known("non_finite = true").matching(&nan(0.0, 1)).is_some());
    assert!(known("").matching(&nan(0.5, 0)).is_some());
    // A pass is unexpected, whatever it is.
    assert!(known("").matching(&result("bert", "pass", "")).is_some());
    assert_eq!(known("").unexpected_kind(&nan(0.5, 0)), None);
}

/// An entry for some outputs must not hide a failure of the others.
#[test]
fn only_the_named_outputs_are_expected_to_fail() {
    let keys = "expires = \"2030-01-01\"\noutputs = [\"* gelu *\", \"relu\"]\n";
    let day = "2027-01-31".parse::<Date>().expect("is a date");
    let known = ExpectedFailures::new(vec![entry(keys)], day);
    let failed = |outputs: &[(&str, f64)]| ReportEntry {
        outputs: outputs
            .iter()
            .map(|(name, headroom)| {
                testgen_types::OutputError::with_headroom((*name).to_owned(), *headroom)
            })
            .collect(),
        ..result("bert", "fail", "")
    };
    for expected in [
        failed(&[("f32 gelu algorithm 3", 0.5), ("f32 NN algorithm 3", 1.5)]),
        failed(&[("f32 gelu algorithm 3", 0.5), ("relu", 0.0)]),
    ] {
        assert!(known.matching(&expected).is_some(), "{expected:?}");
    }
    for other in [
        failed(&[("f32 gelu algorithm 3", 0.5), ("f32 NN algorithm 3", 0.5)]),
        failed(&[("f32 gelu algorithm 3", 1.5)]),
        failed(&[]),
    ] {
        assert!(known.matching(&other).is_none(), "{other:?}");
        let note = known.unexpected_kind(&other).expect("it is named");
        assert!(note.contains("`outputs` does not name"), "{note}");
    }
}
