//! Formats rendered text as Rust: item by item, a blank line between items, the header unchanged at
//! the top.

use super::rustfmt_layout::rustfmt_layout;
use proc_macro2::LineColumn;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use syn::{File, Item};
use testgen_verify::{is_parsable, on_own_stack};

/// The rendered text is not valid Rust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The parser's message.
    pub message: String,
    /// The line in the rendered text, counted from 1.
    pub line: usize,
    /// The rendered lines around it.
    pub excerpt: String,
}

/// Formats rendered text and caches formatted items.
// The harnesses of a suite share most of their items.
#[derive(Debug, Default)]
pub(super) struct Formatter {
    items: Mutex<HashMap<String, Vec<FormattedItem>>>,
}

/// A formatted item.
#[derive(Debug, Clone)]
struct FormattedItem {
    text: String,
    /// `mod name;`: consecutive ones are not separated by a blank line, everything else is.
    is_module: bool,
}

/// Formats a rendered file. The header is the lines of `//!` at its beginning; other `//` comments
/// are dropped.
pub fn format_rust(text: &str) -> Result<String, SyntaxError> {
    Formatter::default().format(text)
}

impl Formatter {
    /// See [`format_rust`].
    pub(super) fn format(&self, text: &str) -> Result<String, SyntaxError> {
        let (header, body) = split_header(text);
        let pieces: Option<Vec<Vec<FormattedItem>>> =
            chunks(body).map(|chunk| self.pieces(chunk)).collect();
        let pieces = match pieces {
            Some(pieces) => pieces.concat(),
            // A chunk may fail to parse although the whole file is valid, and only the whole file
            // has the right line numbers.
            None => {
                parse(body).map_err(|fault| syntax_error(text, text.len() - body.len(), fault))?
            }
        };
        let mut formatted = header.trim_end().to_owned();
        formatted.push('\n');
        let mut after_module = false;
        for FormattedItem { text, is_module } in pieces {
            // A file without a header must not begin with a blank line.
            if !(after_module && is_module) && formatted.len() > 1 {
                formatted.push('\n');
            }
            after_module = is_module;
            formatted.push_str(&text);
        }
        Ok(formatted)
    }

    /// The items of a chunk, formatted, or `None` if it is not valid Rust by itself.
    fn pieces(&self, chunk: &str) -> Option<Vec<FormattedItem>> {
        let remembered = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pieces) = remembered.get(chunk) {
            return Some(pieces.clone());
        }
        drop(remembered);
        // The lock is free meanwhile; otherwise threads would parse one after the other.
        let pieces = parse(chunk).ok()?;
        let mut remembered = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.insert(chunk.to_owned(), pieces.clone());
        Some(pieces)
    }
}

/// Splits the text after every line that closes an item at the left margin.
fn chunks(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let mut open = true;
        let lines = rest.split_inclusive('\n').take_while(|line| {
            // The line that closes an item is part of its chunk.
            std::mem::replace(&mut open, !matches!(line.trim_end(), "}" | "};"))
        });
        let (chunk, tail) = rest.split_at(lines.map(str::len).sum());
        rest = tail;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Why a text was not parsed.
// A span is only valid on the thread that parsed it, so this has its position.
struct SyntaxFault {
    message: String,
    start: LineColumn,
}

impl From<syn::Error> for SyntaxFault {
    fn from(error: syn::Error) -> Self {
        Self {
            message: error.to_string(),
            start: error.span().start(),
        }
    }
}

/// Texts of at most so many bytes are parsed on the stack of the caller, because starting a thread
/// takes as long.
const SHALLOW: usize = 256;

/// A template decides how deep the text nests, and the parser recurses.
fn parse(text: &str) -> Result<Vec<FormattedItem>, SyntaxFault> {
    if text.len() <= SHALLOW {
        return pieces_of(text);
    }
    if !is_parsable(text) {
        let message = "the rendered text is too large: a harness is a few hundred lines".to_owned();
        return Err(SyntaxFault {
            message,
            start: LineColumn { line: 1, column: 0 },
        });
    }
    on_own_stack(|| pieces_of(text))
}

fn pieces_of(text: &str) -> Result<Vec<FormattedItem>, SyntaxFault> {
    let file = syn::parse_file(text)?;
    // Attributes of the file would be lost; templates have none outside the header.
    if let Some(attribute) = file.attrs.first() {
        return Err(syn::Error::new_spanned(attribute, "only the header has `//!`").into());
    }
    Ok(file.items.into_iter().map(format_item).collect())
}

fn format_item(item: Item) -> FormattedItem {
    let is_module = matches!(&item, Item::Mod(module) if module.content.is_none());
    let single = File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item],
    };
    FormattedItem {
        text: rustfmt_layout(&prettyplease::unparse(&single)),
        is_module,
    }
}

