//! Functions with an inverse: what is written is read back as the same value, for random values.

use std::process::Command;
use testgen_base::text::{Quoted, shell_quote, xml_escape};
use testgen_fuzz::Random;

/// Random values per property.
const VALUES: usize = 300;

fn texts(seed: u64) -> impl Iterator<Item = String> {
    let mut random = Random::new(seed);
    (0..VALUES).map(move |_| random.text(20))
}

#[test]
fn a_shell_reads_back_quoted_words() {
    // Control characters and backticks are shown as escapes on purpose and do not come back.
    let is_kept = |text: &String| !text.chars().any(|c| c.is_control() || c == '`');
    let words: Vec<String> = texts(1).filter(is_kept).collect();
    assert!(words.len() > VALUES / 3, "{}", words.len());
    let quoted: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
    assert!(quoted.iter().all(|word| !word.contains('\n')));
    // One shell reads all words, because starting one takes longer than reading.
    let output = Command::new("sh")
        .args(["-c", &format!("printf '%s\\n' {}", quoted.join(" "))])
        .output();
    let output = String::from_utf8(output.expect("sh starts").stdout).expect("is text");
    assert_eq!(output.split_terminator('\n').collect::<Vec<_>>(), words);
}

#[test]
fn escaped_xml_is_read_back() {
    let unescape = |text: &str| {
        let entities = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&amp;", "&"),
        ];
        entities
            .iter()
            .fold(text.to_owned(), |text, (entity, character)| {
                text.replace(entity, character)
            })
    };
    let forbidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    for text in texts(2) {
        let expected: String = text
            .chars()
            .map(|c| if forbidden(c) { '\u{fffd}' } else { c })
            .collect();
        let escaped = xml_escape(&text);
        assert_eq!(unescape(&escaped), expected);
        assert!(!escaped.contains(['<', '>', '"']), "{escaped}");
    }
}

#[test]
fn quoted_text_is_one_visible_line() {
    for text in texts(3) {
        let shown = Quoted(&text).to_string();
        assert!(
            shown.chars().all(|c| !c.is_control() && c != '\u{202e}'),
            "{shown:?}"
        );
    }
}
