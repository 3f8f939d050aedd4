//! `stress` of a spec: the shapes of the check `stress`, by operator and issue.

use super::operators::{OperatorSpec, list_of_shapes};
use crate::spec::{
    fields::SpecDecoder,
    tree::{Node, YamlValue},
};
use serde::Serialize;
use testgen_base::text::Quoted;
use testgen_types::Operator;

/// Shapes of the check `stress` with their origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StressSpec {
    /// The operator.
    pub operator: Operator,
    /// The issue that reports a fault of such sizes, `repository#number`, or a word.
    pub issue: String,
    /// Shapes with the sizes that [`Operator::sizes`] names.
    pub shapes: Vec<Vec<u64>>,
}

/// The longest issue.
const LONGEST: usize = 64;

/// The shapes in the order of the operators' declaration and of the issues in the file.
pub(super) fn shapes(
    decoder: &mut SpecDecoder,
    node: &Node,
    operators: &[OperatorSpec],
) -> Vec<StressSpec> {
    let names: Vec<&str> = Operator::ALL
        .iter()
        .map(|operator| operator.as_str())
        .collect();
    let Some(fields) = decoder.mapping(node, "stress", &names, &[]) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for &operator in Operator::ALL {
        let Some(node) = fields.optional(operator.as_str()) else {
            continue;
        };
        let path = fields.key(operator.as_str());
        if !operators.iter().any(|named| named.operator == operator) {
            let help = "name the operator in `operators`, too, with at least one shape for the other checks".to_owned();
            decoder.complain(
                node,
                format!("`{path}` is not among `operators`"),
                Some(help),
            );
        }
        all.extend(of_operator(decoder, node, &path, operator));
    }
    all
}

/// The issues of one operator, each with its shapes.
fn of_operator(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    operator: Operator,
) -> Vec<StressSpec> {
    let YamlValue::Mapping(entries) = &node.value else {
        let help = "write the issues with their shapes, for instance `vllm#51511: [[1, 8192, 64]]`"
            .to_owned();
        decoder.complain(
            node,
            format!("`{path}` must be a mapping, found {}", node.value.kind()),
            Some(help),
        );
        return Vec::new();
    };
    if entries.is_empty() {
        decoder.complain(
            node,
            format!("`{path}` is empty"),
            Some("name at least one issue with shapes".to_owned()),
        );
    }
    let mut all = Vec::new();
    for (key, value) in entries {
        let issue = &key.value;
        if !is_issue(issue) {
            let help = "write `repository#number` or a word: letters, digits, spaces, `.`, `_`, `-` and `#`".to_owned();
            decoder.complain(
                key,
                format!("{} in `{path}` is not an issue", Quoted(issue)),
                Some(help),
            );
        }
        let shapes = list_of_shapes(decoder, value, &format!("{path}.{issue}"), operator);
        all.push(StressSpec {
            operator,
            issue: issue.clone(),
            shapes,
        });
    }
    all
}

/// Whether the text can be an issue: it is part of messages and of generated code.
fn is_issue(text: &str) -> bool {
    let is_known =
        |character: char| character.is_ascii_alphanumeric() || " ._#-".contains(character);
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        // All permitted characters are ASCII, so that bytes are characters.
        && text.len() <= LONGEST
        && text.chars().all(is_known)
}
