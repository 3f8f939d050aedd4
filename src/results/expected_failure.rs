//! Checks that are known to fail, each with a reason, an owner and an expiry date.
//!
//! Owns: the entries, the results that they match, and the only comparison with today's date. Does
//! not own: the status that follows (see [`crate::results::read`]). Generated files never depend on
//! the date.

use crate::{
    settings::{Settings, SettingsFile},
    spec::{ModelName, Xfail, load_all},
};
use glob::Pattern;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Deserializer, de::Error as _};
use testgen_base::{cli_error::Error, date::parse_date};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};

/// One expectation: the checks that it matches, with its reason, owner and expiry date.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    /// The names of the models.
    #[serde(deserialize_with = "pattern")]
    pub model: Pattern,
    /// The check.
    pub check: Check,
    /// Only on this device.
    #[serde(default)]
    pub device: Option<DeviceKind>,
    /// The engines with their options, for instance `torch/eager` or `torch*`; without it, the
    /// native one.
    #[serde(default, deserialize_with = "optional_pattern")]
    pub engine: Option<Pattern>,
    /// Only in this precision.
    #[serde(default)]
    pub precision: Option<Precision>,
    /// Why it fails.
    #[serde(deserialize_with = "non_empty")]
    pub reason: String,
    /// The person or team that fixes it.
    #[serde(deserialize_with = "non_empty")]
    pub owner: String,
    /// The last day on which the failure is expected.
    #[serde(deserialize_with = "date")]
    pub expires: Date,
}

/// All expectations, as of one day.
#[derive(Debug, Clone)]
pub struct ExpectedFailures {
    entries: Vec<ExpectedFailure>,
    today: Date,
}

/// The key of testgen.toml.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExpectedFailureSection {
    xfail: Vec<ExpectedFailure>,
}

impl ExpectedFailures {
    /// `[[xfail]]` of testgen.toml, then `checks.xfail` of the specs, as of today (UTC). A project
    /// without specs has the entries of testgen.toml alone.
    ///
    /// # Errors
    ///
    /// When testgen.toml or a spec is invalid.
    pub fn of_project(settings: &Settings) -> Result<Self, Error> {
        let section = SettingsFile::nearest()?
            .map(|file| file.section::<ExpectedFailureSection>())
            .transpose()?;
        let mut entries = section.unwrap_or_default().xfail;
        if settings.specs.is_dir() {
            for loaded in load_all(&settings.specs)? {
                let model = loaded.spec.name;
                entries.extend(
                    loaded
                        .spec
                        .checks
                        .xfail
                        .into_iter()
                        .map(|xfail| ExpectedFailure::new(&model, xfail)),
                );
            }
        }
        // UTC, so that all machines of a CI run agree on the day.
        Ok(Self::new(
            entries,
            Timestamp::now().to_zoned(TimeZone::UTC).date(),
        ))
    }

    /// `entries` as of `today`.
    pub fn new(entries: Vec<ExpectedFailure>, today: Date) -> Self {
        Self { entries, today }
    }

    /// The expectation that matches this check. One that has not expired takes precedence over one
    /// that has.
    ///
    /// A mock computed nothing, so its failure is never the expected one. An ignored check neither
    /// passed nor failed.
    pub fn matching(&self, entry: &ReportEntry) -> Option<&ExpectedFailure> {
        if entry.mock || entry.status == EntryStatus::Ignored {
            return None;
        }
        let mut matching = self
            .entries
            .iter()
            .filter(|expectation| expectation.matches(entry));
        let first = matching.clone().next();
        matching
            .find(|expectation| self.is_in_force(expectation))
            .or(first)
    }

    /// Whether the expectation has not expired.
    pub fn is_in_force(&self, expectation: &ExpectedFailure) -> bool {
        self.today <= expectation.expires
    }
}

impl ExpectedFailure {
    /// An expectation of a spec: its model is a name and not a pattern.
    pub fn new(model: &ModelName, xfail: Xfail) -> Self {
        let Xfail {
            check,
            device,
            precision,
            reason,
            owner,
            expires,
        } = xfail;
        let model =
            Pattern::new(&Pattern::escape(model.as_str())).expect("an escaped text is a pattern");
        // A spec describes the model, whose failures are failures of the native engine.
        Self {
            model,
            check,
            device,
            engine: None,
            precision,
            reason,
            owner,
            expires,
        }
    }

