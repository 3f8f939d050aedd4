//! The parts that the tables of models and operators share: columns of devices, names of specs,
//! cells that repeat their neighbour.

use crate::{results::read::MergedReport, spec::LoadedSpec};
use std::iter;

/// The columns of reports that name their device.
pub(super) fn named_columns(reports: &MergedReport) -> impl Iterator<Item = usize> {
    (0..reports.columns.len()).filter(|column| reports.columns[*column].name.is_some())
}

/// The headings of columns.
pub(super) fn labels(reports: &MergedReport, columns: &[usize]) -> Vec<String> {
    columns
        .iter()
        .map(|column| reports.columns[*column].label())
        .collect()
}

/// The names of the specs that `belongs` accepts, sorted.
pub(super) fn spec_names(
    specs: &[LoadedSpec],
    belongs: impl Fn(&LoadedSpec) -> bool,
) -> Vec<String> {
    let mut names: Vec<String> = specs
        .iter()
        .filter(|loaded| belongs(loaded))
        .map(|loaded| loaded.spec.name.as_str().to_owned())
        .collect();
    names.sort();
    names
}

/// The cells of a row; one that is equal to its left neighbour is `same`.
pub(super) fn without_repetition(results: &[String]) -> Vec<String> {
    // The results themselves, not the shown cells: a third equal one is `same`, too.
    let left = iter::once("").chain(results.iter().map(String::as_str));
    let pairs = results.iter().zip(left);
    let cells = pairs.map(|(result, left)| {
        if result == left && !result.is_empty() {
            "same".to_owned()
        } else {
            result.clone()
        }
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_repeats_its_left_neighbour_is_same() {
        let results = ["", "", "pass", "pass", "fail"].map(str::to_owned);
        let expected = ["", "", "pass", "same", "fail"];
        assert_eq!(without_repetition(&results), expected);
    }
}
