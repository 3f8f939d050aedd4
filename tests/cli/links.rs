//! Links between the documents of this repository lead to files and headings that exist.

use regex::Regex;
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

#[test]
fn relative_links_lead_to_files_and_headings() {
    let mut headings = HashMap::new();
    let broken: Vec<String> = documents()
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("a document is readable");
            broken_links(path, &text, &mut headings)
        })
        .collect();
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// The documents at the root, of the guide and of the fixtures.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = walkdir::WalkDir::new(root.join("docs"))
        .into_iter()
        .chain(walkdir::WalkDir::new(root).max_depth(1))
        .chain(walkdir::WalkDir::new(root.join("fixtures")).max_depth(1));
    let documents: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    assert!(documents.len() > 20, "only {} documents", documents.len());
    documents
}

fn broken_links(
    path: &Path,
    text: &str,
    headings: &mut HashMap<PathBuf, Vec<String>>,
) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s:#]*)(?:#([^)\s]*))?\)").expect("the pattern is right");
    let mut is_broken = |file: &str, heading: Option<&str>| {
        let target = match file {
            "" => path.to_path_buf(),
            file => path.with_file_name("").join(file),
        };
        let found = heading.is_none_or(|heading| {
            headings
                .entry(target.clone())
                .or_insert_with(|| anchors(&fs::read_to_string(&target).unwrap_or_default()))
                .iter()
                .any(|known| known == heading)
        });
        !target.exists() || !found
    };
    link.captures_iter(text)
        .filter(|found| is_broken(&found[1], found.get(2).map(|heading| heading.as_str())))
        .map(|found| format!("{}: {}", path.display(), &found[0][1..]))
        .collect()
}

/// The anchors of a document's headings, as GitHub derives them.
fn anchors(text: &str) -> Vec<String> {
    let heading = Regex::new(r"(?m)^#{1,6} (.+)$").expect("the pattern is right");
    heading
        .captures_iter(text)
        .map(|found| {
            found[1]
                .to_lowercase()
                .chars()
                .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
                .map(|letter| if letter == ' ' { '-' } else { letter })
                .collect()
        })
        .collect()
}
