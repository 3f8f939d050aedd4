//! `testgen show operators`: the operators that specs can name.

use crate::{
    cli::Out,
    results::{operator_table::OperatorTable, read::MergedReport, stress_table::stress_table},
    settings::{Overrides, Settings},
    spec::load_all,
};
use std::path::PathBuf;
use testgen_base::cli_error::Error;

/// List the operators that specs can name, with the specs of each
///
/// `testgen report --by operators` shows results.
#[derive(Debug, clap::Args)]
pub(super) struct OperatorsArguments {
    /// Print the shapes of the check `stress` by issue, as Markdown
    #[arg(long)]
    stress: bool,
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
}

pub(super) fn run(arguments: &OperatorsArguments, out: &mut Out) -> Result<(), Error> {
    let settings = Settings::resolve(&Overrides {
        specs: arguments.specs.clone(),
        ..Overrides::default()
    })?;
    let specs = load_all(&settings.specs)?;
    let text = match arguments.stress {
        true => stress_table(&specs),
        false => OperatorTable::new(&specs, &MergedReport::default()).text(),
    };
    write!(out, "{text}")
}
