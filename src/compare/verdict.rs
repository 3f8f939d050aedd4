//! The verdict on one check: same, better, worse, or only in one report.

use super::numbers::{Change, ThreeWay};
use crate::report::{Entry, Standing};
use serde::Serialize;

/// What became of a check from the first report to the second. The order is that in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds no more, runs no more, or its error grew.
    Worse,
    /// The second report does not have it.
    OnlyInA,
    /// The first report does not have it.
    OnlyInB,
    /// It holds now, runs now, or its error shrank.
    Better,
    /// Neither.
    Same,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: &[Self] = &[Self::Worse, Self::OnlyInA, Self::OnlyInB, Self::Better, Self::Same];

    /// The words that people read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::OnlyInA => "only in the first",
            Self::OnlyInB => "only in the second",
            Self::Better => "better",
            Self::Same => "same",
        }
    }
}

/// What a standing is worth when two are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    Holds,
    Simulated,
    NotRun,
    Fails,
}

fn worth(standing: Standing) -> Worth {
    match standing {
        Standing::Pass | Standing::UnexpectedPass => Worth::Holds,
        Standing::Simulated => Worth::Simulated,
        Standing::Ignored | Standing::Fallback | Standing::Incomplete => Worth::NotRun,
        Standing::Fail | Standing::Mock | Standing::ExpectedFailure => Worth::Fails,
    }
}

/// Verdict, whether it is red, and why. Where a simulation was `chosen` by name its passes are compared as such.
pub(super) fn judge(
    a: Option<&Entry>,
    b: Option<&Entry>,
    outputs: &[ThreeWay],
    chosen: bool,
) -> (Verdict, bool, String) {
    let (Some(a), Some(b)) = (a, b) else { return judge_single(a, b) };
    let (was, is) = (a.judged.standing, b.judged.standing);
    let worth = |standing| match worth(standing) {
        Worth::Simulated if chosen => Worth::Holds,
        other => other,
    };
    let (before, after) = (worth(was), worth(is));
    let moved = || format!("{}, now {}", was.word(), is.word());
    match (before, after) {
        (Worth::Holds, Worth::Holds) | (Worth::Simulated, Worth::Simulated) => by_numbers(outputs),
        (Worth::Holds, _) | (Worth::Simulated, Worth::NotRun | Worth::Fails) => (Verdict::Worse, true, moved()),
        // A failure that does not run any more is not mended, and a check that starts to fail is no progress.
        (Worth::Fails, Worth::NotRun) | (Worth::NotRun, Worth::Fails) => (Verdict::Worse, true, moved()),
        (Worth::Simulated | Worth::NotRun | Worth::Fails, Worth::Holds) => (Verdict::Better, false, moved()),
        (Worth::NotRun | Worth::Fails, Worth::Simulated) => (Verdict::Better, false, moved()),
        (Worth::NotRun, Worth::NotRun) | (Worth::Fails, Worth::Fails) => {
            let why = if was == is { is.word().to_owned() } else { moved() };
            (Verdict::Same, false, why)
        }
    }
}

/// A check that only one report has. What never ran is no loss.
fn judge_single(a: Option<&Entry>, b: Option<&Entry>) -> (Verdict, bool, String) {
    let standing = |entry: &Entry| entry.judged.standing;
    match (a, b) {
        (Some(a), _) => (Verdict::OnlyInA, worth(standing(a)) != Worth::NotRun, standing(a).word().to_owned()),
        (None, Some(b)) => (Verdict::OnlyInB, b.judged.red, standing(b).word().to_owned()),
        (None, None) => (Verdict::Same, false, String::new()),
    }
}

/// Two passes: the tensor that moved furthest decides.
fn by_numbers(outputs: &[ThreeWay]) -> (Verdict, bool, String) {
    let with = |change: Change| outputs.iter().find(|output| output.change == change);
    let told = |output: &ThreeWay| {
        let number = |error: Option<f64>| error.map_or("not finite".to_owned(), |error| format!("{error:.2e}"));
        format!("`{}`: error {}, now {}", output.name, number(output.a_to_golden), number(output.b_to_golden))
    };
    if let Some(output) = with(Change::Worse) {
        return (Verdict::Worse, true, told(output));
    }
    if let Some(output) = with(Change::Lost) {
        return (Verdict::Worse, true, format!("`{}` is not compared any more", output.name));
    }
    match with(Change::Better) {
        Some(output) => (Verdict::Better, false, told(output)),
        None => (Verdict::Same, false, String::new()),
    }
}
