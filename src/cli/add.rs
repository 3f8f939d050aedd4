//! `testgen add`: a spec from a checkpoint's `config.json`.

use super::{Out, project_arguments::variant_parser};
use crate::{
    add::{AddError, FoundCheckpoint, SpecHeader, inspect, name, spec_text},
    generate::{GenerateError, relative_path},
    settings::{Overrides, Settings},
    spec::{CheckpointPlace, CheckpointSource, ModelName, SpecErrors, SpecFile, load_all, read},
};
use std::{
    io,
    path::{Path, PathBuf},
};
use testgen_base::{atomic_file, cli_error::Error, exit_code::ExitCode, text::shell_quote};
use testgen_types::Task;

/// Write a spec from the config.json of a checkpoint
///
/// Reads `model_type` and `architectures` of config.json and writes
/// <specs>/<architecture>/<name>.yaml, for all devices and precisions. A model type that testgen
/// does not support is an error, never a guess; the error names the nearest architecture, and the
/// fields from which it was derived, if there are any. Weights of a method of quantization that is
/// not dequantized are an error that names the method.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen add fixtures/bert                         model_specs/encoder_only/bert.yaml
  testgen add ~/checkpoints/my-llama --specs specs  a checkpoint anywhere, specs anywhere
  testgen add DIR --name vit-large --task image_embedding --force")]
pub(super) struct AddArguments {
    /// The checkpoint: a directory with config.json and safetensors
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The model's name [default: the directory's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Directory of the specs [default: `specs` of testgen.toml, else model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// The model's task [default: the task of the class in `architectures` of config.json]
    #[arg(long, value_name = "TASK", value_parser = variant_parser::<Task>())]
    task: Option<Task>,
    /// Comment at the start of the spec, for instance what the checkpoint covers
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Overwrite a spec of the same name
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &AddArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = Settings::resolve(&Overrides {
        specs: arguments.specs.clone(),
        ..Overrides::default()
    })?;
    let found = inspect(&arguments.directory, arguments.task)?;
    let name = name(&arguments.directory, arguments.name.as_deref())?;
    let file = settings
        .specs
        .join(found.model_type.architecture().as_str())
        .join(format!("{name}.yaml"));
    refuse_existing(&settings.specs, &file, &name, arguments.force)?;
    let checkpoint = checkpoint(&settings.specs, &file, &found.directory)?;
    let schema = settings.specs.join("../docs/spec.schema.json");
    // A project outside this repository has its specs without the schema beside them.
    let schema = if schema.is_file() {
        Some(relative_path(parent(&file), &schema)?)
    } else {
        None
    };
    let header = SpecHeader {
        schema: schema.as_deref(),
        comment: arguments.comment.as_deref(),
    };
    let text = spec_text(&name, &found, &checkpoint, header);
    let shown = file.display().to_string();
    // Read back before it is written, so that `add` never writes a spec that `generate` rejects.
    read(&SpecFile {
        path: shown.clone(),
        stem: name.to_string(),
        text: text.as_str().into(),
    })
    .map_err(|problems| SpecErrors { problems })?;
    write(&file, &name, &text, arguments.force)?;
    writeln!(
        out,
        "wrote {shown}: {}, {}, {}",
        found.model_type,
        found.model_type.architecture(),
        found.task
    )?;
    advise(&name, &found, &specs_flag(arguments), out)?;
    Ok(ExitCode::Success)
}

/// The flag as given, for the commands that are suggested.
fn specs_flag(arguments: &AddArguments) -> String {
    // Without the flag they would not find the new spec.
    let specs = arguments
        .specs
        .as_ref()
        .map(|specs| format!(" --specs {}", shell_quote(&specs.display().to_string())));
    specs.unwrap_or_default()
}

/// Prints files that the checkpoint lacks, and the next command.
fn advise(
    name: &ModelName,
    found: &FoundCheckpoint,
    specs: &str,
    out: &mut Out,
) -> Result<(), Error> {
    if !found.has_weights {
        writeln!(
            out,
            "no safetensors: the suite needs `model.safetensors` or `model.safetensors.index.json`"
        )?;
    }
    if found.has_goldens {
        writeln!(out, "goldens: golden.safetensors")?;
    } else {
        writeln!(
            out,
            "no goldens: numeric checks will fail; run `testgen record {name}{specs}`"
        )?;
    }
    writeln!(out, "next: `testgen generate{specs}`")
}

fn refuse_existing(
    specs: &Path,
    file: &Path,
    name: &ModelName,
    force: bool,
) -> Result<(), AddError> {
    // `generate` reports specs with errors; only names matter here.
    let others = if specs.is_dir() {
        load_all(specs).unwrap_or_default()
    } else {
        Vec::new()
    };
    let elsewhere = others
        .iter()
        // `a-b` and `a_b` become the same module, so one harness would overwrite the other.
        .filter(|other| other.spec.name.module() == name.module())
        .map(|other| other.path.clone())
        .find(|path| path != file);
    let here = (file.exists() && !force).then(|| file.to_owned());
    // A spec elsewhere first: `--force` replaces the file of this path alone.
    match elsewhere.or(here) {
        Some(path) => Err(AddError::Exists {
            name: name.to_string(),
            path,
        }),
        None => Ok(()),
    }
}

/// A name in `fixtures/` if it is one, the path as given if it is absolute, else the path relative
/// to the spec.
fn checkpoint(
    specs: &Path,
    file: &Path,
    directory: &Path,
) -> Result<CheckpointSource, GenerateError> {
    let from_fixtures = relative_path(&specs.join("../fixtures"), directory)?;
    // A directory right below `fixtures/` has a relative path of one part, which is a name.
    let place = if ModelName::new(&from_fixtures).is_ok() {
        CheckpointPlace::Fixture(from_fixtures)
    } else {
        CheckpointPlace::Path(match directory.to_str() {
            Some(text) if directory.is_absolute() => text.to_owned(),
            _ => relative_path(parent(file), directory)?,
        })
    };
    Ok(CheckpointSource {
        place,
        quantise: None,
        hub: None,
    })
}

fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

/// Without `force` only a file that does not exist, also if another process creates it at the same
/// time.
fn write(file: &Path, name: &ModelName, text: &str, force: bool) -> Result<(), Error> {
    // `create` refuses a file that another process has written in the meantime.
    let written = if force {
        atomic_file::replace
    } else {
        atomic_file::create
    }(file, text.as_bytes());
    match written {
        Err(error) if !force && error.kind() == io::ErrorKind::AlreadyExists => {
            Err(AddError::Exists {
                name: name.to_string(),
                path: file.to_owned(),
            }
            .into())
        }
        result => Ok(result.map_err(|source| GenerateError::Disk {
            action: "write",
            path: file.to_owned(),
            source,
        })?),
    }
}
