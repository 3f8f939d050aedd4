//! `testgen show models`: the model types.

use crate::{
    cli::Out,
    results::{model_table::ModelTable, read::MergedReport},
    settings::{Overrides, Settings},
    spec::load_all,
};
use std::path::PathBuf;
use testgen_base::cli_error::Error;

/// List the model types that testgen knows, with the models of each
///
/// A type is the `model_type` of a checkpoint's config.json: transformers lists them, and
/// diffusers some. The package is the one that has the type, with its first version, if that is
/// later than transformers 4.40. A `native` type is implemented in testgen; others are computed
/// by other engines only, such as torch. `testgen report --by models` shows results.
#[derive(Debug, clap::Args)]
pub(super) struct ModelsArguments {
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
}

pub(super) fn run(arguments: &ModelsArguments, out: &mut Out) -> Result<(), Error> {
    let settings = Settings::resolve(&Overrides {
        specs: arguments.specs.clone(),
        ..Overrides::default()
    })?;
    let specs = load_all(&settings.specs)?;
    write!(
        out,
        "{}",
        ModelTable::new(&specs, &MergedReport::default()).text()
    )
}
