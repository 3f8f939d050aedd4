//! Checks that are known to fail: which, why, who mends them, and until when.
//!
//! Owns: the two places that name them (`checks.xfail` of a spec, `[[xfail]]` of testgen.toml) and the one comparison with
//! today's date. Does not own: what a report makes of them. Nothing that is generated depends on the date.

use crate::{Error, settings::Settings, settings::SettingsFile, spec::load_all};
use glob::Pattern;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Deserializer, de::Error as _};
use testgen_contract::{Check, DeviceKind, Precision, Record, RecordStatus};

/// One entry: the checks that it is about, and what must be said with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    /// The models.
    #[serde(deserialize_with = "pattern")]
    pub model: Pattern,
    /// The check.
    pub check: Check,
    /// Only on this device.
    #[serde(default)]
    pub device: Option<DeviceKind>,
    /// Only in this precision.
    #[serde(default)]
    pub precision: Option<Precision>,
    /// Why it fails.
    #[serde(deserialize_with = "words")]
    pub reason: String,
    /// Who mends it.
    #[serde(deserialize_with = "words")]
    pub owner: String,
    /// The last day on which the failure is expected.
    #[serde(deserialize_with = "date")]
    pub expires: Date,
}

/// All entries, on one day.
#[derive(Debug, Clone)]
pub struct ExpectedFailures {
    entries: Vec<ExpectedFailure>,
    today: Date,
}

impl ExpectedFailures {
    /// `entries` as of `today`.
    pub fn new(entries: Vec<ExpectedFailure>, today: Date) -> Self {
        Self { entries, today }
    }

    /// The entries of testgen.toml, then those of the specs, as of today (UTC). A project without specs has none of those.
    ///
    /// # Errors
    ///
    /// When testgen.toml or a spec is wrong.
    pub fn load(settings: &Settings) -> Result<Self, Error> {
        let mut entries = SettingsFile::nearest()?.map(|file| file.xfail).unwrap_or_default();
        if settings.specs.is_dir() {
            for loaded in load_all(&settings.specs)? {
                let model = loaded.spec.name.to_string();
                entries.extend(loaded.spec.checks.xfail.into_iter().map(|xfail| xfail.of(&model)));
            }
        }
        Ok(Self::new(entries, Timestamp::now().to_zoned(TimeZone::UTC).date()))
    }

    /// The entry about this check, if there is one; one that has not expired goes before one that has.
    ///
    /// A mock computed nothing, so its failure is never the expected one; an ignored check has neither passed nor failed.
    pub fn of(&self, record: &Record) -> Option<&ExpectedFailure> {
        if record.mock || record.status == RecordStatus::Ignored {
            return None;
        }
        let mut matching = self.entries.iter().filter(|entry| entry.is_about(record));
        let first = matching.clone().next();
        matching.find(|entry| self.is_in_force(entry)).or(first)
    }

    /// Whether the entry still holds today.
    pub fn is_in_force(&self, entry: &ExpectedFailure) -> bool {
        self.today <= entry.expires
    }
}

impl ExpectedFailure {
    fn is_about(&self, record: &Record) -> bool {
        self.check == record.check
            && self.model.matches(&record.model)
            && self.device.is_none_or(|device| device == record.device)
            && self.precision.is_none_or(|precision| precision == record.precision)
    }

    /// Reason, owner and date in one line.
    pub fn describe(&self) -> String {
        format!("{} (owner {}, expires {})", self.reason, self.owner, self.expires)
    }
}

impl crate::spec::Xfail {
    fn of(self, model: &str) -> ExpectedFailure {
        let Self { check, device, precision, reason, owner, expires } = self;
        let model = Pattern::new(&Pattern::escape(model)).expect("an escaped text is a pattern");
        ExpectedFailure { model, check, device, precision, reason, owner, expires }
    }
}

/// `2027-01-31`, and nothing else that could be taken for a date.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    text.parse::<Date>().ok().filter(|date| date.to_string() == text)
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_date(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no date; write it as `2027-01-31`")))
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
    let text = String::deserialize(deserializer)?;
    Pattern::new(&text).map_err(|error| D::Error::custom(format!("`{text}` is no pattern: {error}")))
}

/// Text that says something.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() { Err(D::Error::custom("it is empty; say it in a few words")) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::parse_lines;

    fn entry(rest: &str) -> ExpectedFailure {
        let text = format!("model = \"bert*\"\ncheck = \"finite\"\nreason = \"r\"\nowner = \"o\"\n{rest}");
        toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn record(model: &str, status: &str, rest: &str) -> Record {
        let line = format!(
            r#"{{"version":1,"model":"{model}","architecture":"encoder_only","device":"rocm","check":"finite","precision":"f32","status":"{status}",{rest}"milliseconds":1}}"#
        );
        parse_lines(&line).records.remove(0)
    }

    #[test]
    fn an_entry_is_about_its_checks_only() {
        let day = |text: &str| text.parse::<Date>().expect("is a date");
        let on = |rest: &str| ExpectedFailures::new(vec![entry(rest)], day("2027-01-31"));
        let far = "expires = \"2030-01-01\"\n";
        assert!(on(far).of(&record("bert_tiny", "fail", "")).is_some());
        assert!(on(far).of(&record("roberta", "fail", "")).is_none());
        assert!(on(far).of(&record("bert", "ignored", "")).is_none());
        assert!(on(far).of(&record("bert", "fail", r#""mock":true,"#)).is_none());
        assert!(on(&format!("{far}device = \"cuda\"")).of(&record("bert", "fail", "")).is_none());
        assert!(on(&format!("{far}precision = \"f16\"")).of(&record("bert", "fail", "")).is_none());
    }

    #[test]
    fn it_holds_on_its_last_day_and_not_after() {
        let expectation = entry("expires = \"2027-01-31\"\n");
        let on = |day: &str| ExpectedFailures::new(vec![expectation.clone()], day.parse().expect("is a date"));
        assert!(on("2027-01-31").is_in_force(&expectation));
        assert!(!on("2027-02-01").is_in_force(&expectation));
    }

    #[test]
    fn only_one_form_is_a_date() {
        assert!(parse_date("2027-01-31").is_some());
        for text in ["2027-1-31", "2027-02-30", "20270131", "2027-01-31T00:00", "soon", ""] {
            assert!(parse_date(text).is_none(), "{text}");
        }
    }
}
