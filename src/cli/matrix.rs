//! `testgen matrix`: the jobs of a CI system.

use super::{Out, project_arguments::PlaceArguments};
use crate::{
    matrix::{Ci, CiFormat, Drift, File, MatrixPlan, compare_files, render, write_files},
    settings::SettingsFile,
    spec::load_all,
};
use std::path::PathBuf;
use testgen_base::{cli_error::Error, exit_code::ExitCode};

/// Print or write the CI jobs that run the suite on every machine
///
/// Plans, from the specs and the `ci` section of testgen.toml, one job on the CPU that every change
/// must pass, one on a software simulation of ROCm, and slices of the suite on runners with GPUs,
/// each in its tier. The same plan becomes GitHub workflows, a GitLab pipeline, Kubernetes Jobs, a
/// script for Slurm or JSON. Without --write and --check the files are printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen matrix                           the GitHub workflows, on standard output
  testgen matrix --write                   .github/workflows/testgen.yml and testgen-gpu.yml
  testgen matrix --check                   exit code 1 when they are out of date
  testgen matrix --format kubernetes | kubectl apply --selector testgen/tier=nightly -f -
  testgen matrix --format slurm --write    slurm/testgen.sh: bash slurm/testgen.sh nightly
  testgen matrix --format json | jq '.families[].jobs[].name'

Files: .github/workflows/testgen.yml, .github/workflows/testgen-gpu.yml; .gitlab/testgen.yml; kubernetes/testgen.yml;
slurm/testgen.sh; testgen.matrix.json; all beside testgen.toml.")]
pub(super) struct MatrixArguments {
    #[command(flatten)]
    places: PlaceArguments,
    /// The CI system
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CiFormat::Github)]
    format: CiFormat,
    /// Write the files into the project
    #[arg(long, conflicts_with = "check")]
    write: bool,
    /// Fail when the files in the project differ from these
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &MatrixArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.places.settings()?;
    let file = SettingsFile::nearest()?;
    // Without testgen.toml the files belong below the current directory.
    let root = file
        .as_ref()
        .map_or_else(PathBuf::new, |file| file.directory.clone());
    // Jobs run in the directory of testgen.toml.
    let suite = settings
        .out
        .strip_prefix(&root)
        .unwrap_or(&settings.out)
        .display()
        .to_string();
    let ci = file
        .map(|file| Ci::from_settings(&file))
        .transpose()?
        .unwrap_or_default();
    let plan = MatrixPlan::new(
        ci,
        suite,
        &load_all(&settings.specs)?,
        settings.engines.clone(),
    )?;
    let files = render(&plan, arguments.format);
    if arguments.check {
        let drifts = compare_files(&root, &files)?;
        print_changes(&drifts, out)?;
        return check(&drifts, arguments.format, out);
    }
    if arguments.write {
        print_changes(&write_files(&root, &files)?, out)?;
        return Ok(ExitCode::Success);
    }
    print(&files, out)
}

fn check(drifts: &[(&str, Drift)], format: CiFormat, out: &mut Out) -> Result<ExitCode, Error> {
    if drifts.is_empty() {
        return Ok(ExitCode::Success);
    }
    let name = clap::ValueEnum::to_possible_value(&format)
        .map_or(String::new(), |value| value.get_name().to_owned());
    writeln!(out, "run `testgen matrix --format {name} --write`")?;
    Ok(ExitCode::Findings)
}

fn print_changes(drifts: &[(&str, Drift)], out: &mut Out) -> Result<(), Error> {
    drifts.iter().try_for_each(|(path, drift)| {
        let word = match drift {
            Drift::Missing => "new",
            Drift::Changed => "changed",
            Drift::Leftover => "left over",
        };
        writeln!(out, "{word}: {path}")
    })
}

/// A comment with the path separates several files.
fn print(files: &[File], out: &mut Out) -> Result<ExitCode, Error> {
    let present: Vec<(&str, &str)> = files
        .iter()
        .filter_map(|file| file.text.as_deref().map(|text| (file.path, text)))
        .collect();
    for (path, text) in &present {
        // A single file can be piped into another program as it is.
        if present.len() > 1 {
            writeln!(out, "# --- {path}")?;
        }
        write!(out, "{text}")?;
    }
    Ok(ExitCode::Success)
}
