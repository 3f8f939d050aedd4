//! A merged report as one self-contained HTML page: style, script and data are embedded.
//!
//! Owns: the scripts of the report. The data is compact (see `data`) and rendered by the scripts.
//! Filters and the open cell are in the page's address, so that a view can be linked to and tested.
//! Putting the parts together is `testgen_base::page`.

mod data;

use crate::{compare::ReportComparison, results::read::MergedReport};
use data::ReportPageData;
use testgen_base::page::assemble;

const TEMPLATE: &str = include_str!("page/page.html");
const SCRIPTS: [&str; 6] = [
    include_str!("page/cells.js"),
    include_str!("page/plot.js"),
    include_str!("page/detail.js"),
    include_str!("page/frame.js"),
    include_str!("page/matrix.js"),
    include_str!("page/page.js"),
];

/// The whole page, with the differences to `base` if given.
pub fn render_page(merged: &MergedReport, base: Option<&ReportComparison>) -> String {
    assemble(TEMPLATE, &SCRIPTS, &ReportPageData::new(merged, base))
}
