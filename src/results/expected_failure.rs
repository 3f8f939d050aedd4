//! Checks that are known to fail, each with a reason, an owner and an expiry date.
//!
//! Owns: the entries, the results that they match, and the only comparison with today's date. Does
//! not own: the status that follows (see [`crate::results::read`]). Generated files never depend on
//! the date.

mod alternatives;
mod name_pattern;
mod uncovered;

use crate::{
    settings::{Settings, SettingsFile},
    spec::{ModelName, Xfail, load_all},
};
use alternatives::Alternatives;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use name_pattern::NamePattern;
use serde::{Deserialize, Deserializer, de::Error as _};
use testgen_base::{cli_error::Error, date::parse_date};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};
use uncovered::{Covered, uncovered};

/// One expectation: the checks that it matches, with its reason, owner and expiry date. A check
/// matches if each key that the entry has contains it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    /// The names of the models.
    pub model: Alternatives<NamePattern>,
    /// The checks.
    pub check: Alternatives<Check>,
    /// Only on these devices.
    #[serde(default)]
    pub device: Option<Alternatives<DeviceKind>>,
    /// The engines with their options, for instance `torch/eager`, `torch*` or `*`; without it,
    /// `native`.
    #[serde(default)]
    pub engine: Option<Alternatives<NamePattern>>,
    /// Only in these precisions.
    #[serde(default)]
    pub precision: Option<Alternatives<Precision>>,
    /// Only failures of these outputs, for instance `* gelu algorithm *`: one of another output of the
    /// same check is not expected.
    #[serde(default)]
    pub outputs: Option<Alternatives<NamePattern>>,
    /// Whether the failure may be NaN or infinity in place of a number.
    #[serde(default)]
    pub non_finite: bool,
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
    /// A mock, a panic and an absent device computed nothing, so their failure is never the expected
    /// one, and NaN only if the expectation names it. An ignored check neither passed nor failed.
    pub fn matching(&self, entry: &ReportEntry) -> Option<&ExpectedFailure> {
        // A mock has computed nothing, and an ignored check neither passed nor failed.
        if entry.mock || entry.status == EntryStatus::Ignored {
            return None;
        }
        let mut matching = self
            .entries
            .iter()
            .filter(|expectation| expectation.matches(entry))
            .filter(|expectation| uncovered(expectation.covered(), entry).is_none());
        // Without one that is in force, an expired one still explains the failure.
        let first = matching.clone().next();
        matching
            .find(|expectation| self.is_in_force(expectation))
            .or(first)
    }

    /// Why a failure is not the one that an expectation for its check describes, or `None` without
    /// such an expectation.
    pub fn unexpected_kind(&self, entry: &ReportEntry) -> Option<String> {
        let mut matching = self.entries.iter().filter(|known| known.matches(entry));
        let (expectation, why) =
            matching.find_map(|known| Some((known, uncovered(known.covered(), entry)?)))?;
        Some(format!(
            "not the expected failure, because {why}: {}",
            expectation.describe()
        ))
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
        // A spec describes the model, whose failures are failures of the native engine.
        Self {
            model: NamePattern::exactly(model.as_str()).into(),
            check: check.into(),
            device: device.map(Alternatives::from),
            engine: None,
            precision: precision.map(Alternatives::from),
            outputs: None,
            non_finite: false,
            reason,
            owner,
            expires,
        }
    }

    fn matches(&self, entry: &ReportEntry) -> bool {
        self.check.any(|check| *check == entry.check)
            && self.model.any(|model| model.matches(&entry.model))
            && is_any_or_unset(self.device.as_ref(), entry.device)
            && self.is_of_engine(entry.engine.as_deref())
            && is_any_or_unset(self.precision.as_ref(), entry.precision)
    }

    fn covered(&self) -> Covered<'_> {
        Covered {
            outputs: self.outputs.as_ref(),
            non_finite: self.non_finite,
        }
    }

    fn is_of_engine(&self, engine: Option<&str>) -> bool {
        match &self.engine {
            None => engine.is_none(),
            // Reports have no name for the native engine.
            Some(patterns) => patterns.any(|pattern| pattern.matches(engine.unwrap_or("native"))),
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

fn is_any_or_unset<T: PartialEq>(allowed: Option<&Alternatives<T>>, value: T) -> bool {
    allowed.is_none_or(|allowed| allowed.any(|one| *one == value))
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_date(&text).ok_or_else(|| {
        D::Error::custom(format!("`{text}` is not a date; write it as `2027-01-31`"))
    })
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
mod tests;
