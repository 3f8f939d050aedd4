//! Text forms that several commands share: escaping for terminals, shells, XML and Markdown, and
//! plain tables.

mod escape;
mod markdown;
mod push_line;
mod shell_quote;
mod table;
mod xml_escape;

pub(crate) use escape::{Quoted, limited, one_line};
pub(crate) use markdown::markdown_cell;
pub(crate) use push_line::push_line;
pub(crate) use shell_quote::shell_quote;
pub use table::{Align, Table};
pub(crate) use xml_escape::xml_escape;
