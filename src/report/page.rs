//! A merged report as one self-contained HTML page: style, script and data are embedded.
//!
//! Owns: assembling the page. The data is compact (see `data`) and rendered by the script. Filters and the open cell are in
//! the page's address, so that a view can be linked to and tested.

mod data;

use crate::{compare::Comparison, results::Merged};
use data::Data;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("page/elements.js"),
    include_str!("page/plot.js"),
    include_str!("page/detail.js"),
    include_str!("page/frame.js"),
    include_str!("page/page.js"),
];

/// The whole page, with the differences to `base` if given.
pub fn render_page(merged: &Merged, base: Option<&Comparison>) -> String {
    let data = serde_json::to_string(&Data::new(merged, base)).expect("the data has no maps");
    let script = SCRIPTS.join("\n");
    // The data is inserted last, so that nothing in it is taken for a placeholder.
    let page = TEMPLATE.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &script);
    page.replace("/*DATA*/", &embeddable(&data))
}

/// JSON that can neither end the script element that contains it nor open a comment.
fn embeddable(json: &str) -> String {
    json.replace('<', "\\u003c").replace("\u{2028}", "\\u2028").replace("\u{2029}", "\\u2029")
}
