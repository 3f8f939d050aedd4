//! The files of a searched directory, and tables of GPUs, as text for a terminal.

use super::{
    gpu_table::{GpuMetric, GpuTable},
    report::LogSource,
    search::{SearchOutcome, SearchedFile},
    unit::GIB,
};
use std::fmt::Write;
use testgen_base::text::{Align, Table, one_line};

/// The files that are listed; the others are counted.
// A job has a file for each of its processes.
const LISTED: usize = 20;
/// The GPUs of a table that are listed.
const GPUS: usize = 64;

/// The files of a directory that were taken, and the others with the reason.
pub(super) fn files(source: &LogSource) -> String {
    let mut text = String::new();
    for file in source.files.iter().take(LISTED) {
        text.push_str(&line(file));
    }
    let more = source.files.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, "  and {more} files more, which --format json lists");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn line(file: &SearchedFile) -> String {
    let rank = file
        .rank
        .map_or_else(String::new, |rank| format!(" (rank {rank})"));
    let (word, reason) = match &file.outcome {
        SearchOutcome::Taken => ("taken", String::new()),
        SearchOutcome::TakenAsGpuTable => ("GPUs", String::new()),
        SearchOutcome::NotRead => ("not read", ": another file is the log".to_owned()),
        SearchOutcome::NotALog(reason) => ("no log", format!(": {}", one_line(reason))),
    };
    format!("{word:<9}{}{rank}{reason}\n", one_line(&file.path))
}

/// The tables of GPUs of a run.
pub(super) fn gpus(source: &LogSource) -> String {
    source.gpus.iter().map(gpu_table).collect()
}

fn gpu_table(table: &GpuTable) -> String {
    let heads = ["values", "smallest", "largest", "mean"].map(|name| (name, Align::Right));
    let names = ["GPU", "name", "quantity"].map(|name| (name, Align::Left));
    let mut rows = Table::new(&[names.as_slice(), heads.as_slice()].concat());
    for (index, gpu) in table.gpus.iter().take(GPUS) {
        for (metric, summary) in &gpu.metrics {
            let values = [summary.min, summary.max, summary.mean];
            let values = values.map(|value| value.map_or(String::new(), |it| number(*metric, it)));
            let name = gpu.name.as_deref().unwrap_or("");
            let row = [
                one_line(index),
                one_line(name),
                metric.label().to_owned(),
                summary.count.to_string(),
            ];
            rows.push(row.into_iter().chain(values));
        }
    }
    format!(
        "\n{}: {}, GPUs: {}, rows: {}, other lines: {}\n\n{rows}",
        one_line(&table.path),
        table.tool.as_str(),
        table.gpus.len(),
        table.rows,
        table.unmatched
    )
}

/// One digit; memory in gibibytes with two.
fn number(metric: GpuMetric, value: f64) -> String {
    match metric {
        GpuMetric::MemoryUsed => format!("{:.2}", value / GIB),
        _ => format!("{value:.1}"),
    }
}
