//! A replay as a table for the terminal.

use super::Replay;
use std::fmt::Write;
use testgen_base::text::{Align, Table, one_line};
use testgen_operators::calls::{Actual, Repetition, Replayed};

/// The call, its result now, the worst element, and the smaller call.
pub fn render_human(replay: &Replay) -> String {
    let Replay {
        failed, replayed, ..
    } = replay;
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut push = |name: &str, value: String| table.push([name.to_owned(), value]);
    push("call", failed.case.clone());
    push(
        "failed",
        format!(
            "{} {} of `{}`, on {}",
            failed.check,
            failed.precision,
            failed.subject,
            recorded_on(replay)
        ),
    );
    push(
        "now on",
        on(Some(&replayed.device_name), replayed.simulated),
    );
    push("result", result(replay).to_owned());
    if let Some(blocking) = replayed.blocking {
        push(
            "with blocking launches",
            repetition(replay, blocking).to_owned(),
        );
    }
    // Unknown when one of the two is an error, or has another shape.
    if let Some(differing) = replayed.differing {
        push(
            "elements",
            format!(
                "{differing} of {} differ from the recorded result",
                replayed.elements
            ),
        );
    }
    if let Some(failure) = &replayed.failure {
        push("reason", one_line(failure).to_string());
    }
    for kernel in &replayed.kernels {
        push("kernel", format!("{} {}", kernel.digest, kernel.name));
    }
    let rows = table.to_string();
    // Without the empty headings.
    let mut text = rows
        .split_once('\n')
        .map_or(rows.as_str(), |(_, rows)| rows)
        .to_owned();
    text.push_str(&worst(replayed));
    text.push_str(&reduced(replay));
    text
}

fn recorded_on(replay: &Replay) -> String {
    on(
        replay.failed.device_name.as_deref(),
        replay.failed.simulated,
    )
}

fn on(name: Option<&str>, simulated: bool) -> String {
    format!(
        "{}{}",
        name.unwrap_or("an unnamed device"),
        if simulated { ", SIMULATED" } else { "" }
    )
}

/// The result in words.
fn result(replay: &Replay) -> &'static str {
    repetition(replay, replay.replayed.repetition)
}

/// A run compared with the recorded one, in words.
pub(super) fn repetition(replay: &Replay, repetition: Repetition) -> &'static str {
    let error = matches!(replay.failed.actual, Actual::Error(_));
    match repetition {
        Repetition::Correct => "correct now",
        Repetition::Same if error => "the same error",
        Repetition::Same => "reproduced bit by bit",
        Repetition::OtherFailure if error => "another failure",
        Repetition::OtherFailure => "another wrong result",
    }
}

fn worst(replayed: &Replayed) -> String {
    let Some(worst) = &replayed.worst else {
        return String::new();
    };
    let mut table = Table::new(&[
        ("worst element", Align::Left),
        ("expected", Align::Right),
        ("bound", Align::Right),
        ("recorded", Align::Right),
        ("now", Align::Right),
    ]);
    let recorded = worst.recorded.clone().unwrap_or_else(|| "none".to_owned());
    let cells = [
        format!("{:?}", worst.index),
        worst.expected.clone(),
        worst.bound.clone(),
        recorded,
        worst.got.clone(),
    ];
    table.push(cells);
    format!("\n{table}")
}

fn reduced(replay: &Replay) -> String {
    let mut text = String::new();
    if let (Some(reduced), Some(path)) = (&replay.replayed.reduced, &replay.reduced) {
        let (from, to) = (replay.failed.call.shapes(), reduced.failed.call.shapes());
        let end = if reduced.incomplete {
            ", which took too long to find the smallest one"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "\nreduced: {from} to {to} in {} runs{end}",
            reduced.runs
        );
        let _ = writeln!(text, "file: {}", path.display());
    }
    text
}
