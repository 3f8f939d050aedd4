//! The same change of one check in several models as one group, so that a comparison of hundreds of
//! models stays readable.

use super::{CheckChange, ComparedCheck, ComparedSide, ReportComparison};
use crate::results::read::ResultStatus;
use std::collections::BTreeMap;

/// Changed checks that are listed one by one; more are grouped.
const CHECKS_LISTED: usize = 40;

/// Checks of one name that changed alike on the same devices: one check, or the check of several
/// models.
#[derive(Debug)]
pub(crate) struct ChangeGroup<'c> {
    /// Its checks by model, never empty.
    pub(crate) checks: Vec<&'c ComparedCheck>,
}

impl ReportComparison {
    /// The checks that changed, in the order of the changes; of many checks the ones of the same
    /// name and change together, the most models first.
    pub(crate) fn groups(&self) -> Vec<ChangeGroup<'_>> {
        let changed: Vec<&ComparedCheck> = self
            .checks
            .iter()
            .filter(|check| check.change != CheckChange::Same)
            .collect();
        // Without groups each row has the full name of its test.
        if changed.len() <= CHECKS_LISTED {
            return changed
                .into_iter()
                .map(|check| ChangeGroup {
                    checks: vec![check],
                })
                .collect();
        }
        let mut groups: BTreeMap<_, Vec<&ComparedCheck>> = BTreeMap::new();
        for check in changed {
            let key = (
                check.change,
                // `false` is first: among groups of one size the red ones lead.
                !check.red,
                check.without_model(),
                status_and_device(&check.a),
                status_and_device(&check.b),
            );
            groups.entry(key).or_default().push(check);
        }
        let mut groups: Vec<ChangeGroup<'_>> = groups
            .into_values()
            .map(|checks| ChangeGroup { checks })
            .collect();
        groups.sort_by_key(|group| (group.first().change, std::cmp::Reverse(group.checks.len())));
        groups
    }
}

impl<'c> ChangeGroup<'c> {
    pub(crate) fn first(&self) -> &'c ComparedCheck {
        self.checks[0]
    }

    /// The test, or the part of its name that the models share.
    pub(crate) fn name(&self) -> &'c str {
        if self.checks.len() == 1 {
            &self.first().test
        } else {
            self.first().without_model()
        }
    }

    /// The names of several models; empty for a single check, whose name contains its model.
    pub(crate) fn models(&self) -> Vec<&'c str> {
        let models = self.checks.iter().map(|check| check.model.as_str());
        if self.checks.len() == 1 {
            Vec::new()
        } else {
            models.collect()
        }
    }

    /// The reason that all have, or the reason of the first model with its name.
    pub(crate) fn why(&self) -> String {
        let ComparedCheck { why, model, .. } = self.first();
        if self.checks.iter().all(|check| check.why == *why) {
            why.clone()
        } else {
            format!("{model}: {why}")
        }
    }
}

impl ComparedCheck {
    /// The name of the test after architecture and model: `cpu::output_golden_f32@torch`.
    fn without_model(&self) -> &str {
        self.test.splitn(3, "::").last().unwrap_or(&self.test)
    }
}

fn status_and_device(side: &Option<ComparedSide>) -> Option<(ResultStatus, String)> {
    side.as_ref().map(|side| (side.status, side.device.clone()))
}
