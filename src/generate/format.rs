//! Rendered text to formatted Rust: item by item, a blank line between items, the header untouched on top.

/// The rendered text is no Rust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What the parser says.
    pub message: String,
    /// The line in the rendered text, from 1.
    pub line: usize,
    /// The rendered lines around it.
    pub excerpt: String,
}

/// Formats a rendered file. The header is the lines of `//!` at its beginning; other `//` comments are dropped.
pub fn format_rust(text: &str) -> Result<String, SyntaxError> {
    let (header, body) = split_header(text);
    let file = syn::parse_file(body).map_err(|error| syntax_error(text, text.len() - body.len(), &error))?;
    let mut formatted = header.trim_end().to_owned();
    formatted.push('\n');
    let mut after_module = false;
    for item in file.items {
        // Lines of `mod` belong together; everything else stands apart.
        let is_module = matches!(&item, syn::Item::Mod(module) if module.content.is_none());
        if !(after_module && is_module) && formatted.len() > 1 {
            formatted.push('\n');
        }
        after_module = is_module;
        let single = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
        formatted.push_str(&hug_only_element(&prettyplease::unparse(&single)));
    }
    Ok(formatted)
}

/// Writes a list of one structure as rustfmt does: `&[Name {` and `}]` instead of brackets on lines of their own.
fn hug_only_element(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut hugged = String::with_capacity(text.len());
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let Some(end) = only_element(&lines, index) else {
            hugged.push_str(line);
            hugged.push('\n');
            index += 1;
            continue;
        };
        hugged.push_str(line);
        hugged.push_str(lines[index + 1].trim_start());
        hugged.push('\n');
        for inner in &lines[index + 2..end] {
            hugged.push_str(inner.strip_prefix("    ").unwrap_or(inner));
            hugged.push('\n');
        }
        let closing = lines[end + 1];
        let indent = closing.len() - closing.trim_start().len();
        hugged.push_str(&format!("{}}}{}\n", &closing[..indent], &closing[indent..]));
        index = end + 2;
    }
    hugged
}

/// The line that closes the structure, when `lines[start]` opens a list that has nothing else.
fn only_element(lines: &[&str], start: usize) -> Option<usize> {
    let opening = lines.get(start).filter(|line| line.ends_with("&["))?;
    let indent = " ".repeat(opening.len() - opening.trim_start().len() + 4);
    let stands_at_indent = |line: &str| line.strip_prefix(&indent).is_some_and(|rest| !rest.starts_with(' '));
    lines.get(start + 1).filter(|line| stands_at_indent(line) && line.ends_with(" {"))?;
    let end = (start + 2..lines.len()).find(|&index| stands_at_indent(lines[index]))?;
    let closes = lines[end].trim() == "}," && lines.get(end + 1).is_some_and(|line| line.trim().starts_with(']'));
    closes.then_some(end)
}

fn split_header(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end: usize = text.split_inclusive('\n').take_while(|line| line.starts_with("//!")).map(str::len).sum();
    text.split_at(end)
}

fn syntax_error(text: &str, body_start: usize, error: &syn::Error) -> SyntaxError {
    let lines_before = text.get(..body_start).unwrap_or("").matches('\n').count();
    let start = error.span().start();
    let line = lines_before + start.line;
    SyntaxError { message: error.to_string(), line, excerpt: excerpt(text, line, start.column) }
}

/// Three lines with their numbers and a caret.
fn excerpt(text: &str, line: usize, column: usize) -> String {
    let mut shown = Vec::new();
    for (index, content) in text.lines().enumerate().skip(line.saturating_sub(2)).take(3) {
        let content: String = content.chars().take(120).collect();
        shown.push(format!("{:>5} | {content}", index + 1));
        if index + 1 == line {
            shown.push(format!("      | {}^", " ".repeat(column.min(119))));
        }
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_apart_and_modules_together() {
        let text = "\n//! Header.\n//!\n//! - more\n\npub mod a;\n\n\npub mod b;\nfn f(){}\n/// Doc.\nfn g(){}\n";
        let formatted = "//! Header.\n//!\n//! - more\n\npub mod a;\npub mod b;\n\nfn f() {}\n\n/// Doc.\nfn g() {}\n";
        assert_eq!(format_rust(text).expect("it is Rust"), formatted);
        assert_eq!(format_rust(formatted).expect("it is Rust"), formatted, "formatting twice changes nothing");
    }

    #[test]
    fn a_list_of_one_structure_is_hugged() {
        let one = "static A: B = B {\n    list: &[C {\n        first_of_the_fields: 1,\n        second: \"[\",\n    }],\n};\n";
        let text = format!("//! Header.\n{one}");
        assert_eq!(format_rust(&text).expect("it is Rust"), format!("//! Header.\n\n{one}"));
        let two = one.replace("    }],", "    }, C { first_of_the_fields: 2, second: \"a longer text\" }],");
        let formatted = format_rust(&two).expect("it is Rust");
        assert!(formatted.contains("&[\n        C {\n"), "{formatted}");
    }

    #[test]
    fn an_error_has_the_rendered_line() {
        let error = format_rust("//! Header.\n\nfn f() {\n    let = 1;\n}\n").expect_err("it is no Rust");
        assert_eq!(error.line, 4);
        assert!(error.excerpt.contains("    4 |     let = 1;\n      |         ^"), "{}", error.excerpt);
    }
}
