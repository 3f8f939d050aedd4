//! The expected failures of a project: `[[xfail]]` of testgen.toml, then `checks.xfail` of the specs.

use super::{Settings, SettingsFile};
use crate::{
    cli_error::Error,
    expected_failure::{ExpectedFailure, ExpectedFailures},
    spec::load_all,
};
use jiff::{Timestamp, tz::TimeZone};

impl Settings {
    /// The expected failures as of today (UTC). A project without specs has those of testgen.toml alone.
    ///
    /// # Errors
    ///
    /// When testgen.toml or a spec is invalid.
    pub fn expected_failures(&self) -> Result<ExpectedFailures, Error> {
        let mut entries = SettingsFile::nearest()?.map(|file| file.xfail).unwrap_or_default();
        if self.specs.is_dir() {
            for loaded in load_all(&self.specs)? {
                let model = loaded.spec.name;
                entries.extend(loaded.spec.checks.xfail.into_iter().map(|xfail| ExpectedFailure::new(&model, xfail)));
            }
        }
        // UTC, so that all machines of a CI run agree on the day.
        Ok(ExpectedFailures::new(entries, Timestamp::now().to_zoned(TimeZone::UTC).date()))
    }
}
