//! Reads a log once from start to end.

use super::{
    curve::Curve,
    error::LogError,
    format::LogFormat,
    metric::Metric,
    parser::Parser,
    record::{ParsedLine, Record},
    segments::{LogSegment, Segments, is_compressed},
    statistics::MetricSummary,
    summary::{LogSummary, NonFinite},
};
use std::{collections::BTreeSet, io::Read, path::Path};
use testgen_base::text::one_line;

/// The places of non-finite losses that are kept; all are counted.
const PLACES: usize = 20;
/// The unmatched lines that are kept; all are counted.
const EXAMPLES: usize = 3;
/// The characters of an unmatched line that are kept.
const EXAMPLE_CHARS: usize = 200;
/// The ranks that are counted, so that damaged prefixes cannot fill the memory.
const RANKS: usize = 100_000;

/// Reads a log to its end. `path` is its name in messages.
///
/// # Errors
///
/// When reading fails, the file is compressed, or no line has a known form.
pub fn read_log(path: &Path, source: impl Read) -> Result<LogSummary, LogError> {
    let mut segments = Segments::new(source);
    let mut parser = Parser::new();
    let mut reading = Reading::new(path);
    loop {
        match segments.next() {
            Err(source) => {
                return Err(LogError::Read {
                    path: path.to_owned(),
                    source,
                });
            }
            Ok(None) => break,
            // Only at the start: elsewhere these bytes occur by chance.
            Ok(Some(segment)) if segment.line == 1 && is_compressed(segment.bytes) => {
                return Err(LogError::Compressed {
                    path: path.to_owned(),
                });
            }
            Ok(Some(segment)) => reading.add(&segment, &mut parser),
        }
    }
    reading.summary.bytes = segments.bytes();
    reading.finish(path)
}

struct Reading {
    summary: LogSummary,
    /// Lines with numbers of a step, for each of [`LogFormat::ALL`].
    formats: [u64; LogFormat::ALL.len()],
    /// For each of [`Metric::ALL`].
    metrics: [MetricSummary; Metric::COUNT],
    /// Steps that are printed and lines that are counted cannot be aligned, as in logs of DeepSpeed
    /// and of the Hugging Face Trainer.
    printed: LogSide,
    counted: LogSide,
    ranks: BTreeSet<u32>,
}

#[derive(Default)]
struct LogSide {
    curve: Curve,
    losses: u64,
    steps: Option<(u64, u64)>,
}

impl Reading {
    fn new(path: &Path) -> Self {
        let summary = LogSummary {
            path: path.display().to_string(),
            ..LogSummary::default()
        };
        let (formats, metrics) = ([0; LogFormat::ALL.len()], Default::default());
        Self {
            summary,
            formats,
            metrics,
            printed: LogSide::default(),
            counted: LogSide::default(),
            ranks: BTreeSet::new(),
        }
    }

    fn add(&mut self, segment: &LogSegment<'_>, parser: &mut Parser) {
        self.summary.lines = segment.line;
        self.summary.cut += u64::from(segment.is_cut);
        match parser.read(segment.bytes) {
            ParsedLine::Record(record) => self.record(record, segment.line),
            ParsedLine::Part => self.summary.parts += 1,
            ParsedLine::Progress => self.summary.progress += 1,
            // The line feed after a carriage return leaves an empty text.
            ParsedLine::Unmatched if segment.bytes.trim_ascii().is_empty() => {}
            ParsedLine::Unmatched => self.unmatched(segment.bytes),
        }
    }

    fn record(&mut self, mut record: Record, line: u64) {
        let is_hidden = record.hides_loss();
        if is_hidden {
            // As it was before the Trainer's filter, so that the log is red and the curve has no 0.
            record.values[Metric::Loss.index()] = Some(f64::NAN);
        }
        self.summary.records += 1;
        // `LogFormat::ALL` has the order of the declaration, by which `finish` reads these counts.
        self.formats[record.format as usize] += 1;
        if let Some(rank) = record.rank.filter(|_| self.ranks.len() < RANKS) {
            self.ranks.insert(rank);
        }
        for (metric, value) in self.metrics.iter_mut().zip(&record.values) {
            if let Some(value) = value {
                metric.add(*value);
            }
        }
        self.non_finite(&record, is_hidden, line);
        match (record.is_about_run, record.is_counted) {
            // A line about the run has no step, and would put one at 0.
            (true, _) => {}
            (false, true) => self.counted.add(&record),
            (false, false) => self.printed.add(&record),
        }
    }

