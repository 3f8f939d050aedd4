//! `operators` of a spec: the shapes of each operator, or of a group of them.

use crate::spec::{
    fields::{SpecDecoder, list},
    tree::{Node, YamlValue},
};
use serde::Serialize;
use testgen_base::text::Quoted;
use testgen_types::{Operator, OperatorGroup};

/// An operator with the shapes that it is computed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorSpec {
    /// The operator.
    pub operator: Operator,
    /// Shapes with the sizes that [`Operator::sizes`] names.
    pub shapes: Vec<Vec<u64>>,
}

/// The operators in the order of their declaration, each with at least one shape: its own, or else
/// the shapes of its group.
pub(super) fn shapes(decoder: &mut SpecDecoder, node: &Node) -> Vec<OperatorSpec> {
    let groups = OperatorGroup::ALL.iter().map(|group| group.as_str());
    let operators = Operator::ALL.iter().map(|operator| operator.as_str());
    let names: Vec<&str> = groups.chain(operators).collect();
    let Some(fields) = decoder.mapping(node, "operators", &names, &[]) else {
        return Vec::new();
    };
    let (mut all, mut with_problems) = (Vec::new(), Vec::new());
    for &operator in Operator::ALL {
        // The operator first: its shapes replace the shapes of its group.
        let keys = [operator.as_str(), operator.group().as_str()];
        let found = keys.map(|key| Some((key, fields.optional(key)?)));
        let Some((key, node)) = found.into_iter().flatten().next() else {
            continue;
        };
        // A problem of a group is not repeated for each of its operators.
        if with_problems.contains(&key) {
            continue;
        }
        let known = decoder.problems.len();
        let shapes = list_of_shapes(decoder, node, &fields.key(key), operator);
        with_problems.extend((decoder.problems.len() > known).then_some(key));
        all.push(OperatorSpec { operator, shapes });
    }
    // A mapping of unknown keys alone has its problems already.
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
    // All items count, also the ones with a problem: the number of sizes may be right.
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