fn split_header(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end: usize = text
        .split_inclusive('\n')
        .take_while(|line| line.starts_with("//!"))
        .map(str::len)
        .sum();
    text.split_at(end)
}

fn syntax_error(text: &str, body_start: usize, fault: SyntaxFault) -> SyntaxError {
    let lines_before = text.get(..body_start).unwrap_or("").matches('\n').count();
    let SyntaxFault { message, start } = fault;
    let line = lines_before + start.line;
    SyntaxError {
        message,
        line,
        excerpt: excerpt(text, line, start.column),
    }
}

/// Three lines with their numbers and a caret.
fn excerpt(text: &str, line: usize, column: usize) -> String {
    let mut shown = Vec::new();
    for (index, content) in text
        .lines()
        .enumerate()
        .skip(line.saturating_sub(2))
        .take(3)
    {
        let content: String = content.chars().take(120).collect();
        shown.push(format!("{:>5} | {content}", index + 1));
        if index + 1 == line {
            // The line above is cut at 120 characters.
            shown.push(format!("      | {}^", " ".repeat(column.min(119))));
        }
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_separated_and_modules_are_not() {
        let text = "\n//! Header.\n//!\n//! - more\n\npub mod a;\n\n\npub mod b;\nfn f(){}\n/// Doc.\nfn g(){}\n";
        let formatted = "//! Header.\n//!\n//! - more\n\npub mod a;\npub mod b;\n\nfn f() {}\n\n/// Doc.\nfn g() {}\n";
        assert_eq!(format_rust(text).expect("it is Rust"), formatted);
        assert_eq!(
            format_rust(formatted).expect("it is Rust"),
            formatted,
            "formatting twice changes nothing"
        );
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        let formatter = Formatter::default();
        let text = "//! Header.\n\nfn f() {\n    g( 1 )\n}\nfn g(){}\nstatic A: B = B {\n};\n";
        let first = formatter.format(text).expect("it is Rust");
        assert_eq!(formatter.format(text).expect("it is Rust"), first);
        assert_eq!(format_rust(text).expect("it is Rust"), first);
        assert!(formatter.format(&text.replace("( 1 )", "( 1")).is_err());
    }

    #[test]
    fn a_brace_at_the_margin_inside_an_item_does_not_end_it() {
        let text = "//! Header.\n\nfn f() {\nif a {\n}\nb()\n}\n";
        assert_eq!(
            format_rust(text).expect("it is Rust"),
            "//! Header.\n\nfn f() {\n    if a {}\n    b()\n}\n"
        );
    }

    #[test]
    fn an_error_has_the_rendered_line() {
        let error = format_rust("//! Header.\n\nfn f() {\n    let = 1;\n}\n")
            .expect_err("it is not valid Rust");
        assert_eq!(error.line, 4);
        assert!(
            error
                .excerpt
                .contains("    4 |     let = 1;\n      |         ^"),
            "{}",
            error.excerpt
        );
    }
}