    /// `is_hidden`: the loss was printed as 0.
    fn non_finite(&mut self, record: &Record, is_hidden: bool, line: u64) {
        let mut add = |count: u64, value: String| {
            // A damaged log can print any count.
            self.summary.non_finite_losses = self.summary.non_finite_losses.saturating_add(count);
            if self.summary.non_finite.len() < PLACES {
                self.summary.non_finite.push(NonFinite {
                    line,
                    step: record.step,
                    value,
                });
            }
        };
        if let Some(loss) = record.value(Metric::Loss).filter(|loss| !loss.is_finite()) {
            add(
                1,
                if is_hidden {
                    let norm = record.value(Metric::GradNorm).unwrap_or(f64::NAN);
                    format!("0 with a gradient norm of {norm}")
                } else {
                    loss.to_string()
                },
            );
        }
        // Megatron-LM leaves such losses out of the average that it prints.
        let iterations = record
            .value(Metric::NanIterations)
            // The cast makes 0 of NaN and of negative counts, and the largest number of larger
            // ones.
            .map_or(0, |count| count as u64);
        if iterations > 0 {
            add(
                iterations,
                format!("number of nan iterations: {iterations}"),
            );
        }
    }

    fn unmatched(&mut self, line: &[u8]) {
        self.summary.unmatched += 1;
        if self.summary.unmatched_examples.len() < EXAMPLES {
            // A character has at most four bytes; more of a long line need not be decoded.
            let start = &line[..line.len().min(EXAMPLE_CHARS * 4)];
            let text = String::from_utf8_lossy(start);
            let example: String = text.chars().take(EXAMPLE_CHARS).collect();
            self.summary.unmatched_examples.push(one_line(&example));
        }
    }

    fn finish(self, path: &Path) -> Result<LogSummary, LogError> {
        let mut summary = self.summary;
        if summary.records == 0 {
            let segments = summary.parts + summary.progress + summary.unmatched;
            return Err(LogError::NothingRecognised {
                path: path.to_owned(),
                segments,
            });
        }
        // Losses are compared by step, so the lines with losses decide.
        summary.steps_are_counted = self.counted.steps.is_some()
            && (self.printed.steps.is_none()
                || self.printed.losses == 0 && self.counted.losses > 0);
        let (side, other) = if summary.steps_are_counted {
            (self.counted, self.printed)
        } else {
            (self.printed, self.counted)
        };
        (summary.first_step, summary.last_step) = side.steps.unwrap_or_default();
        summary.curve = side.curve.finish();
        summary.other_curve = other.curve.finish();
        summary.ranks = self.ranks.len();
        let formats = LogFormat::ALL.iter().copied().zip(self.formats);
        summary.formats = formats.filter(|(_, count)| *count > 0).collect();
        let metrics = Metric::ALL.iter().copied().zip(self.metrics);
        // They are counted among the losses that are not finite.
        let metrics = metrics.filter(|(metric, _)| *metric != Metric::NanIterations);
        summary.metrics = metrics
            .filter_map(|(metric, values)| Some((metric, values.finish()?)))
            .collect();
        Ok(summary)
    }
}

impl LogSide {
    fn add(&mut self, record: &Record) {
        self.losses += u64::from(record.value(Metric::Loss).is_some());
        let (first, last) = self.steps.unwrap_or((record.step, record.step));
        // Not of the first and the last line: a run that restarts prints earlier steps again.
        self.steps = Some((first.min(record.step), last.max(record.step)));
        self.curve.add(record);
    }
}
