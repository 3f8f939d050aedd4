//! The files of the generated crate: harnesses against their specs, files around them against the
//! plan, and files that belong to no spec.

use crate::{
    generate::{HarnessExpectation, SuiteLayout, SuitePlan},
    verification::{IssueKind, ProjectIssue, Verification, templates::Verified},
};
use std::{collections::BTreeSet, path::Path};
use testgen_types::bounded_file::{limit, read_bytes};
use testgen_verify::{HarnessSource, verify_all};
use walkdir::WalkDir;

/// The generated crate.
pub(super) struct GeneratedSuite<'a> {
    pub(super) layout: &'a SuiteLayout,
    /// Its directory as the user wrote it.
    pub(super) shown: &'a Path,
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
    pub(super) fn verify_harnesses(
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

    /// The Rust files around the harnesses list all of them, and the manifest names the files that
    /// cargo compiles, so these files must equal the generated ones byte for byte.
    pub(super) fn compare_with(
        &self,
        plan: &SuitePlan,
        harnesses: &BTreeSet<String>,
        into: &mut Verification,
    ) {
        // `rustfmt.toml` does not decide what runs; `generate --check` compares it.
        let around = plan
            .files
            .iter()
            .filter(|(path, _)| *path != "rustfmt.toml" && !harnesses.contains(*path));
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
    pub(super) fn find_left_over(&self, known: &BTreeSet<String>, into: &mut Verification) {
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
pub(super) fn sources(out: &Path) -> BTreeSet<String> {
    // Not the whole directory, which may have a `target` with tens of thousands of files.
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
    // After the common lines, also if one text ends with them.
    same + 1
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect::<Vec<_>>()
}
