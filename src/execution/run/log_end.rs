//! The end of a suite's log, for a suite that crashed.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};
use testgen_base::text::limited;
use testgen_types::bounded_file::open;

/// The number of lines.
const LINES: usize = 20;

/// Bytes of the log in which they are searched.
const BYTES: u64 = 64 * 1024;

/// The last lines of the log, each of limited length and without control characters.
///
/// # Errors
///
/// When the log cannot be read.
pub fn last_lines(log: &Path) -> io::Result<String> {
    Ok(lines_of(&end_of(log)?))
}

/// The last bytes of a file: a log has any size.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path).map_err(io::Error::other)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    let mut bytes = Vec::new();
    // Limited again, because another process may still write to the log.
    file.take(BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn lines_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    limited(&lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{BYTES, LINES, last_lines, lines_of};
    use testgen_fuzz::{Target, assert_message};

    #[test]
    fn only_the_end_of_a_large_log_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let line = format!("{}\n", "x".repeat(99));
        std::fs::write(
            &path,
            line.repeat(BYTES as usize / 50) + "the\u{1b}[31m end\n",
        )
        .expect("a file");
        let text = last_lines(&path).expect("the log");
        assert_eq!(text.lines().count(), LINES);
        assert!(text.ends_with("the\\u{1b}[31m end"), "{text}");
        assert!(last_lines(folder.path()).is_err());
    }

    #[test]
    fn fuzz_the_end_of_a_log() {
        Target {
            name: "log",
            seeds: Vec::new(),
            dictionary: &[
                "thread 'main' panicked at ",
                "\n",
                "\r\n",
                "\u{1b}[2J",
                "\u{9b}",
                "\u{202e}",
                "SIGSEGV",
            ],
            repair: None,
            executions: 3000,
            behaviours: 10,
            check: &|bytes| {
                let text = lines_of(bytes);
                assert!(text.lines().count() <= LINES);
                if !text.trim().is_empty() {
                    assert_message(&text);
                }
                format!(
                    "{} {} {}",
                    text.lines().count(),
                    text.contains("\\u{"),
                    text.contains("...")
                )
            },
        }
        .run();
    }
}
