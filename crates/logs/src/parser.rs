//! Reads lines. Keeps the last heading and the numbers of counted lines, nothing else.

use super::{
    ansi,
    compiled::{CompiledBlock, CompiledDefinition, FoundStep, MetricValues},
    format::LogFormat,
    formats::{BLOCKS, definitions},
    rank,
    record::{ParsedLine, Record},
};
use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;

/// A parser of the lines of one log.
pub struct Parser {
    /// Finds the signatures of all forms at once.
    signatures: AhoCorasick,
    /// The forms of each signature.
    forms: Vec<Vec<LogForm>>,
    definitions: Vec<CompiledDefinition>,
    blocks: Vec<CompiledBlock>,
    bar: BarFinders,
    /// The last heading: the block and its step.
    heading: Option<(usize, u64)>,
    /// Counted lines so far.
    counted: u64,
    clean: Vec<u8>,
}

#[derive(Clone, Copy)]
enum LogForm {
    Definition(usize),
    Block(usize),
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the start of a log.
    pub fn new() -> Self {
        let definitions: Vec<CompiledDefinition> =
            definitions().map(CompiledDefinition::new).collect();
        let blocks: Vec<CompiledBlock> = BLOCKS.iter().map(CompiledBlock::new).collect();
        let mut texts: Vec<&str> = Vec::new();
        let mut forms: Vec<Vec<LogForm>> = Vec::new();
        let lines = definitions
            .iter()
            .enumerate()
            .map(|(index, line)| (line.signature, LogForm::Definition(index)));
        let headings = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| (block.heading, LogForm::Block(index)));
        for (text, form) in lines.chain(headings) {
            // Several forms can have one signature, and a search finds only one of equal texts.
            match texts.iter().position(|other| *other == text) {
                Some(position) => forms[position].push(form),
                None => {
                    texts.push(text);
                    forms.push(vec![form]);
                }
            }
        }
        let signatures = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(texts);
        let signatures = signatures.expect("a few short signatures");
        assert!(
            forms.len() <= u64::BITS as usize,
            "a bit for each signature"
        );
        Self {
            signatures,
            forms,
            definitions,
            blocks,
            bar: BarFinders::new(),
            heading: None,
            counted: 0,
            clean: Vec::new(),
        }
    }

    /// Reads the next line, or the next state of a progress bar. Any bytes are accepted.
    pub fn read(&mut self, line: &[u8]) -> ParsedLine {
        // Taken out because reading borrows the whole parser; its memory is used again.
        let mut clean = std::mem::take(&mut self.clean);
        let parsed = self.read_clean(ansi::strip(line, &mut clean));
        self.clean = clean;
        parsed
    }

    fn read_clean(&mut self, line: &[u8]) -> ParsedLine {
        // First: a line of a block may contain a signature by chance.
        if let Some(parsed) = self.part(line) {
            return parsed;
        }
        let mut search = SignatureSearch::default();
        while let Some(found) = search.next(&self.signatures, line) {
            // By index, because reading a form borrows the whole parser.
            for index in 0..self.forms[found.pattern].len() {
                if let Some(parsed) =
                    self.form(self.forms[found.pattern][index], line, found.prefix)
                {
                    return parsed;
                }
            }
        }
        if self.bar.is_in(line) {
            ParsedLine::Progress
        } else {
            ParsedLine::Unmatched
        }
    }

    /// A line below the last heading.
    fn part(&self, line: &[u8]) -> Option<ParsedLine> {
        let (index, step) = self.heading?;
        let block = &self.blocks[index];
        if !block.is_part(line) {
            return None;
        }
        let Some(values) = block.values(line) else {
            return Some(ParsedLine::Part);
        };
        Some(ParsedLine::Record(Record {
            format: block.format,
            step,
            is_counted: false,
            is_about_run: false,
            // A line of a block begins with its text, so that no prefix names a rank.
            rank: None,
            values,
        }))
    }

    fn form(&mut self, form: LogForm, line: &[u8], prefix: &[u8]) -> Option<ParsedLine> {
        match form {
            LogForm::Block(index) => {
                // A line without a step is not a heading, and the last one stays.
                self.heading = Some((index, self.blocks[index].step(line)?));
                Some(ParsedLine::Part)
            }
            LogForm::Definition(index) => {
                let definition = &self.definitions[index];
                let (step, values) = definition.read(line)?;
                let (format, is_about_run) = (definition.format, definition.is_about_run());
                let mut record = self.record(format, step, prefix, values);
                record.is_about_run = is_about_run;
                Some(ParsedLine::Record(record))
            }
        }
    }

    fn record(
        &mut self,
        format: LogFormat,
        step: FoundStep,
        prefix: &[u8],
        values: MetricValues,
    ) -> Record {
        let (step, is_counted) = match step {
            FoundStep::Printed(step) => (step, false),
            FoundStep::Counted => {
                self.counted += 1;
                (self.counted, true)
            }
        };
        Record {
            format,
            step,
            is_counted,
            is_about_run: false,
            rank: rank::parse(prefix),
            values,
        }
    }
}

/// The signatures in a line, each once.
// One may occur by chance before the signature of the form, so that all of them are tried; but a
// form reads the whole line, and a long line may repeat one signature.
#[derive(Default)]
struct SignatureSearch {
    start: usize,
    /// A bit for each signature.
    tried: u64,
}

struct FoundSignature<'a> {
    pattern: usize,
    /// The line before it.
    prefix: &'a [u8],
}

impl SignatureSearch {
    fn next<'a>(&mut self, signatures: &AhoCorasick, line: &'a [u8]) -> Option<FoundSignature<'a>> {
        while let Some(found) = signatures.find(&line[self.start..]) {
            let prefix = &line[..self.start + found.start()];
            // One byte further, and not after the signature: signatures can overlap.
            self.start = prefix.len() + 1;
            let pattern = found.pattern().as_usize();
            if self.tried & 1 << pattern == 0 {
                self.tried |= 1 << pattern;
                return Some(FoundSignature { pattern, prefix });
            }
        }
        None
    }
}

/// Prepared searches for a state of a tqdm bar: every line without numbers is searched for it.
struct BarFinders {
    percent: Finder<'static>,
    rates: [Finder<'static>; 2],
}

impl BarFinders {
    fn new() -> Self {
        Self {
            percent: Finder::new("%|"),
            rates: ["it/s", "s/it"].map(Finder::new),
        }
    }

    fn is_in(&self, line: &[u8]) -> bool {
        self.percent.find(line).is_some() && self.rates.iter().any(|rate| rate.find(line).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{Parser, SignatureSearch};

    #[test]
    fn each_signature_of_a_line_is_tried_once() {
        let parser = Parser::new();
        for signature in [
            "  tps: ", "Epoch ", "(train)", "[batch=", ", time ", "'loss': ",
        ] {
            let line = signature.repeat(1000);
            let mut search = SignatureSearch::default();
            let mut found = 0;
            while search.next(&parser.signatures, line.as_bytes()).is_some() {
                found += 1;
            }
            assert!((1..=3).contains(&found), "`{signature}`: {found}");
        }
    }
}
