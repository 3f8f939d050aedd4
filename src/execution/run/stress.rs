//! `--stress` and `--soak`: which tests run, and the variables of the suite's processes.

use super::Selection;
use std::{collections::BTreeSet, ffi::OsString, str::FromStr, time::Duration};
use testgen_types::Check;

/// How long the checks `stress` of a process repeat their cases: `90s`, `10m` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoakTime(Duration);

/// The text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write a number with `s`, `m` or `h`, for instance `10m`")]
pub struct SoakTimeError(String);

impl FromStr for SoakTime {
    type Err = SoakTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || SoakTimeError(text.to_owned());
        let unit = text.chars().last().ok_or_else(error)?;
        let number: u64 = text
            .strip_suffix(unit)
            .and_then(|number| number.parse().ok())
            .ok_or_else(error)?;
        let seconds = match unit {
            's' => Some(number),
            'm' => number.checked_mul(60),
            'h' => number.checked_mul(3600),
            _ => None,
        };
        seconds
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Self(Duration::from_secs(seconds)))
            .ok_or_else(error)
    }
}

/// The stress checks of a selection.
pub fn only_stress(selection: Selection) -> Selection {
    // A test is named `<architecture>::<model>::<device>::<check>_<precision>`.
    let filter = format!("::{}_", Check::Stress);
    let tests: BTreeSet<String> = selection
        .tests
        .into_iter()
        .filter(|test| test.contains(&filter))
        .collect();
    Selection {
        tests,
        arguments: selection.arguments.into_iter().chain([filter]).collect(),
    }
}

/// The variables of a process that runs the stress checks of `selection`. The time is divided among
/// them, because they run one after another.
pub fn stress_variables(
    selection: &Selection,
    soak: Option<SoakTime>,
) -> Vec<(&'static str, OsString)> {
    let checks = u32::try_from(selection.tests.len())
        .unwrap_or(u32::MAX)
        .max(1);
    let soak = soak.map(|SoakTime(time)| {
        (
            "TESTGEN_SOAK",
            (time / checks).as_secs_f64().to_string().into(),
        )
    });
    [("TESTGEN_STRESS", OsString::from("1"))]
        .into_iter()
        .chain(soak)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        let time = |text: &str| {
            text.parse::<SoakTime>()
                .map(|SoakTime(time)| time.as_secs())
        };
        assert_eq!(
            [time("90s"), time("10m"), time("2h")],
            [Ok(90), Ok(600), Ok(7200)]
        );
        for text in [
            "",
            "10",
            "m",
            "0s",
            "-1m",
            "1.5h",
            "10 m",
            "10d",
            "99999999999999999999s",
            "9999999999999999999h",
            "é",
        ] {
            assert_eq!(time(text), Err(SoakTimeError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn stress_checks_alone_run_and_share_the_time() {
        let names = [
            "operators::matrix::cpu::stress_f32",
            "operators::matrix::cpu::stress_f16",
            "operators::matrix::cpu::forward_f32",
        ];
        let all = Selection {
            tests: names.map(str::to_owned).into(),
            arguments: vec!["--skip".to_owned(), "x".to_owned()],
        };
        let stress = only_stress(all);
        assert_eq!(stress.tests.len(), 2);
        assert_eq!(stress.arguments, ["--skip", "x", "::stress_"]);
        let soak = "1m".parse().ok();
        assert_eq!(
            stress_variables(&stress, soak),
            [
                ("TESTGEN_STRESS", "1".into()),
                ("TESTGEN_SOAK", "30".into())
            ]
        );
        assert_eq!(stress_variables(&stress, None).len(), 1);
    }
}
