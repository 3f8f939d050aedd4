//! A verification as JUnit XML: one case for each rule, which fails with everything that it found.

use super::{
    Verification,
    entry::{Entry, Kind, entries, kinds},
};
use std::fmt::Write;

/// The whole document, ending in a line break.
pub fn render_junit(verification: &Verification) -> String {
    let (entries, kinds) = (entries(verification), kinds());
    let cases: String = kinds.iter().map(|kind| case(kind, &entries)).collect();
    let failures = kinds.iter().filter(|kind| entries.iter().any(|entry| entry.rule == kind.name)).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", kinds.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"testgen\" {counts}>\n  \
         <testsuite name=\"verify\" {counts} skipped=\"0\">\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn case(kind: &Kind, entries: &[Entry<'_>]) -> String {
    let found: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.rule == kind.name).collect();
    let case = format!("    <testcase classname=\"testgen.verify\" name=\"{}\"", kind.name);
    if found.is_empty() {
        return format!("{case}/>\n");
    }
    let mut text = String::new();
    for Entry { path, line, column, message, help, .. } in &found {
        writeln!(text, "{path}:{line}:{column}: {message}\n  help: {help}").expect("a String can always be written");
    }
    let (summary, text) = (escaped(kind.summary), escaped(&text));
    format!("{case}>\n      <failure type=\"{}\" message=\"{summary}\">{text}</failure>\n    </testcase>\n", kind.name)
}

/// Text in XML: its own characters escaped, those that no document may have as spaces.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            other if other.is_control() => escaped.push(' '),
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
        assert_eq!(escaped("a<b>&\"c\"\u{1b}\u{ffff}\n]]>"), "a&lt;b&gt;&amp;&quot;c&quot;  \n]]&gt;");
    }
}
