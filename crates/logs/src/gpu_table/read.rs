//! Reads a table once from start to end.

use super::{
    cells::{known, split},
    columns::GpuColumns,
    table::{GpuSummary, GpuTable},
};
use crate::{
    error::LogError,
    number,
    segments::{Segments, is_compressed},
};
use std::{collections::BTreeMap, io::Read, path::Path};

/// The GPUs that are kept, so that a damaged column of indices cannot fill the memory.
const GPUS: usize = 4096;
/// The lines before the heading that are read, for warnings of `rocm-smi`.
const PREAMBLE: u64 = 50;
/// The characters of a name that are kept.
const NAME_CHARS: usize = 100;

/// Reads a table of GPUs to its end; `None` if none of its first lines is a heading. `path` is its
/// name in messages.
///
/// # Errors
///
/// When reading fails, or the file is compressed.
pub fn read_gpu_table(path: &Path, source: impl Read) -> Result<Option<GpuTable>, LogError> {
    let mut segments = Segments::new(source);
    let mut reading = TableReading::default();
    loop {
        let segment = segments.next().map_err(|source| LogError::Read {
            path: path.to_owned(),
            source,
        })?;
        let Some(segment) = segment else { break };
        if segment.line == 1 && is_compressed(segment.bytes) {
            return Err(LogError::Compressed {
                path: path.to_owned(),
            });
        }
        // A large file of another kind is not read to its end.
        if segment.line > PREAMBLE && reading.columns.is_none() {
            return Ok(None);
        }
        reading.add(&String::from_utf8_lossy(segment.bytes));
    }
    Ok(reading.finish(path))
}

#[derive(Default)]
struct TableReading {
    columns: Option<GpuColumns>,
    rows: u64,
    unmatched: u64,
    gpus: BTreeMap<String, GpuSummary>,
}

impl TableReading {
    fn add(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let cells = split(line);
        // A loop prints the heading again before each row.
        if let Some(columns) = GpuColumns::new(&cells) {
            self.columns = Some(columns);
            return;
        }
        match &self.columns {
            // A warning between the rows has another number of cells.
            Some(columns) if columns.count == cells.len() => {
                let is_row = add_row(&mut self.gpus, columns, &cells);
                self.rows += u64::from(is_row);
                self.unmatched += u64::from(!is_row);
            }
            _ => self.unmatched += 1,
        }
    }

    fn finish(self, path: &Path) -> Option<GpuTable> {
        let gpus = self.gpus.into_iter().map(|(index, gpu)| {
            let metrics = gpu.metrics.into_iter();
            let metrics = metrics.filter_map(|(metric, values)| Some((metric, values.finish()?)));
            let metrics = metrics.collect();
            (index, GpuSummary { metrics, ..gpu })
        });
        Some(GpuTable {
            path: path.display().to_string(),
            tool: self.columns?.tool,
            rows: self.rows,
            unmatched: self.unmatched,
            gpus: gpus.collect(),
        })
    }
}

/// Whether the line has at least one number.
fn add_row(gpus: &mut BTreeMap<String, GpuSummary>, columns: &GpuColumns, cells: &[&str]) -> bool {
    let values: Vec<_> = columns
        .metrics
        .iter()
        .filter_map(|(column, metric, scale)| Some((*metric, value(cells[*column])? * scale)))
        .collect();
    // A table of one GPU often has no column of indices.
    let index = columns.index.map_or("0", |column| cells[column]);
    // `rocm-smi` prints `card0`.
    let index = index.strip_prefix("card").unwrap_or(index);
    let is_known = gpus.contains_key(index) || gpus.len() < GPUS;
    // A line without a number is a warning, or of a GPU that reports nothing.
    if values.is_empty() || !is_known {
        return false;
    }
    let gpu = gpus.entry(shortened(index)).or_default();
    for (field, column) in [
        (&mut gpu.name, columns.name),
        (&mut gpu.driver, columns.driver),
    ] {
        if field.is_none() {
            *field = column
                .and_then(|column| known(cells[column]))
                .map(shortened);
        }
    }
    for (metric, value) in values {
        gpu.metrics.entry(metric).or_default().add(value);
    }
    true
}

/// The number of a cell: `912.10 W`, `98 %`, `(800Mhz)`.
fn value(cell: &str) -> Option<f64> {
    let cell = cell.strip_prefix('(').unwrap_or(cell);
    let (value, _) = number::at_start(cell.as_bytes())?;
    value.is_finite().then_some(value)
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME_CHARS).collect()
}
