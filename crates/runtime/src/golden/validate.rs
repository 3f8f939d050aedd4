//! Whether the values of a golden can be what a recorder writes: masks, and the names that noise is
//! recorded for.

use super::{contents::RecordedCase, error::Unreadable, noise::Noise};
use std::collections::BTreeMap;
use testgen_nn::array::{Array, Arrays};
use testgen_types::Precision;

/// The parts that a golden may be without although their noise was measured.
const OPTIONAL: [&str; 4] = ["router.", "routing.", "tokens.", "trace."];

/// The nodes of the largest recorded graph.
// Recorders make some tens.
const LARGEST_GRAPH: i64 = 4096;

/// Whether the tensor `name` can be an argument: a mask has 0 and 1, and the mask of a text does
/// not hide all of it.
pub(super) fn input(name: &str, array: &Array) -> Result<(), Unreadable> {
    if !name.ends_with("mask") {
        return Ok(());
    }
    let numbers: Vec<f64> = match (array.as_integers(), array.as_floats()) {
        (Some(integers), _) => integers.iter().map(|value| *value as f64).collect(),
        // Some masks are recorded as floats, because transformers reads them so.
        (_, Some(floats)) => floats.iter().map(|value| f64::from(*value)).collect(),
        _ => return Ok(()),
    };
    // Any other value would be a bias in one implementation and a flag in another.
    if let Some(position) = numbers.iter().position(|value| ![0.0, 1.0].contains(value)) {
        return unreadable(
            format!(
                "element {position} is {}; a mask has 0 and 1",
                numbers[position]
            ),
            name,
        );
    }
    // Attention over nothing is NaN in transformers, so that nothing could be compared.
    if name.ends_with("attention_mask") && !numbers.contains(&1.0) {
        return unreadable(
            "it hides every token; a mask shows at least one".to_owned(),
            name,
        );
    }
    Ok(())
}

/// Whether the tensor `name` can be token ids: [rows, seq] with at least one column.
pub(super) fn tokens(name: &str, array: &Array) -> Result<(), Unreadable> {
    // At least one, because the first column begins a generation.
    if matches!(array.shape(), [_, columns] if *columns > 0) {
        return Ok(());
    }
    let why = format!(
        "its shape is {:?}; token ids are [rows, seq] with at least one column",
        array.shape()
    );
    Err(Unreadable {
        part: name.to_owned(),
        why,
    })
}

/// Whether each graph has a number of nodes.
pub(super) fn graphs(graphs: &BTreeMap<usize, Arrays>) -> Result<(), Unreadable> {
    for (index, graph) in graphs {
        let nodes = graph
            .get("num_nodes")
            .and_then(Array::as_integers)
            .unwrap_or_default();
        // The collator allocates a matrix of so many rows and columns.
        if !matches!(nodes, [1..=LARGEST_GRAPH]) {
            let why = format!("it is {nodes:?}, expected one number from 1 to {LARGEST_GRAPH}");
            return Err(Unreadable {
                part: format!("graph.{index}.num_nodes"),
                why,
            });
        }
    }
    Ok(())
}

/// Whether noise belongs to these cases.
pub(super) fn noise(noise: &Noise, cases: &[RecordedCase]) -> Result<(), Unreadable> {
    for &precision in Precision::ALL {
        let Some(levels) = noise.levels(precision) else {
            continue;
        };
        // A misspelt name would leave its tensor without noise. An output without noise is not an
        // error, because the recorder has none for a tensor that overflows in a precision.
        if let Some(name) = levels.keys().find(|name| !is_recorded(name, cases)) {
            let why = format!("`{name}` is not a recorded tensor");
            return Err(Unreadable {
                part: format!("noise.{precision}"),
                why,
            });
        }
    }
    Ok(())
}

fn is_recorded(name: &str, cases: &[RecordedCase]) -> bool {
    OPTIONAL.iter().any(|prefix| name.starts_with(prefix))
        || cases
            .iter()
            .flat_map(|case| case.outputs.iter())
            .any(|(output, _)| output == name)
}

fn unreadable<T>(why: String, name: &str) -> Result<T, Unreadable> {
    Err(Unreadable {
        part: name.to_owned(),
        why,
    })
}
