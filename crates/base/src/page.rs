//! Puts style, scripts and data into one HTML file. Other commands that write a page use the same
//! style and elements.

use serde::Serialize;

const STYLE: &str = include_str!("page/page.css");
const ELEMENTS: &str = include_str!("page/elements.js");

/// A self-contained page: `template` has places for the style, for the shared elements with
/// `scripts`, and for `data`.
///
/// # Panics
///
/// When `data` has a map whose keys are not strings.
pub fn assemble(template: &str, scripts: &[&str], data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("the data has string keys only");
    let script = [&[ELEMENTS], scripts].concat().join("\n");
    // The data is inserted last, so that nothing in it is taken for a placeholder.
    let page = template
        .replace("/*STYLE*/", STYLE)
        .replace("/*SCRIPT*/", &script);
    page.replace("/*DATA*/", &embeddable(&data))
}

/// JSON that can neither end the script element that contains it nor open a comment.
fn embeddable(json: &str) -> String {
    json.replace('<', "\\u003c")
        // Older versions of JavaScript end a string at these two characters.
        .replace("\u{2028}", "\\u2028")
        .replace("\u{2029}", "\\u2029")
}
