//! Relative and absolute paths, independent of the working directory.

use super::GenerateError;
use std::path::{Component, Path, PathBuf};

/// The absolute path with links resolved as far as it exists, and without `.` and `..`.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, GenerateError> {
    let full = std::path::absolute(path).map_err(|error| bad_directory(error.to_string(), path))?;
    // Without `..`, resolving the whole path at once has the same result as resolving it part by
    // part.
    let at_once = if full.components().any(|part| part == Component::ParentDir) {
        None
    } else {
        full.canonicalize().ok()
    };
    let resolved = at_once.unwrap_or_else(|| by_parts(&full));
    // Headers and manifests are text.
    if resolved.to_str().is_none() {
        return Err(bad_directory("it is not UTF-8".to_owned(), path));
    }
    Ok(resolved)
}

/// The longest part of the path that exists, with its links resolved, and the rest as it is.
fn by_parts(full: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in full.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            part => resolved.push(part),
        }
        // After every part, so that `..` after a link leaves the directory that the link points to,
        // as in the operating system.
        if let Ok(real) = resolved.canonicalize() {
            resolved = real;
        }
    }
    resolved
}

/// Goes up for each `..` at the beginning of `path`.
pub(super) fn join(directory: &Path, path: &Path) -> PathBuf {
    let mut joined = directory.to_owned();
    let mut leading = true;
    for part in path.components() {
        match part {
            // `directory` contains no links, so the operating system would do the same.
            Component::ParentDir if leading => {
                joined.pop();
            }
            Component::CurDir => {}
            part => {
                leading = false;
                joined.push(part);
            }
        }
    }
    joined
}

/// The relative path from a directory to another path, both absolute, with `/` between its parts.
pub(super) fn relative(from: &Path, to: &Path) -> String {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to
        .components()
        .skip(common)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

/// The nearest common directory of two absolute paths, which may be one of them.
pub(super) fn common_ancestor(a: &Path, b: &Path) -> PathBuf {
    a.components()
        .zip(b.components())
        .take_while(|(a, b)| a == b)
        .map(|(part, _)| part)
        .collect()
}

fn bad_directory(reason: String, path: &Path) -> GenerateError {
    GenerateError::BadDirectory {
        path: path.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_goes_up_first() {
        let joined = |path: &str| join(Path::new("/a/b"), Path::new(path));
        assert_eq!(joined("../../c"), Path::new("/c"));
        assert_eq!(
            joined("./x/../y"),
            Path::new("/a/b/x/../y"),
            "x may be a link"
        );
        assert_eq!(joined("/z"), Path::new("/z"));
    }

    #[test]
    fn relative_paths_go_up_and_down() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/c/d"), "../c/d");
        assert_eq!(way("/a", "/a"), ".");
        assert_eq!(way("/a", "/a/b"), "b");
        assert_eq!(way("/a/b/c", "/"), "../../..");
    }
}
