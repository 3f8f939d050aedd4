//! The suite's manifest: its name, and whether it belongs to a surrounding workspace.

use super::MARKER;
use glob::{MatchOptions, Pattern};
use std::path::Path;
use testgen_types::bounded_file::{limit, read_text};

/// The package's name: for a member of a workspace the directory's, for any other suite the
/// directory's and its parent's.
pub(super) fn package_name(out: &Path, member: bool) -> String {
    let directory = name_of(out);
    // Cargo identifies a package that is the root of its workspace by the name alone, so that two
    // suites called `suite` would overwrite each other's binary in a shared target directory.
    let parent = out.parent().map(name_of).unwrap_or_default();
    if member || parent.is_empty() {
        return allowed(&directory);
    }
    // A checkout in a directory of another name must not change the suite.
    existing_name(out, &directory).unwrap_or_else(|| allowed(&format!("{parent}-{directory}")))
}

/// The name in the Cargo.toml that testgen has written to the directory.
fn existing_name(out: &Path, directory: &str) -> Option<String> {
    let text = read_text(&out.join("Cargo.toml"), limit::SOURCE)
        .ok()
        // The name of a package that a user wrote is not kept: the file would be refused anyway.
        .filter(|text| text.contains(MARKER))?;
    let manifest: toml::Table = text.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let has_parent = name
        .strip_suffix(directory)
        .is_some_and(|parent| parent.len() > 1 && parent.ends_with('-'));
    // Testgen does not write any other name, so it is not kept.
    (has_parent && allowed(name) == name).then(|| name.to_owned())
}

/// The last part of a path in the characters that cargo allows: letters, digits, `_` and `-`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    name.trim_matches(['-', '_']).to_owned()
}

/// At most 64 characters, and never the name of a crate that the suite links, or a keyword.
fn allowed(name: &str) -> String {
    let name: String = name.chars().take(64).collect();
    // Again, because the cut may have left one at the end.
    let name = name.trim_matches(['-', '_']);
    // Crates of Rust itself, the runtime, and directories in `target`, which cargo refuses as the
    // name of a target.
    const TAKEN: &[&str] = &[
        "",
        "alloc",
        "build",
        "core",
        "deps",
        "examples",
        "incremental",
        "proc_macro",
        "std",
        "test",
        "testgen-runtime",
    ];
    // Rust writes `-` in a crate's name as `_`, so both are the same crate.
    let is_taken = TAKEN.contains(&name.replace("testgen_", "testgen-").as_str());
    if is_taken
        || crate::spec::is_keyword(&name.replace('-', "_"))
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return format!("suite-{name}").trim_end_matches('-').to_owned();
    }
    name.to_owned()
}

/// Whether the nearest workspace above the directory lists it as a member.
pub(super) fn is_member(out: &Path) -> bool {
    for directory in out.ancestors().skip(1) {
        let Ok(text) = read_text(&directory.join("Cargo.toml"), limit::SOURCE) else {
            continue;
        };
        let Ok(manifest) = text.parse::<toml::Table>() else {
            continue;
        };
        let Some(workspace) = manifest.get("workspace") else {
            continue;
        };
        let relative = out.strip_prefix(directory).unwrap_or(out);
        // Cargo uses the nearest workspace, too, and searches no further.
        return is_member_of(workspace, relative);
    }
    false
}

/// As cargo decides it: `members` are patterns in which `*` does not match `/`; `exclude` has
/// directories, and does not apply below a member that is written as a path.
fn is_member_of(workspace: &toml::Value, directory: &Path) -> bool {
    let is_below = |key| paths(workspace, key).any(|path| directory.starts_with(path));
    let is_excluded = is_below("exclude") && !is_below("members");
    let options = MatchOptions {
        require_literal_separator: true,
        ..MatchOptions::default()
    };
    !is_excluded
        // A pattern that cargo could not read either matches nothing.
        && paths(workspace, "members").any(|member| {
            Pattern::new(member)
                .is_ok_and(|pattern| pattern.matches_path_with(directory, options))
        })
}

/// The paths of a list of the workspace, relative to it.
fn paths<'a>(workspace: &'a toml::Value, key: &str) -> impl Iterator<Item = &'a str> {
    let list = workspace.get(key).and_then(toml::Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .map(|path| path.trim_start_matches("./").trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_good_for_cargo() {
        let cases = [
            ("generated", "generated"),
            ("My Suite", "my-suite"),
            ("test", "suite-test"),
            ("3", "suite-3"),
            ("é", "suite"),
            ("testgen-runtime", "suite-testgen-runtime"),
            ("match", "suite-match"),
        ];
        for (directory, name) in cases {
            assert_eq!(package_name(&Path::new("/tmp").join(directory), true), name);
            assert_eq!(package_name(&Path::new("/").join(directory), false), name);
        }
    }

    #[test]
    fn members_are_the_ones_of_cargo() {
        let is_member = |workspace: &str, directory: &str| {
            let workspace: toml::Table = workspace.parse().expect("is TOML");
            is_member_of(&toml::Value::Table(workspace), Path::new(directory))
        };
        let all = "members = [\"./crates/*\", \"suite/\"]";
        assert!(is_member(all, "crates/suite"));
        assert!(is_member(all, "suite"));
        assert!(!is_member(all, "crates/a/suite"));
        let some = "members = [\"crates/*\", \"crates/kept\"]\nexclude = [\"crates\"]";
        assert!(!is_member(some, "crates/suite"));
        assert!(is_member(some, "crates/kept"));
        assert!(!is_member("exclude = []", "suite"));
    }

    #[test]
    fn suites_of_different_projects_have_different_names() {
        let name = |path: &str| package_name(Path::new(path), false);
        assert_eq!(name("/a/bert/suite"), "bert-suite");
        assert_eq!(name("/a/vit/suite"), "vit-suite");
        assert_eq!(name("/a/3/suite"), "suite-3-suite");
        assert_eq!(name(&format!("/{}/suite", "x".repeat(100))).len(), 64);
    }
}
