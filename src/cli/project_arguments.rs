//! Flags that several commands share: the directories of the project, and filters over its specs.

use crate::{
    generate::SpecFilter,
    settings::{Overrides, Settings},
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use glob::Pattern;
use std::path::PathBuf;
use testgen_base::{cli_error::Error, closed_enum::ClosedEnum};
use testgen_types::{Architecture, DeviceKind};

/// The directories of specs and suite.
#[derive(Debug, clap::Args)]
pub(super) struct PlaceArguments {
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    pub(super) specs: Option<PathBuf>,
    /// Directory of the suite [default: `out` of testgen.toml, else generated]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

/// The directories of specs, suite, templates and runtime.
#[derive(Debug, clap::Args)]
pub(super) struct ProjectArguments {
    #[command(flatten)]
    pub(super) places: PlaceArguments,
    /// Templates that replace or extend testgen's; a template with the same path replaces it
    #[arg(long, value_name = "DIR")]
    pub(super) templates: Option<PathBuf>,
    /// The runtime that the suite uses: the directory of the crate testgen-runtime, or a version
    #[arg(long, value_name = "PATH|VERSION")]
    pub(super) runtime: Option<String>,
}

/// Filters over the models.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArguments {
    /// Only models whose name matches; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(super) name: Vec<Pattern>,
    /// Only models of this architecture; may be given several times
    #[arg(long, value_name = "ARCHITECTURE", value_parser = variant_parser::<Architecture>())]
    pub(super) architecture: Vec<Architecture>,
}

/// Filters over the specs.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArguments {
    #[command(flatten)]
    pub(super) models: ModelArguments,
    /// Only models whose spec contains this device; may be given several times
    #[arg(long, value_name = "DEVICE", value_parser = variant_parser::<DeviceKind>())]
    pub(super) device: Vec<DeviceKind>,
}

impl ProjectArguments {
    /// Flags take precedence over `testgen.toml`, which takes precedence over the defaults.
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        Settings::resolve(&Overrides {
            specs: self.places.specs.clone(),
            out: self.places.out.clone(),
            templates: self.templates.clone(),
            runtime: self.runtime.clone(),
        })
    }
}

impl PlaceArguments {
    /// Flags take precedence over `testgen.toml`, which takes precedence over the defaults.
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        Settings::resolve(&Overrides {
            specs: self.specs.clone(),
            out: self.out.clone(),
            ..Overrides::default()
        })
    }
}

impl ModelArguments {
    /// The filter of these flags and of `devices`.
    pub(super) fn filter(&self, devices: Vec<DeviceKind>) -> SpecFilter {
        SpecFilter {
            names: self.name.clone(),
            architectures: self.architecture.clone(),
            devices,
        }
    }
}

impl FilterArguments {
    /// The filter of these flags.
    pub(super) fn filter(&self) -> SpecFilter {
        self.models.filter(self.device.clone())
    }
}

/// Accepts the variants of a closed enum, and lists them in help, errors and completions.
pub(super) fn variant_parser<T: ClosedEnum + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::all().iter().map(|variant| variant.text()))
        .try_map(|text| text.parse::<T>())
}
