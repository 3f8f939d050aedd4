//! Printed lines are read back: every form with random values, and logs in pieces of any size.

mod fuzz;
mod printed;
mod printers;

use super::{
    curve::Curve,
    format::LogFormat,
    metric::Metric,
    parser::Parser,
    reading::read_log,
    record::{ParsedLine, Record},
    report::{LogReport, render_json},
};
use printed::Printed;
use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::Path,
};
use testgen_fuzz::Random;

/// Prefixes of launchers and schedulers, with the rank that they name.
const PREFIXES: [(&str, Option<u32>); 5] = [
    ("", None),
    ("[rank3]: ", Some(3)),
    ("[default1]:", Some(1)),
    ("\u{1b}[32m2026-08-22T10:00:00Z\u{1b}[0m ", None),
    ("[2026-08-22 10:00:00][rank-12/16][INFO ] ", Some(12)),
];

#[test]
fn printed_records_are_read() {
    for (format, print) in printers::PRINTERS {
        let mut random = Random::new(*format as u64);
        for _ in 0..200 {
            let printed = print(&mut random);
            let (prefix, rank) = *random.choose(&PREFIXES);
            assert_read(*format, &printed, prefix, rank);
        }
    }
    let printed: BTreeSet<LogFormat> = printers::PRINTERS
        .iter()
        .map(|(format, _)| *format)
        .collect();
    assert_eq!(
        printed.len(),
        LogFormat::ALL.len(),
        "a format without a printer"
    );
}

fn assert_read(format: LogFormat, printed: &Printed, prefix: &str, rank: Option<u32>) {
    let text = format!("{prefix}{}", printed.text);
    let mut parser = Parser::new();
    let mut values = [None; Metric::COUNT];
    let mut records = 0;
    for line in text.split(['\n', '\r']) {
        match parser.read(line.as_bytes()) {
            ParsedLine::Record(record) => {
                assert_eq!(
                    (record.format, record.step),
                    (format, printed.step),
                    "{text}"
                );
                if !printed.is_block {
                    assert_eq!(record.rank, rank, "{text}");
                }
                records += 1;
                record
                    .values
                    .iter()
                    .zip(&mut values)
                    .for_each(|(value, all)| *all = all.or(*value));
            }
            ParsedLine::Part => assert!(printed.is_block, "{text}"),
            other => panic!("{other:?}: {line}"),
        }
    }
    assert!(records > 0, "{text}");
    for (metric, (found, expected)) in Metric::ALL
        .iter()
        .zip(values.into_iter().zip(printed.values))
    {
        assert!(
            is_same(found, expected),
            "{metric:?}: {found:?} instead of {expected:?} in\n{text}"
        );
    }
}

/// The same up to the rounding of the conversion of units.
fn is_same(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) if found.is_finite() => {
            (found - expected).abs() <= 1e-12 * expected.abs()
        }
        (Some(found), Some(expected)) => {
            found.is_nan() == expected.is_nan() && !expected.is_finite()
        }
        _ => false,
    }
}

/// Returns at most as many bytes at once.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn a_log_is_read_alike_in_pieces_of_any_size() {
    let mut random = Random::new(7);
    let mut text = Vec::new();
    for _ in 0..300 {
        let (_, print) = *random.choose(printers::PRINTERS);
        text.extend_from_slice(print(&mut random).text.as_bytes());
        let noise = random.text(40);
        text.extend_from_slice(noise.as_bytes());
        // Bytes that are not UTF-8.
        text.extend_from_slice(if random.below(4) == 0 {
            b"\xff\xfe\r\n"
        } else {
            b"\n"
        });
    }
    let json = |source: Pieces<'_>| {
        render_json(&LogReport::new(vec![
            read_log(Path::new("log"), source).expect("it has records"),
        ]))
    };
    let whole = json(Pieces(&text, usize::MAX));
    for size in [1, 2, 7, 4096] {
        assert_eq!(json(Pieces(&text, size)), whole, "pieces of {size}");
    }
}

#[test]
fn a_loss_that_the_trainer_replaces_by_0_is_not_finite() {
    let text = "{'loss': 2.5, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.01}\n\
                {'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.02}\n\
                {'loss': 0.0, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.03}\n";
    let summary = read_log(Path::new("log"), text.as_bytes()).expect("lines of the Trainer");
    let places: Vec<_> = summary
        .non_finite
        .iter()
        .map(|place| (place.line, place.value.as_str()))
        .collect();
    assert_eq!(places, [(2, "0 with a gradient norm of NaN")]);
    let loss = summary.metric(Metric::Loss).expect("there are losses");
    assert_eq!((loss.count, loss.non_finite, loss.mean), (2, 1, Some(1.25)));
}

#[test]
fn validation_of_torchtitan_is_not_a_training_step() {
    let line = "[titan] validate step: 10  loss:  9.0000  memory:  1.20GiB(1.30%)  tps: 90,000";
    assert!(!matches!(
        Parser::new().read(line.as_bytes()),
        ParsedLine::Record(_)
    ));
}

/// `SignatureSearch` has the test that each form is tried once: at every occurrence it would take
/// minutes.
#[test]
fn a_long_line_that_repeats_a_signature_is_read() {
    for signature in [
        "  tps: ", "Epoch ", "(train)", "[batch=", ", time ", "'loss': ",
    ] {
        let mut parser = Parser::new();
        let parsed = parser.read(signature.repeat(1_000_000 / signature.len()).as_bytes());
        assert!(!matches!(parsed, ParsedLine::Record(_)), "`{signature}`");
    }
}

#[test]
fn a_curve_of_random_steps_keeps_the_sums() {
    let mut random = Random::new(3);
    let mut curve = Curve::default();
    for _ in 0..60_000 {
        let mut values = [None; Metric::COUNT];
        values[Metric::Loss.index()] = Some(1.0);
        let step = random.below(1 << 40) as u64;
        curve.add(&Record {
            format: LogFormat::NanoGpt,
            step,
            is_counted: false,
            is_about_run: false,
            rank: None,
            values,
        });
    }
    let curve = curve.finish();
    assert!(
        curve.len() <= 16_384
            && curve
                .points()
                .all(|point| point.values[Metric::Loss.index()] == Some(1.0))
    );
}
