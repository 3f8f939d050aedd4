//! A merged report as one HTML page that needs no network: style, script and data are in it.
//!
//! Owns: putting the parts together. The data is compact (see `data`), the script shows it; filters and the open cell are in
//! the page's address, so that a view can be linked to and tested.

mod data;

use super::Merged;
use crate::compare::Comparison;
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

/// The whole page, with the differences to a base where there is one.
pub fn render_page(merged: &Merged, base: Option<&Comparison>) -> String {
    let data = serde_json::to_string(&Data::new(merged, base)).expect("the data has no maps");
    let script = SCRIPTS.join("\n");
    // Data is put in last: nothing in it can be taken for a place.
    let page = TEMPLATE.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &script);
    page.replace("/*DATA*/", &inert(&data))
}

/// JSON that cannot end the element that it stands in, and opens no comment.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace("\u{2028}", "\\u2028").replace("\u{2029}", "\\u2029")
}
