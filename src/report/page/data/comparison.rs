//! The comparison with a base as the page shows it: counts by change, and the checks that changed.

use crate::compare::{ChangeGroup, ComparedSide, ReportComparison};
use serde::Serialize;

/// The differences to a base.
#[derive(Debug, Serialize)]
pub(super) struct BaseComparison {
    green: bool,
    counts: Vec<(&'static str, usize)>,
    checks: Vec<ChangeRow>,
}

/// change, test or check, first side, second side, why, the models of a group.
#[derive(Debug, Serialize)]
struct ChangeRow(&'static str, String, String, String, String, Vec<String>);

impl BaseComparison {
    pub(super) fn new(comparison: &ReportComparison) -> Self {
        Self {
            green: comparison.green,
            counts: comparison
                .counts
                .iter()
                .map(|(change, count)| (change.word(), *count))
                .collect(),
            checks: comparison.groups().iter().map(ChangeRow::new).collect(),
        }
    }
}

impl ChangeRow {
    fn new(group: &ChangeGroup<'_>) -> Self {
        let check = group.first();
        let models = group.models().into_iter().map(str::to_owned).collect();
        Self(
            check.change.word(),
            group.name().to_owned(),
            status_and_device(&check.a),
            status_and_device(&check.b),
            group.why(),
            models,
        )
    }
}

fn status_and_device(side: &Option<ComparedSide>) -> String {
    side.as_ref().map_or(String::new(), |side| {
        format!("{} {}", side.status.word(), side.device)
    })
}
