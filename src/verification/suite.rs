//! The generated files: each harness against its spec, and the files around them against what would
//! be generated.

use super::{
    IssueKind, ProjectIssue, Verification,
    templates::{self, Verified},
};
use crate::{
    generate::{HarnessExpectation, SpecFilter, SuiteLayout, SuitePlan, plan_of},
    settings::Settings,
    spec::{LoadedSpec, load_all},
    template::Templates,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text::Quoted,
};
use testgen_types::bounded_file::{FileError, limit, read_bytes, read_text};
use testgen_verify::{HarnessSource, verify_all};
use walkdir::WalkDir;

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
        if !self.specs.is_empty() {
            match plan_of(
                &self.specs,
                self.layout.clone(),
                templates,
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

/// The generated crate.
struct GeneratedSuite<'a> {
    layout: &'a SuiteLayout,
    /// Its directory as the user wrote it.
    shown: &'a Path,
}

impl GeneratedSuite<'_> {
    fn show(&self, path: &str) -> String {
        self.shown.join(path).display().to_string()
    }

    fn regenerate(&self) -> String {
        format!("run `{}`", self.layout.command())
    }

    fn issue(&self, kind: IssueKind, path: &str, line: usize, message: String) -> ProjectIssue {
        ProjectIssue {
            path: self.show(path),
            line,
            kind,
            message,
            help: self.regenerate(),
        }
    }

    /// Applies the rules to each harness that differs from its rendering in `verified`; a missing
    /// one is an issue.
    fn verify_harnesses(
        &self,
        harnesses: &[HarnessExpectation],
        verified: &Verified,
        into: &mut Verification,
    ) {
        let mut read = Vec::new();
        for harness in harnesses {
            match read_bytes(&self.layout.out().join(&harness.path), limit::SOURCE) {
                // Bytes that are not UTF-8 become characters that no rule accepts outside of
                // comments.
                Ok(bytes) => read.push((
                    harness,
                    self.show(&harness.path),
                    String::from_utf8_lossy(&bytes).into_owned(),
                )),
                Err(error) => {
                    let problem = match error.is_missing() {
                        true => String::new(),
                        false => format!(": the file cannot be read: {}", error.problem),
                    };
                    let message = format!(
                        "the spec `{}` has no harness{problem}",
                        harness.expectation.spec_path
                    );
                    into.issues.push(self.issue(
                        IssueKind::MissingHarness,
                        &harness.path,
                        1,
                        message,
                    ));
                }
            }
        }
        let questions = read
            .iter()
            .filter(|(harness, _, text)| {
                // The same text with the same expectation has the same findings: none.
                verified.get(&harness.path) != Some(text)
            })
            .map(|(harness, path, text)| {
                (HarnessSource { path, text }, Some(&harness.expectation))
            });
        let findings = verify_all(&questions.collect::<Vec<_>>());
        into.findings.extend(findings.into_iter().flatten());
        into.files += read.len();
        into.texts
            .extend(read.into_iter().map(|(_, path, text)| (path, text)));
    }

    /// The Rust files around the harnesses must list all of them, so they must equal the generated
    /// ones byte for byte.
    fn compare_with(
        &self,
        plan: &SuitePlan,
        harnesses: &BTreeSet<String>,
        into: &mut Verification,
    ) {
        // Manifests do not decide which harnesses run; `generate --check` compares them.
        let around = plan
            .files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs") && !harnesses.contains(*path));
        for (path, expected) in around {
            let Ok(found) = read_bytes(&self.layout.out().join(path), limit::SOURCE) else {
                into.issues.push(self.issue(
                    IssueKind::SuiteFile,
                    path,
                    1,
                    "a file of the suite is missing or cannot be read".to_owned(),
                ));
                continue;
            };
            into.files += 1;
            if found != *expected {
                let line = first_different_line(&found, expected);
                let message =
                    "this is not what testgen generates, so harnesses may never run".to_owned();
                into.issues
                    .push(self.issue(IssueKind::SuiteFile, path, line, message));
            }
        }
    }

    /// Rust files in the directories of harnesses that belong to no spec.
    fn find_left_over(&self, known: &BTreeSet<String>, into: &mut Verification) {
        for path in sources(self.layout.out())
            .into_iter()
            .filter(|path| !known.contains(path))
        {
            into.files += 1;
            let message = "this file belongs to no spec".to_owned();
            into.issues
                .push(self.issue(IssueKind::LeftOver, &path, 1, message));
        }
    }
}

/// Every Rust file below `src/` and `tests/` of the suite, with `/` between the parts.
fn sources(out: &Path) -> BTreeSet<String> {
    let below = ["src", "tests"]
        .into_iter()
        .flat_map(|part| WalkDir::new(out.join(part)).into_iter());
    // Links count as files: cargo would compile what they point to.
    let files = below
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir());
    let relative = files.filter_map(|entry| {
        let parts = entry
            .path()
            .strip_prefix(out)
            .ok()?
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        Some(parts.collect::<Vec<_>>().join("/"))
    });
    relative.filter(|path| path.ends_with(".rs")).collect()
}

fn first_different_line(found: &[u8], expected: &[u8]) -> usize {
    let (found, expected) = (lines(found), lines(expected));
    let same = found
        .iter()
        .zip(&expected)
        .take_while(|(found, expected)| found == expected)
        .count();
    same + 1
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect::<Vec<_>>()
}

fn nothing(settings: &Settings) -> VerificationError {
    VerificationError::Nothing {
        specs: settings.specs.clone(),
        out: settings.out.clone(),
    }
}
