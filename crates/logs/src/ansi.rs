//! Removes ANSI escape sequences: colours, cursor movements, titles and links.

use memchr::{memchr, memchr2};

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// `line` without escape sequences; copied to `clean` only where there are any.
pub(super) fn strip<'a>(line: &'a [u8], clean: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr(ESCAPE, line).is_none() {
        return line;
    }
    clean.clear();
    let mut rest = line;
    while let Some(position) = memchr(ESCAPE, rest) {
        clean.extend_from_slice(&rest[..position]);
        rest = &rest[position + sequence(&rest[position..])..];
    }
    clean.extend_from_slice(rest);
    clean
}

/// The bytes of the sequence at the start of `text`, which begins with the escape character.
fn sequence(text: &[u8]) -> usize {
    let end = match text.get(1) {
        // Parameters are below 0x40, and the first byte from there on ends the sequence.
        Some(b'[') => text[2..]
            .iter()
            .position(|byte| (0x40..=0x7e).contains(byte))
            .map(|end| end + 3),
        // Titles and links end with BEL, or with an escape character and a backslash, which are
        // then a sequence themselves.
        Some(b']') => memchr2(BELL, ESCAPE, &text[2..])
            .map(|end| end + 2 + usize::from(text[end + 2] == BELL)),
        // For instance `ESC 7` and `ESC 8`, by which programs save and restore the cursor.
        Some(_) => Some(2),
        None => Some(1),
    };
    // A long line can be cut inside a sequence.
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn stripped(line: &str) -> String {
        String::from_utf8(strip(line.as_bytes(), &mut Vec::new()).to_vec())
            .expect("the rest is UTF-8")
    }

    #[test]
    fn colours_and_links_are_removed() {
        assert_eq!(
            stripped("\u{1b}[31mstep:  1  \u{1b}[1;38;5;9mloss: 2\u{1b}[0m"),
            "step:  1  loss: 2"
        );
        assert_eq!(
            stripped("\u{1b}[Ax\u{1b}]8;;http://a\u{7}link\u{1b}]8;;\u{1b}\\"),
            "xlink"
        );
        // A title that is a path of Windows.
        assert_eq!(stripped("\u{1b}]0;C:\\runs\\a\u{7}step"), "step");
        assert_eq!(stripped("plain"), "plain");
        for cut in ["\u{1b}", "a\u{1b}[", "a\u{1b}[3", "\u{1b}]0;"] {
            assert!(stripped(cut).len() <= 1, "{cut:?}");
        }
    }
}
