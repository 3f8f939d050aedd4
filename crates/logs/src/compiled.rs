//! Forms of lines with prepared searches.

use super::{
    definition::{Field, LinePosition, LogBlock, LogDefinition, StepSource},
    format::LogFormat,
    metric::Metric,
    number, step,
    unit::Unit,
};
use memchr::memmem::Finder;

/// A form with the numbers of a step on one line.
pub(super) struct CompiledDefinition {
    pub(super) format: LogFormat,
    pub(super) signature: &'static str,
    any_of: Vec<Finder<'static>>,
    step: Vec<CompiledStep>,
    fields: Vec<CompiledField>,
}

/// A form with a heading.
pub(super) struct CompiledBlock {
    pub(super) format: LogFormat,
    pub(super) heading: &'static str,
    step: CompiledSearch,
    parts: &'static [&'static str],
    fields: Vec<CompiledField>,
}

/// The step of a line, and whether it is counted instead of printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundStep {
    Printed(u64),
    Counted,
}

enum CompiledStep {
    /// A prepared search has 300 bytes.
    At(Box<CompiledSearch>),
    Bar,
    EpochBracket,
    Counted,
}

impl CompiledStep {
    fn new(source: &StepSource) -> Self {
        match source {
            StepSource::At(place) => Self::At(Box::new(CompiledSearch::new(*place))),
            StepSource::Bar => Self::Bar,
            StepSource::EpochBracket => Self::EpochBracket,
            StepSource::Counted => Self::Counted,
        }
    }
}

struct CompiledField {
    metric: Metric,
    search: CompiledSearch,
    unit: Unit,
}

struct CompiledSearch {
    finder: Finder<'static>,
    is_after: bool,
    /// Whether the text may not continue a word: `loss: ` is not part of `lm_loss: `.
    starts_word: bool,
}

/// A value for each metric.
pub(super) type MetricValues = [Option<f64>; Metric::COUNT];

impl CompiledDefinition {
    pub(super) fn new(definition: &LogDefinition) -> Self {
        Self {
            format: definition.format,
            signature: definition.signature,
            any_of: definition
                .any_of
                .iter()
                .map(|text| Finder::new(text.as_bytes()))
                .collect(),
            step: definition.step.iter().map(CompiledStep::new).collect(),
            fields: compiled(definition.fields),
        }
    }

    /// Whether its lines have no step.
    pub(super) fn is_about_run(&self) -> bool {
        self.step.is_empty()
    }

    /// The step and the values of a line that contains the signature; 0 if it is about the run.
    pub(super) fn read(&self, line: &[u8]) -> Option<(FoundStep, MetricValues)> {
        // Before the step and the fields, which are searched one after another.
        if !self.any_of.is_empty() && !self.any_of.iter().any(|finder| finder.find(line).is_some())
        {
            return None;
        }
        let step = match self.is_about_run() {
            // No curve gets it: a line about the run has no step.
            true => FoundStep::Printed(0),
            false => self.step.iter().find_map(|step| step.read(line))?,
        };
        // Without any number the line is not of this form, and the next one is tried.
        Some((step, values(&self.fields, line)?))
    }
}

impl CompiledBlock {
    pub(super) fn new(block: &LogBlock) -> Self {
        Self {
            format: block.format,
            heading: block.heading,
            step: CompiledSearch::new(LinePosition::After(block.heading)),
            parts: block.parts,
            fields: compiled(block.fields),
        }
    }

    /// The step of a heading.
    pub(super) fn step(&self, line: &[u8]) -> Option<u64> {
        number::whole(self.step.number(line)?.0)
    }

    /// Whether a line after the heading belongs to the block.
    pub(super) fn is_part(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii_start();
        self.parts
            .iter()
            .any(|part| line.starts_with(part.as_bytes()))
    }

    /// The values of a line of the block.
    pub(super) fn values(&self, line: &[u8]) -> Option<MetricValues> {
        values(&self.fields, line)
    }
}

impl CompiledStep {
    fn read(&self, line: &[u8]) -> Option<FoundStep> {
        match self {
            Self::At(search) => number::whole(search.number(line)?.0).map(FoundStep::Printed),
            Self::Bar => step::of_bar(line).map(FoundStep::Printed),
            Self::EpochBracket => step::of_brackets(line).map(FoundStep::Printed),
            Self::Counted => Some(FoundStep::Counted),
        }
    }
}

impl CompiledSearch {
    fn new(place: LinePosition) -> Self {
        let (text, is_after) = match place {
            LinePosition::After(text) => (text, true),
            LinePosition::Before(text) => (text, false),
        };
        // A text that begins with a sign, as `| lr `, cannot continue a word.
        let starts_word = is_after && text.as_bytes()[0].is_ascii_alphanumeric();
        Self {
            finder: Finder::new(text.as_bytes()),
            is_after,
            starts_word,
        }
    }

    /// The first number at this place, and what follows it.
    fn number<'a>(&self, line: &'a [u8]) -> Option<(f64, &'a [u8])> {
        // The text may also occur in a message before its number.
        self.finder.find_iter(line).find_map(|position| {
            if !self.is_after {
                return Some((number::at_end(&line[..position])?, &line[position..]));
            }
            if self.starts_word && position > 0 && continues_word(line[position - 1]) {
                return None;
            }
            let rest = &line[position + self.finder.needle().len()..];
            let (value, end) = number::at_start(rest)?;
            Some((value, &rest[end..]))
        })
    }
}

fn continues_word(byte: u8) -> bool {
    // `lm_loss: ` and `eval/loss: ` are other numbers than `loss: `.
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/')
}

fn compiled(fields: &[Field]) -> Vec<CompiledField> {
    let compiled = fields.iter().map(|&Field(metric, place, unit)| {
        let search = CompiledSearch::new(place);
        CompiledField {
            metric,
            search,
            unit,
        }
    });
    compiled.collect()
}

/// None if the line has no value at all.
fn values(fields: &[CompiledField], line: &[u8]) -> Option<MetricValues> {
    let mut values = [None; Metric::COUNT];
    for field in fields {
        let value = &mut values[field.metric.index()];
        // Fields of one metric are its forms in several releases: the first that is found counts.
        if value.is_none() {
            *value = field
                .search
                .number(line)
                .map(|(number, rest)| field.unit.convert(number, rest));
        }
    }
    values.iter().any(Option::is_some).then_some(values)
}
