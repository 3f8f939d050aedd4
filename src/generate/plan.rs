//! All files of the suite, in memory.

use super::{
    GenerateError, SpecFilter, SuiteLayout,
    context::HarnessContext,
    layout::harness_path,
    location::relative,
    manifest::{is_member, package_name},
    profiles::profiles,
};
use crate::{
    settings::{Runtime, Settings},
    spec::{LoadedSpec, load_all},
    template::{TemplateError, Templates},
};
use rayon::prelude::*;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use tera::Context;
use testgen_base::cli_error::Error;
use testgen_types::Architecture;

/// The planned content of the suite.
#[derive(Debug)]
pub struct SuitePlan {
    /// The directories.
    pub layout: SuiteLayout,
    /// Every file by its path in the suite, with `/` between the parts.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Whether these are all files, so that any other generated file is left over. False after
    /// filtering.
    pub complete: bool,
    /// The number of rendered harnesses.
    pub harnesses: usize,
}

/// Plans the suite of all specs that match `filter`; `progress` receives each name before its
/// harness is rendered, on the thread that renders it.
///
/// All specs are read and must be valid. After filtering, the suite lists the harnesses that were
/// rendered and the ones that already exist, so that it compiles and no harness of another model is
/// lost.
pub fn plan(
    settings: &Settings,
    filter: &SpecFilter,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<SuitePlan, Error> {
    let layout = SuiteLayout::new(settings)?;
    let specs = load_all(&settings.specs)?;
    // An empty suite would pass without a check.
    if specs.is_empty() {
        return Err(GenerateError::NoSpecs {
            specs: settings.specs.clone(),
        }
        .into());
    }
    let templates = Templates::load(settings.templates.as_deref())?;
    plan_of(&specs, layout, &templates, filter, progress)
}

/// [`plan()`] for specs and templates that were read already.
///
/// # Errors
///
/// As [`plan()`].
pub fn plan_of(
    specs: &[LoadedSpec],
    layout: SuiteLayout,
    templates: &Templates,
    filter: &SpecFilter,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<SuitePlan, Error> {
    // Before anything is rendered, because a filter without a match is the more likely mistake.
    let selected = filter.select(specs)?;
    selected
        .iter()
        // Goldens of an older configuration do not belong to the weights that the suite computes.
        .try_for_each(|loaded| loaded.check_recording())?;
    let command = layout.command();
    // Not collected into a `Result` in parallel: the first of several errors is shown, not the one
    // that happens first.
    let rendered: Vec<Result<_, Error>> = selected
        .par_iter()
        .map(|loaded| {
            progress(loaded.spec.name.as_str());
            let text = render_harness(templates, loaded, &layout, &command)?;
            Ok((harness_path(loaded), text.into_bytes()))
        })
        .collect();
    let mut files = rendered
        .into_iter()
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    let listed = specs.iter().filter(|loaded| {
        let path = harness_path(loaded);
        // A module without its file would not compile.
        files.contains_key(&path) || layout.out().join(path).is_file()
    });
    let runtime = layout.runtime()?;
    let suite = SuiteContext::new(&layout, &runtime, &command, listed);
    let around = render_suite(templates, &suite)?;
    files.extend(around);
    Ok(SuitePlan {
        layout,
        files,
        complete: filter.is_empty(),
        harnesses: selected.len(),
    })
}

/// Renders the harness of a spec.
pub(super) fn render_harness(
    templates: &Templates,
    loaded: &LoadedSpec,
    layout: &SuiteLayout,
    command: &str,
) -> Result<String, Error> {
    let context = HarnessContext::new(loaded, layout, command)?;
    Ok(render_rust(
        templates,
        &context.template,
        loaded.spec.name.as_str(),
        &context,
    )?)
}

fn render_rust(
    templates: &Templates,
    template: &str,
    subject: &str,
    context: &impl Serialize,
) -> Result<String, TemplateError> {
    templates.render_rust(template, subject, &tera_context(template, context)?)
}

fn tera_context(template: &str, context: &impl Serialize) -> Result<Context, TemplateError> {
    Context::from_serialize(context).map_err(|error| TemplateError::Tera {
        report: format!("the context of `{template}`: {error}"),
    })
}

/// The variables of the templates below `suite/`.
#[derive(Debug, Serialize)]
struct SuiteContext<'p> {
    command: &'p str,
    package: String,
    crate_name: String,
    member: bool,
    /// The tables `[profile.*]`.
    // Only the root of a workspace can have them.
    profiles: String,
    runtime_path: Option<String>,
    runtime_version: Option<&'p str>,
    count: usize,
    /// Features of the runtime that every suite of these architectures needs.
    features: BTreeSet<&'static str>,
    /// Features of the runtime, below its name, with which burn computes the architectures.
    native_features: BTreeSet<String>,
    architectures: Vec<ArchitectureContext<'p>>,
}

/// One module of the suite and the modules in it.
#[derive(Debug, Serialize)]
struct ArchitectureContext<'p> {
    command: &'p str,
    module: &'static str,
    models: Vec<String>,
}

