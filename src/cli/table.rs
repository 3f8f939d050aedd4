//! The arguments of the commands that print a table of what testgen supports, with the results of reports.

use crate::{
    cli_error::Error,
    results::{MergedReport, read_sources},
    settings::{Overrides, Settings},
    spec::{LoadedSpec, load_all},
};
use std::path::PathBuf;

/// The specs and reports of a table, and its form.
#[derive(Debug, clap::Args)]
pub(super) struct TableArguments {
    /// Reports, or directories with reports
    #[arg(value_name = "DIR", requires = "markdown")]
    reports: Vec<PathBuf>,
    /// Print Markdown, with the results of the reports
    #[arg(long)]
    pub(super) markdown: bool,
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
}

impl TableArguments {
    /// The specs, and the entries of all reports.
    pub(super) fn read(&self) -> Result<(Vec<LoadedSpec>, MergedReport), Error> {
        let settings = Settings::resolve(&Overrides { specs: self.specs.clone(), ..Overrides::default() })?;
        let specs = load_all(&settings.specs)?;
        let reports = match self.reports.as_slice() {
            [] => MergedReport::default(),
            paths => MergedReport::new(read_sources(paths)?, &settings.expected_failures()?),
        };
        Ok((specs, reports))
    }
}
