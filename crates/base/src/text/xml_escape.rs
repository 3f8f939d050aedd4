//! Text in XML documents.

/// Text for content and attributes; characters that XML forbids are replaced by U+FFFD.
pub fn xml_escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(
            xml_escape("a<b>&\"c\"\u{1b}\u{ffff}\n]]>"),
            "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}\u{fffd}\n]]&gt;"
        );
    }
}