    fn matches(&self, entry: &ReportEntry) -> bool {
        self.check == entry.check
            && self.model.matches(&entry.model)
            && self.device.is_none_or(|device| device == entry.device)
            && self.is_of_engine(entry.engine.as_deref())
            && self
                .precision
                .is_none_or(|precision| precision == entry.precision)
    }

    fn is_of_engine(&self, engine: Option<&str>) -> bool {
        match (&self.engine, engine) {
            (None, None) => true,
            (Some(pattern), Some(engine)) => pattern.matches(engine),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Reason, owner and date in one line.
    pub fn describe(&self) -> String {
        format!(
            "{} (owner {}, expires {})",
            self.reason, self.owner, self.expires
        )
    }
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_date(&text).ok_or_else(|| {
        D::Error::custom(format!("`{text}` is not a date; write it as `2027-01-31`"))
    })
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
    let text = String::deserialize(deserializer)?;
    Pattern::new(&text)
        .map_err(|error| D::Error::custom(format!("`{text}` is not a pattern: {error}")))
}

fn optional_pattern<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Pattern>, D::Error> {
    pattern(deserializer).map(Some)
}

fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        Err(D::Error::custom("it is empty; a few words are required"))
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::read::parse_lines;

    fn entry(rest: &str) -> ExpectedFailure {
        let text =
            format!("model = \"bert*\"\ncheck = \"finite\"\nreason = \"r\"\nowner = \"o\"\n{rest}");
        toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn result(model: &str, status: &str, rest: &str) -> ReportEntry {
        let line = format!(
            r#"{{"version":1,"model":"{model}","architecture":"encoder_only","device":"rocm","check":"finite","precision":"f32","status":"{status}",{rest}"milliseconds":1}}"#
        );
        parse_lines(&line).entries.remove(0)
    }

    #[test]
    fn an_expectation_matches_only_its_checks() {
        let day = |text: &str| text.parse::<Date>().expect("is a date");
        let on = |rest: &str| ExpectedFailures::new(vec![entry(rest)], day("2027-01-31"));
        let far = "expires = \"2030-01-01\"\n";
        assert!(on(far).matching(&result("bert_tiny", "fail", "")).is_some());
        assert!(on(far).matching(&result("roberta", "fail", "")).is_none());
        assert!(on(far).matching(&result("bert", "ignored", "")).is_none());
        assert!(
            on(far)
                .matching(&result("bert", "fail", r#""mock":true,"#))
                .is_none()
        );
        assert!(
            on(&format!("{far}device = \"cuda\""))
                .matching(&result("bert", "fail", ""))
                .is_none()
        );
        let torch = r#""engine":"torch","#;
        assert!(
            on(far).matching(&result("bert", "fail", torch)).is_none(),
            "it is about the native engine"
        );
        assert!(
            on(&format!("{far}engine = \"torch\""))
                .matching(&result("bert", "fail", torch))
                .is_some()
        );
        assert!(
            on(&format!("{far}engine = \"torch\""))
                .matching(&result("bert", "fail", ""))
                .is_none()
        );
        let eager = r#""engine":"torch/eager","#;
        assert!(
            on(&format!("{far}engine = \"torch\""))
                .matching(&result("bert", "fail", eager))
                .is_none()
        );
        assert!(
            on(&format!("{far}engine = \"torch*\""))
                .matching(&result("bert", "fail", eager))
                .is_some()
        );
        assert!(
            on(&format!("{far}engine = \"torch*\""))
                .matching(&result("bert", "fail", ""))
                .is_none()
        );
        assert!(
            on(&format!("{far}precision = \"f16\""))
                .matching(&result("bert", "fail", ""))
                .is_none()
        );
    }

    #[test]
    fn it_is_in_force_through_its_last_day() {
        let expectation = entry("expires = \"2027-01-31\"\n");
        let on = |day: &str| {
            ExpectedFailures::new(vec![expectation.clone()], day.parse().expect("is a date"))
        };
        assert!(on("2027-01-31").is_in_force(&expectation));
        assert!(!on("2027-02-01").is_in_force(&expectation));
    }
}
