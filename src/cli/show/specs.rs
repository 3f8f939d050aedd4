//! `testgen show specs`: the specs, with the state of each.

use crate::{
    cli::{
        Out,
        project_arguments::{FilterArguments, PlaceArguments},
        text_format::TextFormat,
    },
    generate::{GenerateError, SuiteLayout},
    spec::{LoadedSpec, load_all},
};
use serde::Serialize;
use testgen_base::cli_error::Error;

/// List the specs
///
/// Shows for every spec its architecture, devices and precisions, whether its checkpoint and
/// goldens exist, and whether its harness is generated. Specs with errors are shown as errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show specs
  testgen show specs --architecture vision --device rocm
  testgen show specs --format json | jq -r '.[] | select(.goldens | not) | .name'")]
pub(super) struct SpecsArguments {
    #[command(flatten)]
    places: PlaceArguments,
    #[command(flatten)]
    filter: FilterArguments,
    /// The output format; JSON is an array of objects
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
}

/// One line of the list.
#[derive(Debug, Serialize)]
struct SpecRow<'s> {
    name: &'s str,
    /// None for operators.
    model_type: Option<&'static str>,
    architecture: &'static str,
    task: &'static str,
    devices: Vec<&'static str>,
    precisions: Vec<&'static str>,
    /// The spec's file.
    spec: String,
    /// The checkpoint as the suite sees it, relative to the suite's directory or absolute, or
    /// `None` for operators.
    checkpoint: Option<String>,
    /// Whether the checkpoint is there.
    available: bool,
    /// Whether its goldens are there.
    goldens: bool,
    /// Whether the suite has its harness.
    generated: bool,
}

pub(super) fn run(arguments: &SpecsArguments, out: &mut Out) -> Result<(), Error> {
    let settings = arguments.places.settings()?;
    let layout = SuiteLayout::new(&settings)?;
    let specs = load_all(&settings.specs)?;
    if specs.is_empty() {
        return Err(GenerateError::NoSpecs {
            specs: settings.specs,
        }
        .into());
    }
    let selected = arguments.filter.filter().select(&specs)?;
    let rows = selected
        .into_iter()
        .map(|loaded| row(loaded, &layout))
        .collect::<Result<Vec<_>, _>>()?;
    match arguments.format {
        TextFormat::Human => table(&rows, out),
        TextFormat::Json => writeln!(out, "{:#}", serde_json::to_value(&rows).unwrap_or_default()),
    }
}

fn row<'s>(loaded: &'s LoadedSpec, layout: &SuiteLayout) -> Result<SpecRow<'s>, GenerateError> {
    let spec = &loaded.spec;
    let (model_type, checkpoint, directory) = match spec.subject.model() {
        Some(model) => (
            Some(model.model_type.as_str()),
            Some(layout.checkpoint(&loaded.path, &model.checkpoint)?),
            Some(layout.checkpoint_directory(&loaded.path, &model.checkpoint)?),
        ),
        None => (None, None, None),
    };
    let [available, goldens] = ["config.json", "golden.safetensors"].map(|file| {
        directory
            .as_ref()
            .is_some_and(|directory| directory.join(file).is_file())
    });
    Ok(SpecRow {
        name: spec.name.as_str(),
        model_type,
        architecture: spec.architecture.as_str(),
        task: spec.task.as_str(),
        devices: spec.devices.iter().map(|device| device.as_str()).collect(),
        precisions: spec
            .precisions
            .iter()
            .map(|precision| precision.as_str())
            .collect(),
        spec: loaded.path.display().to_string(),
        available,
        goldens,
        generated: layout.harness(loaded).is_file(),
        checkpoint,
    })
}

fn table(rows: &[SpecRow<'_>], out: &mut Out) -> Result<(), Error> {
    let heads = [
        "NAME",
        "MODEL TYPE",
        "ARCHITECTURE",
        "TASK",
        "DEVICES",
        "PRECISIONS",
        "CHECKPOINT",
        "HARNESS",
    ];
    let mut cells = vec![heads.map(str::to_owned)];
    for row in rows {
        let checkpoint = match (row.available, row.goldens) {
            // Operators have no checkpoint that could be missing.
            _ if row.checkpoint.is_none() => "none",
            (true, true) => "with goldens",
            (true, false) => "no goldens",
            (false, _) => "missing",
        };
        cells.push([
            row.name.to_owned(),
            row.model_type.unwrap_or("-").to_owned(),
            row.architecture.to_owned(),
            row.task.to_owned(),
            row.devices.join(" "),
            row.precisions.join(" "),
            checkpoint.to_owned(),
            if row.generated {
                "generated"
            } else {
                "not yet"
            }
            .to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            // All words are ASCII, names of models as well, so that bytes are columns.
            let lengths = cells.iter().map(|line| line[column].len());
            lengths.max().unwrap_or(0)
        })
        .collect();
    for line in &cells {
        let padded: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        writeln!(out, "{}", padded.join("  ").trim_end())?;
    }
    Ok(())
}
