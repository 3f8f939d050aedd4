//! The parts that the tables of models and operators share: columns of devices, names of specs.

use crate::{results::read::MergedReport, spec::LoadedSpec};

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
