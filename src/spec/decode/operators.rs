//! `operators` of a spec: the shapes of each operator.

use crate::spec::{
    OperatorSpec,
    fields::{SpecDecoder, list},
    tree::{Node, YamlValue},
};
use testgen_base::text::Quoted;
use testgen_types::Operator;

/// The operators in the order of their declaration, each with at least one shape.
pub(super) fn shapes(decoder: &mut SpecDecoder, node: &Node) -> Vec<OperatorSpec> {
    let names: Vec<&str> = Operator::ALL
        .iter()
        .map(|operator| operator.as_str())
        .collect();
    let Some(fields) = decoder.mapping(node, "operators", &names, &[]) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for &operator in Operator::ALL {
        let Some(node) = fields.optional(operator.as_str()) else {
            continue;
        };
        let path = fields.key(operator.as_str());
        all.push(OperatorSpec {
            operator,
            shapes: list_of_shapes(decoder, node, &path, operator),
        });
    }
    if all.is_empty() && matches!(&node.value, YamlValue::Mapping(entries) if entries.is_empty()) {
        decoder.complain(
            node,
            "`operators` is empty",
            Some("name at least one operator".to_owned()),
        );
    }
    all
}

/// At least one shape.
pub(super) fn list_of_shapes(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    operator: Operator,
) -> Vec<Vec<u64>> {
    let items = decoder.items(node, path);
    if items.is_empty() {
        decoder.complain(
            node,
            format!("`{path}` has no shape"),
            Some(example(operator)),
        );
    }
    items
        .into_iter()
        .filter_map(|(path, item)| shape(decoder, item, &path, operator))
        .collect()
}

/// One shape, with as many sizes as the operator has.
fn shape(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    operator: Operator,
) -> Option<Vec<u64>> {
    let items = decoder.items(node, path);
    let given = items.len();
    let sizes: Vec<u64> = items
        .into_iter()
        .filter_map(|(path, item)| decoder.positive(item, &path))
        .collect();
    if given != operator.sizes().len() {
        let message = format!(
            "`{path}` has {given} sizes, {} has {}",
            Quoted(operator.as_str()),
            operator.sizes().len()
        );
        decoder.complain(node, message, Some(example(operator)));
        return None;
    }
    Some(sizes)
}

fn example(operator: Operator) -> String {
    format!(
        "a shape of `{operator}` is a list of {}",
        list(operator.sizes())
    )
}
