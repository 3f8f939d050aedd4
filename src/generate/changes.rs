//! The differences between a plan and the disk; only reads.

use super::{GenerateError, MARKER, SuitePlan, plan::is_source};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};
use testgen_types::bounded_file::{FileError, FileProblem, limit, read_bytes};
use walkdir::WalkDir;

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It does not exist yet.
    Create,
    /// Its content differs.
    Update,
    /// It was generated earlier and no longer belongs to the suite.
    Delete,
}

/// A file that a plan changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path in the suite.
    pub path: String,
    /// Its change.
    pub change: ChangeKind,
    /// The first line that differs, counted from 1, with its present and its planned text.
    pub first_difference: Option<(usize, String, String)>,
}

/// A plan, with its differences from the disk.
#[derive(Debug)]
pub struct Changes {
    /// The plan.
    pub plan: SuitePlan,
    /// The files that differ, ordered by path.
    pub files: Vec<FileChange>,
}

impl SuitePlan {
    /// Compares with the disk. Files that testgen did not write, and links out of the suite, are
    /// errors.
    pub fn compare(self) -> Result<Changes, GenerateError> {
        let out = self.layout.out();
        let mut foreign = Vec::new();
        let mut files = Vec::new();
        let mut directories = BTreeSet::new();
        for (path, content) in &self.files {
            // Before the file is read, because reading would follow the link.
            refuse_links(out, path, &mut directories)?;
            match read(&out.join(path))? {
                None => files.push(FileChange {
                    path: path.clone(),
                    change: ChangeKind::Create,
                    first_difference: None,
                }),
                // All of them are collected: one error names every file that would be overwritten.
                Some(found) if !has_marker(&found) => foreign.push(path.clone()),
                Some(found) if found != *content => files.push(FileChange {
                    path: path.clone(),
                    change: ChangeKind::Update,
                    first_difference: first_difference(&found, content),
                }),
                Some(_) => {}
            }
        }
        // After all files, so that the error names every one of them.
        if !foreign.is_empty() {
            return Err(GenerateError::Foreign { paths: foreign });
        }
        // After filtering, the harnesses of other models are not in the plan and not left over.
        if self.complete {
            files.extend(left_over(
                out,
                &self.files.keys().map(String::as_str).collect(),
            ));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Changes { plan: self, files })
    }
}

impl Changes {
    /// The number of files with this change.
    pub fn count(&self, change: ChangeKind) -> usize {
        self.files
            .iter()
            .filter(|file| file.change == change)
            .count()
    }
}

/// A link below the suite's directory could point anywhere; the directory itself may be a link.
/// `directories` were examined for earlier paths.
fn refuse_links(
    out: &Path,
    path: &str,
    directories: &mut BTreeSet<PathBuf>,
) -> Result<(), GenerateError> {
    let mut place = out.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        // Every directory of harnesses is above many of them.
        if parts.peek().is_some() && !directories.insert(place.clone()) {
            continue;
        }
        if place
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.file_type().is_symlink())
        {
            let link = place.strip_prefix(out).unwrap_or(&place);
            return Err(GenerateError::Link {
                path: link.display().to_string(),
            });
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, GenerateError> {
    match read_bytes(path, limit::SOURCE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_missing() => Ok(None),
        // `NotADirectory`: one of the directories above is a file. Writing reports that.
        Err(FileError {
            problem: FileProblem::System(error),
            ..
        }) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(GenerateError::Unreadable(error)),
    }
}

fn has_marker(content: &[u8]) -> bool {
    let first = content
        // Further down, the marker could be a quotation in a file that a user wrote.
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    String::from_utf8_lossy(first).contains(MARKER)
}

/// Generated files below `src/` and `tests/` that the plan does not contain.
fn left_over(out: &Path, planned: &BTreeSet<&str>) -> Vec<FileChange> {
    let is_generated =
        |path: &Path| read_bytes(path, limit::SOURCE).is_ok_and(|content| has_marker(&content));
    WalkDir::new(out)
        .into_iter()
        // Otherwise a `target` in the suite, with tens of thousands of files, would be searched.
        .filter_entry(|entry| entry.depth() == 0 || is_source(&inside(entry.path(), out)))
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.file_type().is_file() && entry.path().extension().is_some_and(|kind| kind == "rs")
        })
        .map(|entry| {
            let parts = inside(entry.path(), out);
            let parts: Vec<_> = parts
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect();
            (parts.join("/"), entry.into_path())
        })
        // Before reading: planned files have been read already.
        .filter(|(path, _)| !planned.contains(path.as_str()))
        .filter(|(_, file)| is_generated(file))
        .map(|(path, _)| FileChange {
            path,
            change: ChangeKind::Delete,
            first_difference: None,
        })
        .collect()
}

fn first_difference(found: &[u8], expected: &[u8]) -> Option<(usize, String, String)> {
    let (found, expected) = (
        String::from_utf8_lossy(found),
        String::from_utf8_lossy(expected),
    );
    let (mut old, mut new) = (found.lines(), expected.lines());
    for line in 1.. {
        match (old.next(), new.next()) {
            // The files differ in the line break at their end alone, or in the kind of line breaks.
            (None, None) => break,
            (a, b) if a != b => {
                return Some((
                    line,
                    a.unwrap_or_default().to_owned(),
                    b.unwrap_or_default().to_owned(),
                ));
            }
            _ => {}
        }
    }
    None
}

fn inside(path: &Path, out: &Path) -> PathBuf {
    path.strip_prefix(out).unwrap_or(path).to_owned()
}
