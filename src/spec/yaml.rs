//! Parses the YAML of one spec with limits on time and memory, whatever the text contains.

use super::{
    ModelSpec, decode,
    fields::SpecDecoder,
    problem::SpecProblem,
    tree::{Node, YamlValue},
};
use serde_yaml::DuplicateKeyPolicy;
use std::{ops::Range, sync::Arc};
use testgen_base::text::Quoted;

/// The maximum size of a spec in bytes.
// A real one has about 500.
pub(super) const LARGEST_FILE: u64 = 256 * 1024;

/// A spec's text and its origin.
#[derive(Debug, Clone)]
pub struct SpecFile {
    /// The path as errors show it.
    pub path: String,
    /// The stem of the file, which must be the model's name.
    pub stem: String,
    /// The text.
    pub text: Arc<str>,
}

/// Reads a spec, or returns all its errors.
pub fn read(file: &SpecFile) -> Result<ModelSpec, Vec<SpecProblem>> {
    let document: Node = match serde_yaml::from_str_with_options(&file.text, options()) {
        Ok(document) => document,
        Err(error) => return Err(vec![syntax_problem(file, &error)]),
    };
    if document.value == YamlValue::Null {
        let help = "write one by hand, or with `testgen add DIR`";
        return Err(vec![
            SpecProblem::of_file(&file.path, "the spec is empty").with_help(help),
        ]);
    }
    let mut decoder = SpecDecoder::new(&file.path, Arc::clone(&file.text));
    decode::spec(&mut decoder, &document, &file.stem).ok_or(decoder.problems)
}

/// Limits far above any real spec.
fn options() -> serde_yaml::Options {
    // With them aliases cannot multiply, and nesting cannot overflow the stack.
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_depth: 16,
            flow_nesting_limit: 16,
            max_aliases: 64,
            max_anchors: 64,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: 1024 * 1024,
            max_documents: 1,
            max_merge_keys: 64,
            max_total_scalar_bytes: 256 * 1024,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        // As in YAML 1.2: `no`, `on` and `y` are text.
        strict_booleans: true,
        // `SpecProblem` shows the line itself, in the layout of all other errors.
        with_snippet: false,
    }
}

fn syntax_problem(file: &SpecFile, error: &serde_yaml::Error) -> SpecProblem {
    let place = error
        .location()
        .map(|location| (Arc::clone(&file.text), place(&file.text, &location)));
    let (message, help) = explain(error.without_snippet());
    SpecProblem {
        path: file.path.clone(),
        message,
        place,
        help: help.map(str::to_owned),
    }
}

/// The parser's message in this program's terms.
fn explain(error: &serde_yaml::Error) -> (String, Option<&'static str>) {
    use serde_yaml::Error;
    const BOUNDS: &str = "a spec is a page of plain YAML: a few levels deep, with hardly an alias";
    match error {
        Error::AliasError { error, .. } => explain(error),
        Error::Budget { breach, .. } => {
            let breach = format!("{breach:?}");
            // The name of the limit alone, without the parser's numbers.
            let what = breach.split([' ', '{', '(']).next().unwrap_or_default();
            (
                format!("the YAML is larger or deeper than a spec can be ({what})"),
                Some(BOUNDS),
            )
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => (
            "aliases multiply beyond what a spec can be".to_owned(),
            Some(BOUNDS),
        ),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            ("an alias refers to what it is part of".to_owned(), None)
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key
                .as_deref()
                .map(|key| format!(" {}", Quoted(key)))
                .unwrap_or_default();
            (format!("the key{key} is given twice"), None)
        }
        other => (one_line(&other.to_string()), None),
    }
}

/// The byte position of an error, computed from line and column if it has no byte offset.
fn place(text: &str, location: &serde_yaml::Location) -> Range<usize> {
    // The parser counts lines and columns from 1.
    let line = usize::try_from(location.line())
        .unwrap_or(1)
        .saturating_sub(1);
    let column = usize::try_from(location.column())
        .unwrap_or(1)
        .saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let row = text.get(start..).unwrap_or("").lines().next().unwrap_or("");
    let offset = row
        .char_indices()
        .nth(column)
        .map_or(row.len(), |(offset, _)| offset);
    let width = row
        .get(offset..)
        .and_then(|rest| rest.chars().next())
        .map_or(0, char::len_utf8);
    start + offset..start + offset + width
}

/// The parser's message without its own position, on one line.
fn one_line(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
