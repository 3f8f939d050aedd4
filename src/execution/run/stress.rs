//! `--stress` and `--soak`: which tests run, and the variables of the suite's processes.

use super::Selection;
use std::{ffi::OsString, str::FromStr, time::Duration};
use testgen_types::{Check, DeviceKind};

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
            // A soak of no time would be a run that repeats nothing.
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Self(Duration::from_secs(seconds)))
            .ok_or_else(error)
    }
}

/// The checks of a selection that run on request only.
pub fn only_stress(selection: Selection) -> Selection {
    let others = Check::ALL.iter().filter(|check| !check.is_on_request());
    // `--skip` takes any part of a name: without the device, it could be the start of a model's.
    let skipped = others
        .flat_map(|check| {
            DeviceKind::ALL
                .iter()
                .map(move |kind| format!("::{kind}::{check}"))
        })
        .flat_map(|part| ["--skip".to_owned(), part]);
    Selection {
        tests: selection
            .tests
            .into_iter()
            .filter(|test| is_on_request(test))
            .collect(),
        arguments: selection.arguments.into_iter().chain(skipped).collect(),
    }
}

/// Whether a test, which is named `<architecture>::<model>::<device>::<check>`, for some checks with
/// `_<precision>`, on an engine with `@<engine>`, is of a check on request.
fn is_on_request(test: &str) -> bool {
    let named = test.rsplit("::").next().unwrap_or_default();
    let mut checks = Check::ALL.iter().filter(|check| check.is_on_request());
    checks.any(|check| {
        let rest = named.strip_prefix(check.as_str());
        // The name of a test has the precision and the engine after the check.
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '@']))
    })
}

/// The variables of a process that runs the checks of `selection`. The time is divided among those
/// that repeat their cases, because they run one after another.
pub fn stress_variables(
    selection: &Selection,
    soak: Option<SoakTime>,
) -> Vec<(&'static str, OsString)> {
    let repeated = format!("{}_", Check::Stress);
    let tests = selection.tests.iter();
    // The check alone, because a model's name may contain the word.
    let checks = tests.filter_map(|test| test.rsplit("::").next());
    let count = checks.filter(|check| check.starts_with(&repeated)).count();
    // A selection of long texts alone repeats nothing, and a time cannot be divided by 0.
    let checks = u32::try_from(count).unwrap_or(u32::MAX).max(1);
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
            "decoder_only::llama::cpu::long_text@torch",
            "decoder_only::llama::cpu::determinism",
            // Models that are called like checks.
            "decoder_only::finite_llama::cpu::long_text",
            "decoder_only::stress_llama::cpu::long_text",
        ];
        let all = Selection {
            tests: names.map(str::to_owned).into(),
            arguments: vec!["--skip".to_owned(), "x".to_owned()],
        };
        let stress = only_stress(all);
        assert_eq!(stress.tests.len(), 5);
        assert_eq!(stress.arguments[..2], ["--skip", "x"]);
        // As the test binary drops every test whose name contains one of the arguments.
        let parts = &stress.arguments[2..];
        let skips = |name: &str| parts.iter().any(|part| name.contains(part.as_str()));
        let kept: Vec<&str> = names.into_iter().filter(|name| !skips(name)).collect();
        assert_eq!(kept, [names[0], names[1], names[3], names[5], names[6]]);
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
