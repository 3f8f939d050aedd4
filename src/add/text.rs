//! Writes the YAML of a new spec.

use super::FoundCheckpoint;
use crate::spec::{CheckpointPlace, CheckpointSource, ModelName};
use std::fmt::Write;
use testgen_types::{Architecture, Check, DeviceKind, Precision, Task};

/// The comments at the start of a spec.
#[derive(Debug, Clone, Copy)]
pub struct SpecHeader<'a> {
    /// The path from the spec to the JSON Schema, for editors.
    pub schema: Option<&'a str>,
    /// The rest of the comment, for instance what the checkpoint covers; it may have several lines.
    pub comment: Option<&'a str>,
}

/// The YAML of a new spec.
pub fn spec_text(
    name: &ModelName,
    found: &FoundCheckpoint,
    checkpoint: &CheckpointSource,
    header: SpecHeader<'_>,
) -> String {
    let architecture = found.model_type.architecture();
    let mut text = String::new();
    if let Some(schema) = header.schema {
        let _ = writeln!(text, "# yaml-language-server: $schema={schema}");
    }
    for line in header.comment.into_iter().flat_map(str::lines) {
        // An empty line of the comment would end in a space.
        let _ = writeln!(text, "{}", format!("# {line}").trim_end());
    }
    let _ = writeln!(text, "name: {}", scalar(name.as_str()));
    let _ = writeln!(text, "model_type: {}", found.model_type);
    // It follows from the model type, but the key is required.
    let _ = writeln!(text, "architecture: {architecture}");
    let _ = writeln!(text, "task: {}", found.task);
    write_checkpoint(&mut text, checkpoint);
    let precisions: Vec<Precision> = Precision::ALL
        .iter()
        .copied()
        .filter(|precision| {
            // The precisions that every device has; tf32 is for specs that ask for it.
            DeviceKind::ALL
                .iter()
                .all(|device| precision.applies_on(*device))
        })
        .collect();
    let _ = writeln!(text, "devices: [{}]", list(DeviceKind::ALL));
    let _ = writeln!(text, "precisions: [{}]", list(&precisions));
    skips(&mut text, found, architecture);
    text
}

/// The key `checkpoint`: its files, and its repository on the hub.
fn write_checkpoint(text: &mut String, checkpoint: &CheckpointSource) {
    let _ = writeln!(text, "checkpoint:");
    let _ = match &checkpoint.place {
        CheckpointPlace::Fixture(name) => writeln!(text, "  fixture: {}", scalar(name)),
        CheckpointPlace::Path(path) => writeln!(text, "  path: {}", scalar(path)),
        // JSON is YAML, too.
        CheckpointPlace::Synthetic(source) => {
            let source = serde_json::to_value(source).unwrap_or_default();
            writeln!(text, "  synthetic: {source}")
        }
    };
    if let Some(hub) = &checkpoint.hub {
        let _ = writeln!(text, "  hub: {}", scalar(hub));
    }
}

/// The checks that the checkpoint lacks files for, each with the reason.
fn skips(text: &mut String, found: &FoundCheckpoint, architecture: Architecture) {
    let mut skipped = Vec::new();
    if let Some(missing) = found.missing_preprocessor {
        skipped.push((
            Check::PreprocessGolden,
            format!("the checkpoint has no {missing}"),
        ));
    }
    let generated = [
        Task::TextGeneration,
        Task::Text2TextGeneration,
        Task::SpeechRecognition,
        Task::ImageTextToText,
        Task::RetrievalAugmentedGeneration,
    ];
    let generated = generated.contains(&found.task);
    // These checks belong to the architecture, which has them also with a classifier's head.
    if architecture.generates() && !generated {
        for check in [Check::GreedyMargin, Check::GenerationControls] {
            skipped.push((
                check,
                "the checkpoint has no language-model head".to_owned(),
            ));
        }
    }
    if !skipped.is_empty() {
        let _ = writeln!(text, "checks:\n  skip:");
    }
    for (check, reason) in skipped {
        let _ = writeln!(text, "    - {{ check: {check}, reason: \"{reason}\" }}");
    }
}

fn list<T: ToString>(words: &[T]) -> String {
    words
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A YAML scalar that every parser reads as text: plain where that is unambiguous, otherwise quoted
/// as in JSON.
fn scalar(text: &str) -> String {
    // YAML 1.1 reads more words as booleans than 1.2, and many parsers still follow it.
    const NOT_TEXT: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    // A digit or a dot at the start could be a number, and `-`, `*` or `&` has a meaning in YAML.
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic())
        || text.starts_with("../")
        || text.starts_with('/');
    let plain = begins_well
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
        && !NOT_TEXT.contains(&text.to_ascii_lowercase().as_str());
    if plain {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_text() {
        assert_eq!(scalar("bert-base"), "bert-base");
        assert_eq!(scalar("../../x/y"), "../../x/y");
        for (text, quoted) in [
            ("7b", "\"7b\""),
            ("No", "\"No\""),
            ("a: b", "\"a: b\""),
            ("a\nb", "\"a\\nb\""),
            ("", "\"\""),
        ] {
            assert_eq!(scalar(text), quoted);
        }
    }
}
