//! The process that printed a line, from prefixes such as `[rank0]:`, `[Rank 0]`, `[RANK:0]`,
//! `[rank-7/8]` and `[default3]:`.

use super::number::whole_at_start;
use memchr::memchr_iter;

/// The prefix of launchers ends within so many bytes.
const LONGEST_PREFIX: usize = 240;
// torchrun prints the role of a process, which is `default` unless a launcher names it.
const WORDS: [&[u8]; 2] = [b"rank", b"default"];

/// The rank in the text before the numbers of a line.
pub(super) fn parse(prefix: &[u8]) -> Option<u32> {
    let prefix = &prefix[..prefix.len().min(LONGEST_PREFIX)];
    memchr_iter(b'[', prefix).find_map(|position| bracket(&prefix[position + 1..]))
}

fn bracket(text: &[u8]) -> Option<u32> {
    let word = WORDS.iter().find(|word| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    })?;
    let rest = &text[word.len()..];
    let skipped = usize::from(matches!(rest.first(), Some(b' ' | b':' | b'-' | b'=')));
    let (rank, _) = whole_at_start(&rest[skipped..])?;
    u32::try_from(rank).ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn prefixes_of_launchers_are_read() {
        let found = [
            "[rank0]:[titan] ",
            "x [INFO] [Rank 12] step=",
            "[PID:9] [RANK:3] ",
            "[20251202 09:12:08][rank-7/8][INFO ]",
            "[default5]: ",
        ];
        assert_eq!(
            found.map(|prefix| parse(prefix.as_bytes())),
            [Some(0), Some(12), Some(3), Some(7), Some(5)]
        );
        for none in [
            "",
            "[",
            "[rank",
            "rank 3",
            "[ranking 3]",
            "[rank99999999999]",
        ] {
            assert_eq!(parse(none.as_bytes()), None, "`{none}`");
        }
    }
}