impl<'p> SuiteContext<'p> {
    fn new<'s>(
        layout: &SuiteLayout,
        runtime: &'p Runtime,
        command: &'p str,
        listed: impl Iterator<Item = &'s LoadedSpec>,
    ) -> Self {
        let mut modules: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        let mut listed_architectures = BTreeSet::new();
        for loaded in listed {
            listed_architectures.insert(loaded.spec.architecture);
            modules
                .entry(loaded.spec.architecture.as_str())
                .or_default()
                .push(loaded.spec.name.module());
        }
        let member = is_member(layout.out());
        let package = package_name(layout.out(), member);
        // Relative, so that a checkout in another place has the same manifest.
        let (runtime_path, runtime_version) = match runtime {
            Runtime::Path(path) => (Some(relative(layout.out(), path)), None),
            Runtime::Version(version) => (None, Some(version.as_str())),
        };
        Self {
            command,
            crate_name: package.replace('-', "_"),
            package,
            member,
            profiles: profiles(),
            runtime_path,
            runtime_version,
            features: listed_architectures
                .iter()
                .copied()
                .filter_map(feature)
                .collect(),
            native_features: listed_architectures
                .iter()
                .copied()
                .map(native_feature)
                .collect(),
            count: modules.values().map(Vec::len).sum(),
            architectures: modules
                .into_iter()
                .map(|(module, models)| ArchitectureContext {
                    command,
                    module,
                    // Specs are sorted by name, but rustfmt sorts the modules, whose letters and
                    // signs differ.
                    models: sorted(models),
                })
                .collect(),
        }
    }
}

/// The feature of the runtime that an architecture needs, whatever computes it.
fn feature(architecture: Architecture) -> Option<&'static str> {
    let images = architecture.reads_image_files().then_some("image_files");
    architecture
        .subject()
        .features()
        .map(|[any, _]| any)
        .or(images)
}

/// The feature of the runtime with which burn computes an architecture.
fn native_feature(architecture: Architecture) -> String {
    let name = architecture.subject().features().map(|[_, native]| native);
    format!("testgen-runtime/{}", name.unwrap_or(architecture.as_str()))
}

fn sorted(mut models: Vec<String>) -> Vec<String> {
    models.sort();
    models
}

/// The crate around the harnesses.
fn render_suite(
    templates: &Templates,
    suite: &SuiteContext<'_>,
) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let mut files = BTreeMap::new();
    for name in ["Cargo.toml", "rustfmt.toml"] {
        let template = format!("suite/{name}.tera");
        let text = templates.render(&template, &tera_context(&template, suite)?)?;
        // Tags of the template leave blank lines around the text.
        files.insert(name.to_owned(), format!("{}\n", text.trim()).into_bytes());
    }
    for name in ["src/lib.rs", "tests/conformance.rs"] {
        let text = render_rust(templates, &format!("suite/{name}.tera"), name, suite)?;
        files.insert(name.to_owned(), text.into_bytes());
    }
    for architecture in &suite.architectures {
        let name = format!("src/{}.rs", architecture.module);
        let text = render_rust(
            templates,
            "suite/src/architecture.rs.tera",
            &name,
            architecture,
        )?;
        files.insert(name, text.into_bytes());
    }
    Ok(files)
}

/// Whether a path is in a directory of Rust files.
pub(super) fn is_source(path: &Path) -> bool {
    // Only these directories are searched for files that are left over.
    path.starts_with("src") || path.starts_with("tests")
}
