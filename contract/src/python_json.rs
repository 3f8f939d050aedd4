//! JSON as Python writes it: its `json` module writes numbers that are not finite as bare words, which no JSON is.

use std::borrow::Cow;

/// Longer words first, so that none is taken for the end of another.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// `text` with every bare `Infinity`, `-Infinity` and `NaN` as transformers 5 writes it: `{"__float__": "Infinity"}`.
/// Strings stay as they are, and so does all of a file without such words.
pub fn from_python(text: &[u8]) -> Cow<'_, [u8]> {
    let mut changed = Vec::new();
    let (mut rest, mut kept) = (0, 0);
    while rest < text.len() {
        if text[rest] == b'"' {
            rest += string_length(&text[rest..]);
        } else if let Some(word) = WORDS.iter().find(|word| text[rest..].starts_with(word.as_bytes())) {
            changed.extend_from_slice(&text[kept..rest]);
            changed.extend_from_slice(format!("{{\"__float__\": \"{word}\"}}").as_bytes());
            rest += word.len();
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

/// The bytes of the string that `text` begins with, its quotes included; all of `text` where it does not end.
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
        String::from_utf8(from_python(text.as_bytes()).into_owned()).expect("it was and is text")
    }

    #[test]
    fn bare_words_become_what_transformers_writes() {
        let limits = r#"{"limit": [0.0, Infinity], "low":-Infinity,"none": NaN}"#;
        let wanted = r#"{"limit": [0.0, {"__float__": "Infinity"}], "low":{"__float__": "-Infinity"},"none": {"__float__": "NaN"}}"#;
        assert_eq!(read(limits), wanted);
        assert_eq!(read("NaN"), r#"{"__float__": "NaN"}"#);
    }

    #[test]
    fn strings_and_all_else_stay() {
        for text in [
            r#"{"a": "Infinity", "NaN": "-Infinity \" NaN", "b\\": 1}"#,
            r#"{"a": {"__float__": "Infinity"}}"#,
            "{\"unfinished: NaN",
            "",
        ] {
            assert!(matches!(from_python(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(read(r#"["\\", NaN, "é NaN"]"#), r#"["\\", {"__float__": "NaN"}, "é NaN"]"#);
    }
}
