//! The lines of a stream, with bounded memory: split at line feeds, and at carriage returns, after
//! which progress bars redraw.

use memchr::memchr2;
use std::io::{self, ErrorKind, Read};

/// The bytes that are read at once, and the longest line that is read.
// Longer ones are cut.
pub(super) const BLOCK: usize = 1 << 20;

/// A line, or a state of a progress bar.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogSegment<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of its line, from 1.
    pub(super) line: u64,
    /// Whether the line is longer than the limit. The rest of it is not read.
    pub(super) is_cut: bool,
}

/// Splits a stream.
pub(super) struct Segments<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line: u64,
    bytes: u64,
    has_ended: bool,
    /// Whether the rest of a line that is too long is left out.
    is_skipping: bool,
}

/// The bounds of a segment in the buffer.
struct Bounds {
    start: usize,
    end: usize,
    line: u64,
    is_cut: bool,
}

impl<R: Read> Segments<R> {
    pub(super) fn new(source: R) -> Self {
        let buffer = vec![0; BLOCK];
        Self {
            source,
            buffer,
            start: 0,
            end: 0,
            line: 1,
            bytes: 0,
            has_ended: false,
            is_skipping: false,
        }
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next segment, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<LogSegment<'_>>> {
        let bounds = self.bounds()?;
        Ok(bounds.map(
            |Bounds {
                 start,
                 end,
                 line,
                 is_cut,
             }| LogSegment {
                bytes: &self.buffer[start..end],
                line,
                is_cut,
            },
        ))
    }

    fn bounds(&mut self) -> io::Result<Option<Bounds>> {
        // A long line is searched once, however often more of it is read.
        let mut searched = 0;
        loop {
            let pending = &self.buffer[self.start..self.end];
            if let Some(position) = memchr2(b'\n', b'\r', &pending[searched..]) {
                let bounds = self.take(searched + position, 1, false);
                if !std::mem::take(&mut self.is_skipping) {
                    return Ok(Some(bounds));
                }
                searched = 0;
                continue;
            }
            searched = pending.len();
            if self.has_ended {
                return Ok(
                    (searched > 0 && !self.is_skipping).then(|| self.take(searched, 0, false))
                );
            }
            if searched == BLOCK {
                let bounds = self.take(searched, 0, true);
                if !std::mem::replace(&mut self.is_skipping, true) {
                    return Ok(Some(bounds));
                }
                searched = 0;
            }
            self.fill()?;
        }
    }

    /// The next `length` bytes, and leaves out `separator` bytes after them.
    fn take(&mut self, length: usize, separator: usize, is_cut: bool) -> Bounds {
        let (start, end, line) = (self.start, self.start + length, self.line);
        self.start = end + separator;
        // A carriage return redraws the line and does not end it.
        self.line += u64::from(separator == 1 && self.buffer[end] == b'\n');
        Bounds {
            start,
            end,
            line,
            is_cut,
        }
    }

    /// Reads more, after moving what is left to the start.
    fn fill(&mut self) -> io::Result<()> {
        // In place: the buffer keeps its size, so that memory does not grow with the log.
        // A full buffer was taken before, so that there is room: a read into no bytes would look
        // like the end of the stream.
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.bytes += count as u64;
                    self.has_ended = count == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a file is compressed: gzip, zstd, xz or bzip2.
pub(super) fn is_compressed(start: &[u8]) -> bool {
    let magic = [
        [0x1f, 0x8b, 0x08].as_slice(),
        &[0x28, 0xb5, 0x2f, 0xfd],
        &[0xfd, b'7', b'z', b'X', b'Z'],
        b"BZh",
    ];
    magic.iter().any(|magic| start.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Segments};
    use std::io::Read;

    /// At most three bytes at once.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(3);
            self.0.read(&mut buffer[..count])
        }
    }

    fn all(source: impl Read) -> Vec<(String, u64, bool)> {
        let mut segments = Segments::new(source);
        let mut found = Vec::new();
        while let Some(segment) = segments.next().expect("memory can be read") {
            found.push((
                String::from_utf8_lossy(segment.bytes).into_owned(),
                segment.line,
                segment.is_cut,
            ));
        }
        found
    }

    #[test]
    fn lines_and_states_of_bars_are_split() {
        let text = b"a\nbc\rde\r\nlonger line\n\nend";
        let expected = [
            ("a", 1),
            ("bc", 2),
            ("de", 2),
            ("", 2),
            ("longer line", 3),
            ("", 4),
            ("end", 5),
        ];
        let expected = expected.map(|(text, line)| (text.to_owned(), line, false));
        assert_eq!(all(text.as_slice()), expected);
        assert_eq!(all(Slow(text)), expected);
        assert_eq!(all([].as_slice()), []);
    }

    #[test]
    fn a_line_of_any_length_is_cut() {
        for length in [BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 5] {
            for end in ["", "\nafter\n", "\rafter"] {
                let text = format!("first\n{}{end}", "x".repeat(length));
                let found = all(text.as_bytes());
                assert_eq!(
                    found.len(),
                    if end.is_empty() { 2 } else { 3 },
                    "{length} {end:?}"
                );
                let (cut, line, is_cut) = &found[1];
                assert!(
                    cut.len() == BLOCK && *line == 2 && *is_cut,
                    "{} {line} {is_cut}",
                    cut.len()
                );
                if let Some(last) = found.get(2) {
                    assert_eq!(
                        last,
                        &(
                            "after".to_owned(),
                            2 + u64::from(end.starts_with('\n')),
                            false
                        )
                    );
                }
            }
        }
    }
}
