//! Flags that several commands share: where the project is, and which of its specs are meant.

use crate::{
    Error,
    closed_enum::ClosedEnum,
    generate::Filter,
    settings::{Overrides, Settings},
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use glob::Pattern;
use std::path::PathBuf;
use testgen_types::{Architecture, DeviceKind};

/// Where specs and suite are.
#[derive(Debug, clap::Args)]
pub(super) struct PlaceArguments {
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    pub(super) specs: Option<PathBuf>,
    /// Directory of the suite [default: `out` of testgen.toml, else generated]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

/// Where specs, suite, templates and runtime are.
#[derive(Debug, clap::Args)]
pub(super) struct ProjectArguments {
    #[command(flatten)]
    pub(super) places: PlaceArguments,
    /// Templates that replace those of testgen with the same path, and add to them
    #[arg(long, value_name = "DIR")]
    pub(super) templates: Option<PathBuf>,
    /// The runtime that the suite uses: the directory of the crate testgen-runtime, or a version
    #[arg(long, value_name = "PATH|VERSION")]
    pub(super) runtime: Option<String>,
}

/// Which of the models are meant.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArguments {
    /// Only models whose name matches; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(super) name: Vec<Pattern>,
    /// Only models of this architecture; may be given several times
    #[arg(long, value_name = "ARCHITECTURE", value_parser = variant_parser::<Architecture>())]
    pub(super) architecture: Vec<Architecture>,
}

/// Which of the specs are meant.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArguments {
    #[command(flatten)]
    pub(super) models: ModelArguments,
    /// Only models whose spec names this device; may be given several times
    #[arg(long, value_name = "DEVICE", value_parser = variant_parser::<DeviceKind>())]
    pub(super) device: Vec<DeviceKind>,
}

impl ProjectArguments {
    /// The flags over `testgen.toml` over the defaults.
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
    /// The flags over `testgen.toml` over the defaults.
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        Settings::resolve(&Overrides { specs: self.specs.clone(), out: self.out.clone(), ..Overrides::default() })
    }
}

impl ModelArguments {
    /// The conditions that the flags give, with `devices`.
    pub(super) fn filter(&self, devices: Vec<DeviceKind>) -> Filter {
        Filter { names: self.name.clone(), architectures: self.architecture.clone(), devices }
    }
}

impl FilterArguments {
    /// The conditions that the flags give.
    pub(super) fn filter(&self) -> Filter {
        self.models.filter(self.device.clone())
    }
}

/// Accepts the variants of a closed enum, and lists them in help, errors and completions.
pub(super) fn variant_parser<T: ClosedEnum + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::all().iter().map(|variant| variant.text())).try_map(|text| text.parse::<T>())
}
