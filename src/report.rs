//! Reports rendered for terminals, CI systems and browsers: text, Markdown, JSON, JUnit and an HTML
//! page.
//!
//! Does not own: reading and evaluating results (see [`crate::results::read`]), comparing them (see
//! [`crate::compare`]).

mod failure;
mod human;
mod junit;
mod markdown;
mod page;
mod structured;

pub use failure::render_failure;
pub use human::render_human;
pub use junit::render_junit;
pub use markdown::render_markdown;
pub use page::render_page;
pub use structured::{render_structured, structured_schema};
