//! Renders times for a terminal: what was measured on, a table, and what has no time.

use super::{
    digits::digits,
    starts::{joined, rows},
    summary::BenchSummary,
};
use std::{collections::BTreeSet, fmt::Write};
use testgen_base::text::{Align, Table, one_line};
use testgen_types::{BenchEntry, BenchStatus};

const COLUMNS: [(&str, Align); 11] = [
    ("subject", Align::Left),
    ("device", Align::Left),
    ("engine", Align::Left),
    ("precision", Align::Left),
    ("measured", Align::Left),
    ("batch", Align::Right),
    ("tokens", Align::Right),
    ("median ms", Align::Right),
    ("p5", Align::Right),
    ("p95", Align::Right),
    ("rate", Align::Right),
];

/// The whole report; its last line is the result.
pub fn render_bench(summary: &BenchSummary) -> String {
    let mut text = head(summary);
    let mut table = Table::new(&COLUMNS);
    for entry in &joined(&summary.entries) {
        if let Some(cells) = cells(entry) {
            table.push(cells);
        }
    }
    let _ = writeln!(text, "\n{table}");
    for (status, title) in [
        (BenchStatus::Wrong, "wrong, and therefore without a time"),
        (BenchStatus::NotTimed, "not timed"),
    ] {
        let entries = summary
            .entries
            .iter()
            .filter(|entry| entry.status == status);
        // A set, because all sizes of one work have the same reason.
        let lines: BTreeSet<String> = entries.map(without_time).collect();
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}\n{}", lines.into_iter().collect::<String>());
        }
    }
    for problem in &summary.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text.push_str(&result(summary));
    text
}

/// Hosts, devices, engines, and how the runtime was compiled.
pub(super) fn head(summary: &BenchSummary) -> String {
    // A set, because every measurement repeats the facts of its machine.
    let lines: BTreeSet<String> = summary.entries.iter().flat_map(facts).collect();
    let mut text: String = lines.into_iter().collect();
    if summary
        .entries
        .iter()
        // Other engines are compiled elsewhere.
        .any(|entry| !entry.optimised && entry.engine.is_none())
    {
        text.push_str("build   without optimisation of every crate: `--release` is faster\n");
    }
    text
}

fn facts(entry: &BenchEntry) -> Vec<String> {
    let host = entry.host.as_ref().map(|host| {
        format!(
            "host    {}{}{}\n",
            host.processor,
            named("processors", host.processors.map(|count| count.to_string())),
            named("load", host.load.map(|load| load.to_string())),
        )
    });
    let mut lines: Vec<String> = host.into_iter().collect();
    if let Some(device) = &entry.device_facts {
        lines.push(format!(
            "device  {}: {}{}{}{}{}{}{}\n",
            entry.device,
            device.name,
            if device.simulated { ", SIMULATED" } else { "" },
            named("architecture", device.architecture.clone()),
            named("driver", device.driver_version.clone()),
            named("runtime", device.runtime_version.clone()),
            named(
                "compute units",
                device.compute_units.map(|it| it.to_string())
            ),
            named("MHz at most", device.max_clock_mhz.map(|it| it.to_string())),
        ));
    }
    if let Some(versions) = &entry.engine_versions {
        lines.push(format!("engine  {}: {versions}\n", engine(entry)));
    }
    lines
}

fn engine(entry: &BenchEntry) -> &str {
    entry.engine.as_deref().unwrap_or("native")
}

/// The cells of a row, or `None` without a time.
fn cells(entry: &BenchEntry) -> Option<[String; COLUMNS.len()]> {
    let times = entry.times.as_ref()?;
    Some([
        entry.subject.clone(),
        entry.device.to_string(),
        engine(entry).to_owned(),
        entry.precision.to_string(),
        measured(entry),
        or_dash(entry.batch),
        or_dash(entry.tokens),
        digits(times.median),
        digits(times.p5),
        digits(times.p95),
        rate(entry),
    ])
}

/// The work of a second, of streamed layers the overlap, of a model's call its number, and the
/// energy of a call.
fn rate(entry: &BenchEntry) -> String {
    let rate = entry.per_second().map_or_else(
        || "-".to_owned(),
        |(rate, unit)| format!("{} {unit}", digits(rate)),
    );
    let rate = match (entry.overlap, entry.calls) {
        (Some(overlap), _) => format!("{rate}, overlap {:.0} %", 100.0 * overlap),
        (None, Some(calls)) => format!("{rate}, {calls} in a forward call"),
        (None, None) => rate,
    };
    match entry.energy_joules {
        Some(energy) => format!("{rate}, {} J", digits(energy)),
        None => rate,
    }
}

/// The work, with the call of an operator.
fn measured(entry: &BenchEntry) -> String {
    match (entry.measured, &entry.case) {
        (_, Some(case)) => case.clone(),
        (Some(measured), None) => measured.to_string(),
        (None, None) => "-".to_owned(),
    }
}

/// The line of a measurement without a time, with the reason.
pub(super) fn without_time(entry: &BenchEntry) -> String {
    let size = match (entry.batch, entry.tokens) {
        (Some(batch), Some(tokens)) => format!(" {batch} x {tokens}"),
        (Some(batch), None) => format!(" {batch}"),
        (None, _) => String::new(),
    };
    format!(
        "  {} {} {} {} {}{size}: {}\n",
        entry.subject,
        entry.device,
        engine(entry),
        entry.precision,
        measured(entry),
        one_line(entry.reason.as_deref().unwrap_or("no reason")),
    )
}

/// The last line: whether the report is green, and the number of its rows.
pub(super) fn result(summary: &BenchSummary) -> String {
    let word = if summary.green { "passed" } else { "failed" };
    let count = |status| rows(&summary.entries, status);
    let starts = if summary.starts > 1 {
        format!(", in {} starts", summary.starts)
    } else {
        String::new()
    };
    format!(
        "result: {word}: {} timed, {} wrong, {} not timed{starts}\n",
        count(BenchStatus::Timed),
        count(BenchStatus::Wrong),
        count(BenchStatus::NotTimed)
    )
}

fn named(name: &str, value: Option<String>) -> String {
    match value {
        Some(value) => format!(", {name} {value}"),
        None => String::new(),
    }
}

fn or_dash(count: Option<usize>) -> String {
    count.map_or_else(|| "-".to_owned(), |it| it.to_string())
}

#[cfg(test)]
mod tests {
    use super::{BenchEntry, BenchStatus, BenchSummary, render_bench};
    use crate::bench::lines::{BenchLines, tests::entry};
    use testgen_types::{Measured, Precision};

    #[test]
    fn facts_then_times_then_what_has_none() {
        let decode = BenchEntry {
            measured: Some(Measured::Decode),
            energy_joules: Some(1.5),
            ..entry()
        };
        let wrong = BenchEntry {
            precision: Precision::Bf16,
            status: BenchStatus::Wrong,
            reason: Some("`logits`: furthest off at [0]\nand more".to_owned()),
            times: None,
            ..entry()
        };
        let lines = BenchLines {
            entries: vec![entry(), decode, wrong],
            problems: Vec::new(),
        };
        insta::assert_snapshot!(render_bench(&BenchSummary::new(lines, None)));
    }
}
