//! Items whose layout is known without parsing them: listed ones, and plain static items. Parsing every item of a suite would
//! take most of the time of a call that changes nothing.
//!
//! Does not own the layout (`format`, `rustfmt_layout`): tests compare every answer with it.

use sha2::{Digest, Sha256};
use std::{collections::HashSet, sync::LazyLock};

/// Digests of items of the built-in templates that formatting does not change. `UPDATE_DOCS=1 cargo test -p testgen --lib settled`
/// writes them. A digest of an item that no template has any more is harmless.
static LISTED: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("settled_items.txt").lines().collect());

/// The fields of static items in the built-in templates; any other name could be a keyword.
const FIELDS: &[&str] = &[
    "architecture",
    "devices",
    "hub",
    "init_cpu",
    "init_cuda",
    "init_rocm",
    "model_type",
    "name",
    "path",
    "precisions",
    "request",
    "skipped",
    "source",
    "spec",
    "subject",
    "task",
    "tolerances",
    "vram_mib",
];

/// Columns up to which no line of a plain static item is broken, whatever is in it.
const WIDTH: usize = 80;
/// Columns of a struct on one line above which it is broken into lines; prettyplease does so above 34.
const LONG_STRUCT: usize = 40;

/// The formatted text of a chunk, where it is known without parsing.
pub(super) fn layout(chunk: &str) -> Option<String> {
    let item = chunk.trim_matches('\n');
    if LISTED.contains(digest(item).as_str()) {
        return Some(format!("{item}\n"));
    }
    static_item(item)
}

/// 32 lower-case hex digits.
fn digest(item: &str) -> String {
    let digits = Sha256::digest(item).into_iter().take(16).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// `pub static NAME: Type = Type {` with one plain field per line, after any lines of documentation.
fn static_item(item: &str) -> Option<String> {
    // Outside of strings, which are on one line here, formatting drops empty lines.
    let lines: Vec<&str> = item.lines().filter(|line| !line.trim().is_empty()).collect();
    let documented = lines.iter().take_while(|line| line.starts_with("///")).count();
    let (documentation, [head, fields @ .., "};"]) = lines.split_at(documented) else { return None };
    let (name, types) = head.strip_prefix("pub static ")?.strip_suffix(" {")?.split_once(": ")?;
    let (declared, constructed) = types.split_once(" = ")?;
    let is_plain = documentation.iter().all(|line| is_documentation(line))
        && [name, declared, constructed].into_iter().all(is_type)
        && lines.iter().all(|line| line.len() <= WIDTH || line.starts_with("///"));
    let mut text: Vec<&str> = is_plain.then(|| [documentation, &[*head]].concat())?;
    text.extend(plain_fields(constructed, fields, "    ")?);
    text.push("};");
    Some(text.join("\n") + "\n")
}

/// A line of text, without an end that formatting could trim.
fn is_documentation(line: &str) -> bool {
    line.starts_with("/// ") && is_printable(line) && !line.ends_with(' ')
}

/// The fields of the struct `name` at this indent, formatted; none if they could be on the line of the struct.
fn plain_fields<'a>(name: &str, lines: &[&'a str], indent: &str) -> Option<Vec<&'a str>> {
    let on_one_line = lines.iter().map(|line| line.trim().len() + 1).sum::<usize>() + name.len() + " { }".len();
    (on_one_line > LONG_STRUCT).then_some(())?;
    let mut fields = Vec::new();
    let mut rest = lines;
    while let [line, after @ ..] = rest {
        let field = line.strip_prefix(indent)?;
        fields.push(*line);
        rest = after;
        if let Some((name, constructed)) = field.strip_suffix(" {").and_then(|field| field.split_once(": ")) {
            let closed = |line: &&str| line.strip_prefix(indent) == Some("},");
            let (inner, closing) = after.split_at(after.iter().position(closed)?);
            (is_field(name) && is_path(constructed)).then_some(())?;
            fields.extend(plain_fields(constructed, inner, &format!("{indent}    "))?);
            fields.push(closing[0]);
            rest = &closing[1..];
        } else {
            is_plain_field(field).then_some(())?;
        }
    }
    Some(fields)
}

/// `name,` or `name: value,`.
fn is_plain_field(field: &str) -> bool {
    field.strip_suffix(',').is_some_and(|field| match field.split_once(": ") {
        Some((name, value)) => is_field(name) && is_value(value),
        None => is_field(field),
    })
}

fn is_field(name: &str) -> bool {
    FIELDS.binary_search(&name).is_ok()
}

/// A string, a path, an option of a string or an integer, a reference to an item, or a list of paths.
fn is_value(value: &str) -> bool {
    let inside = |open: &str, close: &str| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let is_integer = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(list) = inside("&[", "]") {
        return list.is_empty() || list.split(", ").all(is_path);
    }
    if let Some(content) = inside("Some(", ")") {
        return is_string(content) || is_integer(content);
    }
    is_string(value) || is_path(value.strip_prefix('&').unwrap_or(value))
}

/// A string literal without escapes.
fn is_string(value: &str) -> bool {
    let content = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    content.is_some_and(|content| is_printable(content) && !content.contains(['"', '\\']))
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// `Name` or `Name::Name`.
fn is_path(path: &str) -> bool {
    path.split("::").count() <= 2 && path.split("::").all(is_type)
}

/// A name with a capital; no keyword but `Self` has one, and that is a path, too.
fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests;
