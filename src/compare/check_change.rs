//! The change of one check: same, better, worse, or only in one report.

use super::{
    numbers::{ErrorChange, ThreeWay},
    pairing::CheckPair,
};
use crate::results::read::{MergedEntry, ResultStatus};
use serde::Serialize;

/// How a check changed from the first report to the second, in the order in which the changes are
/// shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckChange {
    /// It no longer passes or runs, or its error grew.
    Worse,
    /// The second report does not contain it.
    OnlyInA,
    /// The first report does not contain it.
    OnlyInB,
    /// It passes or runs now, or its error shrank.
    Better,
    /// None of these.
    Same,
}

/// A change, whether it is red, and the reason.
pub(super) struct Decision {
    pub(super) change: CheckChange,
    pub(super) red: bool,
    pub(super) why: String,
}

impl CheckChange {
    /// Every change.
    pub const ALL: &[Self] = &[
        Self::Worse,
        Self::OnlyInA,
        Self::OnlyInB,
        Self::Better,
        Self::Same,
    ];

    /// The written form.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::OnlyInA => "only in the first",
            Self::OnlyInB => "only in the second",
            Self::Better => "better",
            Self::Same => "same",
        }
    }

    fn red(self, why: String) -> Decision {
        Decision {
            change: self,
            red: true,
            why,
        }
    }

    fn not_red(self, why: String) -> Decision {
        Decision {
            change: self,
            red: false,
            why,
        }
    }
}

/// The statuses that count as equal when two reports are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusClass {
    Passes,
    Simulated,
    NotRun,
    Fails,
}

impl StatusClass {
    fn from_status(status: ResultStatus) -> Self {
        match status {
            // The expectations may differ between the reports, so the result itself is compared.
            ResultStatus::Pass | ResultStatus::UnexpectedPass => Self::Passes,
            ResultStatus::Simulated => Self::Simulated,
            // In none of them the named device has a result that could be right or wrong.
            ResultStatus::Ignored | ResultStatus::Fallback | ResultStatus::Incomplete => {
                Self::NotRun
            }
            // A mock should have computed something, so a check that was skipped and is one now got
            // worse.
            ResultStatus::Fail | ResultStatus::Mock | ResultStatus::ExpectedFailure => Self::Fails,
        }
    }
}

/// Decides how a check changed. If the devices were `chosen` by name, passes of a simulation count
/// as passes.
pub(super) fn decide(pair: CheckPair<'_>, outputs: &[ThreeWay], chosen: bool) -> Decision {
    let (Some(a), Some(b)) = (pair.a, pair.b) else {
        return decide_single(pair);
    };
    let (status_a, status_b) = (a.evaluation.status, b.evaluation.status);
    let moved = || format!("{}, now {}", status_a.word(), status_b.word());
    match (class(status_a, chosen), class(status_b, chosen)) {
        (StatusClass::Passes, StatusClass::Passes)
        | (StatusClass::Simulated, StatusClass::Simulated) => decide_by_errors(outputs),
        // Also to a simulated pass: the result of the real device is lost.
        (StatusClass::Passes, _)
        | (StatusClass::Simulated, StatusClass::NotRun | StatusClass::Fails) => {
            CheckChange::Worse.red(moved())
        }
        // A failure that no longer runs is not fixed, and a check that starts to fail is not an
        // improvement.
        (StatusClass::Fails, StatusClass::NotRun) | (StatusClass::NotRun, StatusClass::Fails) => {
            CheckChange::Worse.red(moved())
        }
        (
            StatusClass::Simulated | StatusClass::NotRun | StatusClass::Fails,
            StatusClass::Passes,
        )
        | (StatusClass::NotRun | StatusClass::Fails, StatusClass::Simulated) => {
            CheckChange::Better.not_red(moved())
        }
        (StatusClass::NotRun, StatusClass::NotRun) | (StatusClass::Fails, StatusClass::Fails) => {
            let why = if status_a == status_b {
                status_b.word().to_owned()
            } else {
                moved()
            };
            CheckChange::Same.not_red(why)
        }
    }
}

/// A check that only one report contains.
fn decide_single(pair: CheckPair<'_>) -> Decision {
    match (pair.a, pair.b) {
        (Some(a), _) => decision(
            CheckChange::OnlyInA,
            // Losing a check that never ran is not red.
            StatusClass::from_status(status(a)) != StatusClass::NotRun,
            status(a).word(),
        ),
        // A new check has nothing to be worse than, so its own result decides.
        (None, Some(b)) => decision(CheckChange::OnlyInB, b.evaluation.red, status(b).word()),
        (None, None) => decision(CheckChange::Same, false, ""),
    }
}

/// Two passes: the first tensor whose error changed decides, and a regression outweighs an
/// improvement.
fn decide_by_errors(outputs: &[ThreeWay]) -> Decision {
    if let Some(output) = with_change(ErrorChange::Worse, outputs) {
        return CheckChange::Worse.red(errors(output));
    }
    // A tensor that is no longer compared could be wrong without failing.
    if let Some(output) = with_change(ErrorChange::Lost, outputs) {
        return CheckChange::Worse.red(format!("`{}` is no longer compared", output.name));
    }
    match with_change(ErrorChange::Better, outputs) {
        Some(output) => CheckChange::Better.not_red(errors(output)),
        None => CheckChange::Same.not_red(String::new()),
    }
}

fn errors(output: &ThreeWay) -> String {
    if let Some([a, b]) = output.headroom {
        return format!("`{}`: headroom {a:.3}, now {b:.3}", output.name);
    }
    let number =
        |error: Option<f64>| error.map_or("not finite".to_owned(), |error| format!("{error:.2e}"));
    format!(
        "`{}`: error {}, now {}",
        output.name,
        number(output.a_to_golden),
        number(output.b_to_golden)
    )
}

fn status(merged: &MergedEntry) -> ResultStatus {
    merged.evaluation.status
}

fn decision(change: CheckChange, red: bool, why: &str) -> Decision {
    Decision {
        change,
        red,
        why: why.to_owned(),
    }
}

fn class(status: ResultStatus, chosen: bool) -> StatusClass {
    match StatusClass::from_status(status) {
        StatusClass::Simulated if chosen => StatusClass::Passes,
        other => other,
    }
}

fn with_change(change: ErrorChange, outputs: &[ThreeWay]) -> Option<&ThreeWay> {
    outputs.iter().find(|output| output.change == change)
}
