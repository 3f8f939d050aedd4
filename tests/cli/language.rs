//! Sources and docs are in plain technical English: none of the phrases in `language/phrases.rs`,
//! and few of the forms in `language/grammar.rs`.
//!
//! `LANGUAGE=crates/device cargo test -p testgen --test cli language` lists every finding under one
//! path, pending or not.

mod grammar;
mod phrases;

use phrases::Phrases;
use std::{env, fs, path::Path, process::Command};

/// Not written for readers of this repository today: the data of fixtures, other projects'
/// files, this list.
const EXCLUDED: &[&str] = &[
    "tests/cli/language",
    "tests/schemas/vendor",
    "tests/supply_chain/advisories",
];

const EXTENSIONS: &[&str] = &[
    "css", "html", "js", "md", "py", "rs", "tera", "toml", "yaml", "yml",
];

#[test]
fn retired_phrases_do_not_appear() {
    let phrases = Phrases::new();
    let below = env::var("LANGUAGE").unwrap_or_default();
    let is_selected = |path: &String| below.is_empty() || is_below(path, &below);
    let mut findings = Vec::new();
    for path in tracked_files().into_iter().filter(is_selected) {
        // A tracked file that is deleted and not committed yet.
        let Ok(text) = fs::read_to_string(repository().join(&path)) else {
            continue;
        };
        findings.extend(phrases.find(&path, &text));
    }
    assert!(
        findings.is_empty(),
        "{} retired phrases:\n{}",
        findings.len(),
        findings.join("\n")
    );
}

#[test]
fn each_phrase_is_found_and_plain_english_is_not() {
    let phrases = Phrases::new();
    for (line, expected) in phrases::EXAMPLES {
        let found = phrases.find("src/example.rs", line);
        assert_eq!(found.len(), usize::from(*expected), "`{line}`: {found:?}");
    }
}

/// Files that git tracks or would track.
fn tracked_files() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository())
        .output()
        .expect("git lists the files of a checkout");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files = String::from_utf8(output.stdout).expect("paths are UTF-8");
    let files: Vec<String> = files
        .lines()
        .filter(|path| is_checked(path))
        .map(str::to_owned)
        .collect();
    assert!(
        files.len() > 500,
        "only {} files: {}",
        files.len(),
        repository().display()
    );
    files
}

fn is_checked(path: &str) -> bool {
    let known = Path::new(path)
        .extension()
        .is_some_and(|kind| EXTENSIONS.iter().any(|known| kind == *known));
    (known || [".ci/run", ".ci/stages", "justfile"].contains(&path))
        && !EXCLUDED.iter().any(|entry| is_below(path, entry))
}

fn is_below(path: &str, entry: &str) -> bool {
    path.strip_prefix(entry).is_some_and(|rest| {
        // `src/generate` also covers `src/generate.rs`.
        rest.is_empty() || rest == ".rs" || rest.starts_with('/')
    })
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
