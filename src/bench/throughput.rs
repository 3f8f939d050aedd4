//! Plots of throughput over the batch and over the length: one line for each device, engine and
//! precision.
//!
//! Owns: which rows are points of which line. Does not own how a plot is drawn (`plot_svg`). Only
//! work that was timed has a point, so that its result agreed with its reference; work that is wrong
//! in another report has none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};
use testgen_types::{BenchEntry, BenchStatus, BenchTimes, Measured};

/// A plot of one kind of work.
#[derive(Debug, PartialEq)]
pub(super) struct SpeedPlot {
    pub(super) work: PlottedWork,
    /// In the order of their names.
    pub(super) lines: Vec<SpeedLine>,
}

/// The work of a plot; all its points have it in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlottedWork {
    pub(super) subject: String,
    pub(super) measured: Measured,
    pub(super) over: PlottedSize,
    /// The size that is the same in all points: tokens over the batch, and the batch over tokens.
    fixed: Option<usize>,
    steps: Option<u32>,
    /// The unit of throughput.
    pub(super) unit: &'static str,
}

/// The size that a plot is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlottedSize {
    /// Inputs that are computed together.
    Batch,
    /// Tokens of each input.
    Tokens,
}

/// The throughput of a device with an engine in a precision.
#[derive(Debug, PartialEq)]
pub(super) struct SpeedLine {
    pub(super) name: String,
    /// In ascending order of their size.
    pub(super) points: Vec<SpeedPoint>,
}

impl SpeedLine {
    fn new(name: String, sizes: BTreeMap<usize, Vec<&BenchEntry>>) -> Self {
        Self {
            name,
            points: sizes
                .into_iter()
                .filter_map(|(size, entries)| SpeedPoint::new(size, &entries))
                .collect(),
        }
    }
}

/// The throughput at one size: from the median of the times, and from the times that 95 % and 5 %
/// of the calls stay below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SpeedPoint {
    pub(super) size: usize,
    pub(super) rate: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) calls: usize,
}

impl fmt::Display for PlottedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            subject, measured, ..
        } = self;
        write!(f, "{subject}: {measured} over {}", self.over.name())?;
        match (self.over, self.fixed) {
            (_, None) => {}
            (PlottedSize::Batch, Some(tokens)) => write!(f, ", {tokens} tokens")?,
            (PlottedSize::Tokens, Some(batch)) => write!(f, ", batch {batch}")?,
        }
        match self.steps {
            Some(steps) => write!(f, ", {steps} steps"),
            None => Ok(()),
        }
    }
}

impl PlottedSize {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Tokens => "tokens",
        }
    }

    /// The label of its axis, with the unit.
    pub(super) const fn axis(self) -> &'static str {
        match self {
            Self::Batch => "batch (inputs)",
            Self::Tokens => "length (tokens of each input)",
        }
    }
}

/// The rows of each line of a plot by their size.
type LinesOfRows<'a> = BTreeMap<String, BTreeMap<usize, Vec<&'a BenchEntry>>>;

/// Every plot with at least two sizes, in the order of subjects.
pub(super) fn plots(entries: &[BenchEntry]) -> Vec<SpeedPlot> {
    let wrong: Vec<&BenchEntry> = entries
        .iter()
        .filter(|entry| entry.status == BenchStatus::Wrong)
        .collect();
    let mut rows: BTreeMap<PlottedWork, LinesOfRows<'_>> = BTreeMap::new();
    for entry in entries {
        if wrong.iter().any(|wrong| contradicts(wrong, entry)) {
            continue;
        }
        for (work, size) in plotted_works(entry) {
            let lines = rows.entry(work).or_default();
            let sizes = lines.entry(line_name(entry)).or_default();
            sizes.entry(size).or_default().push(entry);
        }
    }
    rows.into_iter()
        .filter_map(|(work, lines)| {
            let sizes: BTreeSet<usize> = lines.values().flat_map(BTreeMap::keys).copied().collect();
            // A single size shows no dependence on it.
            (sizes.len() > 1).then(|| SpeedPlot::new(work, lines))
        })
        .collect()
}

/// Whether a row that is wrong is about the work of `entry`.
fn contradicts(wrong: &BenchEntry, entry: &BenchEntry) -> bool {
    // A row without sizes is about all work of its subject.
    let same_size = wrong.measured.is_none()
        || (wrong.measured, wrong.batch, wrong.tokens)
            == (entry.measured, entry.batch, entry.tokens);
    same_size && wrong.subject == entry.subject && line_name(wrong) == line_name(entry)
}

/// The plots that a row is a point of, with its size in each.
fn plotted_works(entry: &BenchEntry) -> Vec<(PlottedWork, usize)> {
    // Not the products of a call: their rows differ in `case`, which a plot does not have.
    let measured = entry.measured.filter(|measured| {
        matches!(
            measured,
            Measured::Forward | Measured::Prefill | Measured::Decode
        )
    });
    let (Some(measured), Some((_, unit)), Some(batch)) =
        (measured, entry.per_second(), entry.batch)
    else {
        return Vec::new();
    };
    let work = |over, fixed| PlottedWork {
        subject: entry.subject.clone(),
        measured,
        over,
        fixed,
        steps: entry.steps,
        unit,
    };
    let mut works = vec![(work(PlottedSize::Batch, entry.tokens), batch)];
    if let Some(tokens) = entry.tokens {
        works.push((work(PlottedSize::Tokens, Some(batch)), tokens));
    }
    works
}

/// The device, the engine and the precision of a row, and the name of the device.
fn line_name(entry: &BenchEntry) -> String {
    let index = entry.device_index.map(|index| format!(":{index}"));
    let engine = entry.engine.as_deref().unwrap_or("native");
    let facts = entry.device_facts.as_ref().map(|facts| {
        let simulated = if facts.simulated { ", SIMULATED" } else { "" };
        format!(" ({}{simulated})", facts.name)
    });
    // Engines that are processes do not depend on how the runtime was compiled.
    let is_slow = !entry.optimised && entry.engine.is_none();
    format!(
        "{}{} {engine} {}{}{}",
        entry.device,
        index.unwrap_or_default(),
        entry.precision,
        facts.unwrap_or_default(),
        if is_slow {
            ", without optimisation"
        } else {
            ""
        }
    )
}

impl SpeedPlot {
    fn new(work: PlottedWork, lines: LinesOfRows<'_>) -> Self {
        Self {
            work,
            lines: lines
                .into_iter()
                .map(|(name, sizes)| SpeedLine::new(name, sizes))
                .collect(),
        }
    }
}

impl SpeedPoint {
    /// Of the calls of several reports together.
    fn new(size: usize, entries: &[&BenchEntry]) -> Option<Self> {
        let first = entries.first()?;
        // The work of one call, in the unit of the rate.
        let work = first.per_second()?.0 * first.times.as_ref()?.median;
        let calls = entries
            .iter()
            .filter_map(|entry| entry.times.as_ref())
            .flat_map(|times| times.milliseconds.iter().copied());
        let times = BenchTimes::new(calls.collect())?;
        Some(Self {
            size,
            rate: work / times.median,
            low: work / times.p95,
            high: work / times.p5,
            calls: times.milliseconds.len(),
        })
    }
}

#[cfg(test)]
mod tests;
