//! The generated files: each harness against its spec, and the files around them against what would
//! be generated.

mod generated;

use super::{
    ProjectIssue, Verification,
    templates::{self, Verified},
};
use crate::{
    generate::{HarnessExpectation, SpecFilter, SuiteLayout, plan_of},
    settings::Settings,
    spec::{LoadedSpec, load_all},
    template::Templates,
};
use generated::{GeneratedSuite, sources};
use std::{collections::BTreeSet, path::PathBuf};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text::Quoted,
};
use testgen_types::bounded_file::{FileError, limit, read_text};
use testgen_verify::{HarnessSource, verify_all};

/// Nothing could be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationError {
    /// There is neither a spec nor a generated file.
    #[error("nothing to verify: there is no spec below `{}` and no suite in `{}`", specs.display(), out.display())]
    Nothing {
        /// The directory of specs.
        specs: PathBuf,
        /// The directory of the suite.
        out: PathBuf,
    },
    /// A file that was named cannot be read as text.
    #[error("cannot read {}: {}", Quoted(&.0.path.display().to_string()), .0.problem)]
    Unreadable(#[from] FileError),
}

impl CliError for VerificationError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Nothing { .. } => Some(
                "write a spec with `testgen add DIR`, or say where they are with `--specs DIR`"
                    .to_owned(),
            ),
            Self::Unreadable(_) => {
                Some("name Rust files; without a path the whole project is verified".to_owned())
            }
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Nothing { .. } => ExitCode::Findings,
            Self::Unreadable(_) => ExitCode::BadInput,
        }
    }
}

/// Verifies the templates and every file of the suite.
///
/// # Errors
///
/// When there is nothing to verify, or specs or templates are invalid.
pub fn verify_project(settings: &Settings) -> Result<Verification, Error> {
    let project = Project::read(settings)?;
    let mut verification = Verification::default();
    let templates = Templates::load(settings.templates.as_deref())?;
    let verified = templates::verify(
        &settings.specs,
        &project.specs,
        &project.layout,
        &templates,
        &mut verification,
    )?;
    project.verify_suite(settings, &templates, &verified, &mut verification)?;
    Ok(verification)
}

/// Verifies every file of the suite.
///
/// # Errors
///
/// As [`verify_project`].
pub fn verify_suite(settings: &Settings) -> Result<Verification, Error> {
    let mut verification = Verification::default();
    let project = Project::read(settings)?;
    let templates = Templates::load(settings.templates.as_deref())?;
    // No rendering was verified here, so every harness is.
    project.verify_suite(settings, &templates, &Verified::new(), &mut verification)?;
    Ok(verification)
}

/// Valid specs, with their directories.
struct Project {
    layout: SuiteLayout,
    specs: Vec<LoadedSpec>,
}

impl Project {
    fn read(settings: &Settings) -> Result<Self, Error> {
        if !settings.specs.exists() && !settings.out.exists() {
            return Err(nothing(settings).into());
        }
        let layout = SuiteLayout::new(settings)?;
        let specs = load_all(&settings.specs)?;
        // Files without specs are verified: all of them are left over.
        if specs.is_empty() && sources(layout.out()).is_empty() {
            return Err(nothing(settings).into());
        }
        Ok(Self { layout, specs })
    }

    fn verify_suite(
        &self,
        settings: &Settings,
        templates: &Templates,
        verified: &Verified,
        into: &mut Verification,
    ) -> Result<(), Error> {
        let harnesses = self
            .specs
            .iter()
            .map(|loaded| HarnessExpectation::new(loaded, &self.layout))
            .collect::<Result<Vec<_>, _>>()?;
        let suite = GeneratedSuite {
            layout: &self.layout,
            shown: &settings.out,
        };
        suite.verify_harnesses(&harnesses, verified, into);
        let mut known: BTreeSet<String> =
            harnesses.into_iter().map(|harness| harness.path).collect();
        // Without specs there is no suite to plan, and every file is left over.
        if !self.specs.is_empty() {
            match plan_of(
                &self.specs,
                self.layout.clone(),
                templates,
                // Of every spec: the files around the harnesses list all of them.
                &SpecFilter::default(),
                &|_| {},
            ) {
                Ok(plan) => {
                    suite.compare_with(&plan, &known, into);
                    known.extend(plan.files.into_keys());
                }
                Err(error) => {
                    // Without a complete plan it is unknown which files are left over.
                    into.issues
                        .push(ProjectIssue::does_not_render("suite".to_owned(), 1, &error));
                    return Ok(());
                }
            }
        }
        suite.find_left_over(&known, into);
        into.issues.sort();
        Ok(())
    }
}

/// Verifies single files, each against its own `SPEC`.
///
/// # Errors
///
/// When a file cannot be read.
pub fn verify_files(paths: &[PathBuf]) -> Result<Verification, VerificationError> {
    let mut verification = Verification::default();
    for path in paths {
        let text = read_text(path, limit::SOURCE)?;
        // A map: a file that is named twice is verified and counted once.
        verification.texts.insert(path.display().to_string(), text);
    }
    let questions = verification
        .texts
        .iter()
        .map(|(path, text)| (HarnessSource { path, text }, None));
    let findings = verify_all(&questions.collect::<Vec<_>>());
    verification.findings = findings.into_iter().flatten().collect();
    verification.files = verification.texts.len();
    Ok(verification)
}

fn nothing(settings: &Settings) -> VerificationError {
    VerificationError::Nothing {
        specs: settings.specs.clone(),
        out: settings.out.clone(),
    }
}
