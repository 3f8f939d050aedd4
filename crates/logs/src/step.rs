//! Steps that are positions in an epoch.

use super::number::whole_at_start;
use memchr::memmem;

/// `Epoch 2:  10%|# | 10/100 [`: two epochs of 100 steps and 10.
pub(super) fn of_bar(line: &[u8]) -> Option<u64> {
    // Lightning counts epochs from 0.
    let epoch = after(line, b"Epoch ").map_or(0, |(epoch, _)| epoch);
    memmem::find_iter(line, b"| ")
        .find_map(|position| position_in(&line[position + 2..], b" [", epoch))
}

/// `Epoch(train) [2][ 10/100]`: one epoch of 100 steps and 10.
pub(super) fn of_brackets(line: &[u8]) -> Option<u64> {
    let (epoch, rest) = after(line, b"Epoch(train)")?;
    // MMEngine counts epochs from 1.
    position_in(rest.strip_prefix(b"][")?, b"]", epoch.checked_sub(1)?)
}

/// `10/100` and `end`, after whole epochs.
fn position_in(text: &[u8], end: &[u8], epochs: u64) -> Option<u64> {
    let (position, next) = whole_at_start(text)?;
    let rest = text[next..].strip_prefix(b"/")?;
    let (total, next) = whole_at_start(rest)?;
    rest[next..]
        .starts_with(end)
        .then(|| epochs.checked_mul(total)?.checked_add(position))?
}

/// The number after the text, and what follows.
fn after<'a>(line: &'a [u8], text: &[u8]) -> Option<(u64, &'a [u8])> {
    let rest = &line[memmem::find(line, text)? + text.len()..];
    let (number, end) = whole_at_start(rest)?;
    Some((number, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::{of_bar, of_brackets};

    #[test]
    fn epochs_are_counted() {
        assert_eq!(
            of_bar("Epoch 0:   1%|▏         | 16/1231 [11:04<14:01:28, 41.55s/it".as_bytes()),
            Some(16)
        );
        assert_eq!(of_bar(b"Epoch 2:  10%|#   | 10/100 [00:10<"), Some(210));
        assert_eq!(of_brackets(b"Epoch(train)   [1][ 100/3125]  lr"), Some(100));
        assert_eq!(of_brackets(b"Epoch(train) [3][5/10]  lr"), Some(25));
        assert_eq!(of_bar(b"Epoch 2: | 10 [00:10<"), None);
        assert_eq!(of_brackets(b"Epoch(train) [0][5/10]"), None);
        assert_eq!(
            of_bar(b"Epoch 9007199254740992: | 1/9007199254740992 ["),
            None
        );
    }
}
