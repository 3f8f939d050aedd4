//! Text forms that several commands share: escaping for terminals, shells, XML and Markdown, and
//! plain tables.

mod count;
mod escape;
mod markdown;
mod push_line;
mod shell_quote;
mod table;
mod xml_escape;

pub use count::Count;
pub use escape::{Quoted, limited, one_line};
pub use markdown::markdown_cell;
pub use push_line::push_line;
pub use shell_quote::shell_quote;
pub use table::{Align, Table};
pub use xml_escape::xml_escape;
