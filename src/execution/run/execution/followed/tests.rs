//! The report and the log of a running suite, read in pieces of any size and content.

use super::{CompileProgress, Followed, Growing};
use std::{
    collections::VecDeque,
    io::{self, Read},
};
use testgen_fuzz::{Target, assert_message};

#[test]
fn compiling_is_read_from_the_log_until_a_check_has_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let [report, log, started] = ["report", "log", "started"].map(|name| folder.path().join(name));
    let write = |path, text: &str| std::fs::write(path, text).expect("a file");
    write(&report, "");
    write(
        &log,
        "other\ncompiling GPU kernels: 1/4\ncompiling GPU kernels: 3/4\n",
    );
    let mut followed = Followed::new(&report, &log, &started);
    followed.read();
    assert_eq!(followed.compiled, Some(CompileProgress { done: 3, all: 4 }));
    write(&report, "{}\n");
    followed.read();
    assert_eq!(
        (followed.entries, followed.compiled),
        (1, Some(CompileProgress { done: 3, all: 4 }))
    );
}

/// A record with a status, of a model.
fn record(model: &str, status: &str) -> String {
    format!(
        r#"{{"version":1,"model":"{model}","architecture":"encoder_only","device":"cpu","check":"finite","precision":"f32","status":"{status}","reason":"r","device_name":"host","milliseconds":1}}"#
    )
}

#[test]
fn failures_and_running_checks_are_read_line_by_line() {
    let test = |model: &str| format!("encoder_only::{model}::cpu::finite_f32");
    let pieces = |pieces: &[&str]| {
        let pieces = pieces.iter().map(|piece| piece.as_bytes().to_vec());
        Pieces(pieces.collect()).growing()
    };
    let started = format!("{:?}\n{:?}\n", test("a"), test("b"));
    let [a, b] = [record("a", "fail"), record("b", "pass")];
    let report = pieces(&[&a[..40], &format!("{}\n", &a[40..]), &format!("{b}\n")]);
    let mut followed = Followed::following([report, pieces(&[]), pieces(&[&started])]);
    let mut shown = Vec::new();
    for _ in 0..6 {
        followed.read();
        let running = followed.running.iter().map(|check| check.name.as_str());
        shown.push((running.collect::<Vec<_>>().join(" "), followed.failed));
    }
    shown.dedup();
    let both = format!("{} {}", test("a"), test("b"));
    assert_eq!(shown, [(both, 0), (test("b"), 1), (String::new(), 1)]);
    assert_eq!(followed.ended, [test("a"), test("b")]);
}

/// A file that grows: after each piece, one read returns nothing.
struct Pieces(VecDeque<Vec<u8>>);

impl Pieces {
    /// The first byte of a piece decides its length.
    fn new(mut bytes: &[u8]) -> Self {
        let mut pieces = VecDeque::new();
        while let Some(first) = bytes.first() {
            let (piece, rest) = bytes.split_at((1 + usize::from(*first) * 4).min(bytes.len()));
            pieces.push_back(piece.to_vec());
            bytes = rest;
        }
        Self(pieces)
    }

    fn growing(self) -> Growing {
        Growing(Some(Box::new(self)))
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.0.front_mut() else {
            return Ok(0);
        };
        if piece.is_empty() {
            self.0.pop_front();
            return Ok(0);
        }
        let length = piece.len().min(buffer.len());
        buffer[..length].copy_from_slice(&piece[..length]);
        piece.drain(..length);
        Ok(length)
    }
}

/// Whatever is written, every line of the report is counted once, and a terminal can show the name
/// of the last check.
#[test]
fn fuzz_a_growing_report_and_log() {
    Target {
        name: "growing",
        seeds: Vec::new(),
        dictionary: &[
            "compiling GPU kernels: ",
            "1/4",
            "18446744073709551616/1",
            "\n",
            "\"version\":1,",
            "\"model\":\"",
            "\"engine\":\"torch/eager\",",
            "\\u001b[31m",
            "\\n",
        ],
        repair: None,
        executions: 3000,
        behaviours: 5,
        check: &|bytes| {
            let pieces = Pieces::new(bytes);
            let count = pieces.0.len();
            let [log, started] = [(); 2].map(|()| Pieces::new(bytes).growing());
            let mut followed = Followed::following([pieces.growing(), log, started]);
            for _ in 0..count {
                followed.read();
            }
            assert_eq!(
                followed.entries,
                bytes.iter().filter(|byte| **byte == b'\n').count()
            );
            if !followed.last.is_empty() {
                assert_message(&followed.last);
            }
            followed
                .running
                .iter()
                .for_each(|check| drop(assert_message(&check.name)));
            let (entries, compiled) = (followed.entries.min(3), followed.compiled.is_some());
            format!("{entries} {compiled} {}", followed.last.is_empty())
        },
    }
    .run();
}
