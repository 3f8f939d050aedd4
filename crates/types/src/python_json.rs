//! JSON as Python writes it: its `json` module writes non-finite numbers as bare literals, which is
//! not valid JSON.

use std::borrow::Cow;

// `-Infinity` first: otherwise its sign would be left in front of the object that replaces
// `Infinity`.
const LITERALS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// `text` with every bare `Infinity`, `-Infinity` and `NaN` as transformers 5 writes it:
/// `{"__float__": "Infinity"}`. Strings are unchanged, and a file without such literals is borrowed
/// as it is.
pub fn from_python(text: &[u8]) -> Cow<'_, [u8]> {
    let mut changed = Vec::new();
    let (mut rest, mut kept) = (0, 0);
    while rest < text.len() {
        if text[rest] == b'"' {
            // A token may be called `NaN`.
            rest += string_length(&text[rest..]);
        } else if let Some(literal) = LITERALS
            .iter()
            .find(|literal| text[rest..].starts_with(literal.as_bytes()))
        {
            changed.extend_from_slice(&text[kept..rest]);
            changed.extend_from_slice(format!("{{\"__float__\": \"{literal}\"}}").as_bytes());
            rest += literal.len();
            kept = rest;
        } else {
            rest += 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    changed.extend_from_slice(&text[kept..]);
    Cow::Owned(changed)
}

/// The length of the string that `text` begins with, quotes included; all of `text` for an
/// unterminated one.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text[1..].iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        String::from_utf8(from_python(text.as_bytes()).into_owned()).expect("the result is UTF-8")
    }

    #[test]
    fn bare_literals_become_what_transformers_writes() {
        let limits = r#"{"limit": [0.0, Infinity], "low":-Infinity,"none": NaN}"#;
        let expected = r#"{"limit": [0.0, {"__float__": "Infinity"}], "low":{"__float__": "-Infinity"},"none": {"__float__": "NaN"}}"#;
        assert_eq!(read(limits), expected);
        assert_eq!(read("NaN"), r#"{"__float__": "NaN"}"#);
    }

    #[test]
    fn everything_else_is_unchanged() {
        for text in [
            r#"{"a": "Infinity", "NaN": "-Infinity \" NaN", "b\\": 1}"#,
            r#"{"a": {"__float__": "Infinity"}}"#,
            "{\"unfinished: NaN",
            "",
        ] {
            assert!(
                matches!(from_python(text.as_bytes()), Cow::Borrowed(_)),
                "{text}"
            );
        }
        assert_eq!(
            read(r#"["\\", NaN, "é NaN"]"#),
            r#"["\\", {"__float__": "NaN"}, "é NaN"]"#
        );
    }
}
