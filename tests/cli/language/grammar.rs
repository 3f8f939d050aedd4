//! Forms that are English but hard to read when they are frequent, counted in the documents.

use regex::Regex;
use std::fs;

/// A form, and how often it may occur in 10,000 words of the documents.
const FORMS: &[(&str, f64)] = &[
    (r"(?i)\b(?:those (?:of|that)|that of)\b", 2.0),
    (r"(?i); none\b", 1.0),
    (r"(?i)\bof (?:its|their) own\b", 1.0),
    (r"(?i)\bwhere (?:a|the|it)\b", 4.0),
];

/// Tables of results: their words would hide how frequent a form is in prose.
const TABLES: &[&str] = &[
    "docs/measurements/every-type.md",
    "docs/measurements/operators.md",
    "docs/reference/models.md",
];

#[test]
fn the_documents_are_in_plain_grammar() {
    let documents: Vec<String> = super::tracked_files()
        .into_iter()
        .filter(|path| path.ends_with(".md") && (!path.contains('/') || path.starts_with("docs/")))
        .filter(|path| !TABLES.contains(&path.as_str()))
        .filter_map(|path| fs::read_to_string(super::repository().join(path)).ok())
        .collect();
    let text = documents.join("\n");
    assert!(text.split_whitespace().count() > 20_000);
    assert_eq!(too_frequent(&text), Vec::<String>::new());
}

#[test]
fn a_frequent_form_is_found() {
    let text = |form: &str| format!("{form} {}", "word ".repeat(999));
    assert_eq!(too_frequent(&text("the checks of operators")).len(), 0);
    for form in ["those\nof operators", "x; none", "of its own", "Where a"] {
        assert_eq!(too_frequent(&text(form)).len(), 1, "{form}");
    }
}

/// The forms that occur too often, each with its number in 10,000 words.
fn too_frequent(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let count = |form: &str| {
        let found = Regex::new(form).expect("a form is a regular expression");
        found.find_iter(&line).count() as f64 * 10_000.0 / words.len() as f64
    };
    FORMS
        .iter()
        .map(|(form, limit)| (form, count(form), limit))
        .filter(|(_, count, limit)| count > limit)
        .map(|(form, count, limit)| format!("`{form}`: {count:.1}, at most {limit}"))
        .collect()
}
