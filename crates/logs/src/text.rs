//! One or two logs as text for a terminal.

use super::{
    comparison::LogComparison, metric::Metric, report::LogReport, source_text,
    statistics::MetricSummary, summary::LogSummary, unit::GIB,
};
use std::fmt::Write;
use testgen_base::text::{Align, Table, one_line};

/// The logs, their comparison, and the result.
pub fn render_human(report: &LogReport, within: Option<f64>) -> String {
    let mut text: String = report
        .logs
        .iter()
        .zip(&report.sources)
        .map(|(log, source)| {
            let (files, gpus) = (source_text::files(source), source_text::gpus(source));
            files + &summary(log) + &gpus
        })
        .collect::<Vec<_>>()
        .join("\n");
    if let Some(comparison) = &report.comparison {
        text.push_str(&compared(comparison));
    }
    let _ = writeln!(text, "\nresult: {}", result(report, within));
    text
}

/// The result in one line, as the page shows it, too.
pub(super) fn result(report: &LogReport, within: Option<f64>) -> String {
    let non_finite: u64 = report
        .logs
        .iter()
        .map(|log| log.non_finite_losses)
        // A damaged log can print any count.
        .fold(0, u64::saturating_add);
    if non_finite > 0 {
        return format!("FAILED: NaN or infinite losses: {non_finite}");
    }
    if report
        .logs
        .iter()
        .any(|log| log.metric(Metric::Loss).is_none())
    {
        return "FAILED: no line has a loss, so that none was checked".to_owned();
    }
    let Some(comparison) = &report.comparison else {
        return "passed: every loss is finite".to_owned();
    };
    match comparison.losses() {
        // Before the others: it is the reason why no step is common.
        _ if !comparison.are_steps_comparable => {
            "FAILED: one log prints steps, the other one does not, so that they cannot be aligned"
                .to_owned()
        }
        _ if comparison.is_empty() => "FAILED: the logs have no step in common".to_owned(),
        None => "FAILED: the logs have no loss at a common step".to_owned(),
        Some(losses) => {
            let status = if report.is_green(within) {
                "passed"
            } else {
                "FAILED"
            };
            let difference = percent(losses.largest_relative);
            format!(
                "{status}: the losses differ by up to {difference} (common steps: {})",
                losses.common
            )
        }
    }
}

fn summary(log: &LogSummary) -> String {
    let mut text = format!("{}: {}\n", one_line(&log.path), formats(log));
    let source = if log.steps_are_counted {
        " (numbers of lines: the trainer does not print steps)"
    } else {
        ""
    };
    let _ = match log.curve.is_empty() {
        true => writeln!(text, "no line has a step"),
        false => writeln!(
            text,
            "steps {} to {}{source}",
            log.first_step, log.last_step
        ),
    };
    let _ = writeln!(
        text,
        "{} lines: {} with numbers, {} other lines of trainers, {} progress bars, {} unmatched",
        log.lines, log.records, log.parts, log.progress, log.unmatched
    );
    // Many trainers do not print ranks.
    if log.ranks > 0 {
        let _ = writeln!(text, "ranks with numbers: {}", log.ranks);
    }
    if log.cut > 0 {
        let _ = writeln!(
            text,
            "{} lines are longer than a mebibyte; their ends were not read",
            log.cut
        );
    }
    for example in &log.unmatched_examples {
        let _ = writeln!(text, "  unmatched | {example}");
    }
    for place in &log.non_finite {
        let _ = writeln!(
            text,
            "  line {}, step {}: loss: {}",
            place.line, place.step, place.value
        );
    }
    // The places are limited, and one line can count several losses.
    if log.non_finite_losses != log.non_finite.len() as u64 {
        let _ = writeln!(
            text,
            "  NaN or infinite losses in all: {}",
            log.non_finite_losses
        );
    }
    text.push('\n');
    text + &table(log).to_string()
}

fn formats(log: &LogSummary) -> String {
    log.formats
        .iter()
        .map(|(format, count)| format!("{} ({count})", format.as_str()))
        .collect::<Vec<_>>()
        .join(", ")
}

fn table(log: &LogSummary) -> Table {
    let heads = [
        "values",
        "first",
        "last",
        "smallest",
        "largest",
        "mean",
        "NaN or inf",
    ]
    .map(|name| (name, Align::Right));
    let mut table = Table::new(&[&[("metric", Align::Left)], heads.as_slice()].concat());
    for (metric, summary) in &log.metrics {
        let MetricSummary {
            count,
            non_finite,
            first,
            last,
            min,
            max,
            mean,
            ..
        } = summary;
        let values = [first, last, min, max, mean]
            .map(|value| value.map_or(String::new(), |value| number(*metric, value)));
        let row = [metric.label().to_owned(), count.to_string()]
            .into_iter()
            .chain(values);
        table.push(row.chain([non_finite.to_string()]));
    }
    table
}

fn compared(comparison: &LogComparison) -> String {
    let LogComparison {
        steps_per_point,
        common,
        only_first,
        only_second,
        metrics,
        ..
    } = comparison;
    let mut text = format!(
        "\n{common} common steps, {only_first} in the first log alone, {only_second} in the second\n"
    );
    if *steps_per_point > 1 {
        let _ = writeln!(
            text,
            "each of them is an interval of {steps_per_point} steps, compared by its means"
        );
    }
    let heads = [
        "steps",
        "first",
        "second",
        "ratio",
        "mean difference",
        "largest",
        "at step",
    ]
    .map(|name| (name, Align::Right));
    let mut table = Table::new(&[&[("metric", Align::Left)], heads.as_slice()].concat());
    for (metric, compared) in metrics {
        table.push([
            metric.label().to_owned(),
            compared.common.to_string(),
            number(*metric, compared.first),
            number(*metric, compared.second),
            compared
                .median_ratio
                .map_or(String::new(), |ratio| format!("{ratio:.3}")),
            number(*metric, compared.mean_difference),
            number(*metric, compared.largest_difference),
            compared.largest_at.to_string(),
        ]);
    }
    if !metrics.is_empty() {
        let _ = write!(text, "\n{table}");
    }
    text
}

/// Four digits; memory in gibibytes.
fn number(metric: Metric, value: f64) -> String {
    let value = if metric == Metric::Memory {
        value / GIB
    } else {
        value
    };
    match value.abs() {
        // Otherwise below the range, and written with an exponent.
        0.0 => "0".to_owned(),
        size if !(1e-3..1e7).contains(&size) => format!("{value:.3e}"),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn percent(fraction: f64) -> String {
    format!("{:.3} %", fraction * 100.0)
}
