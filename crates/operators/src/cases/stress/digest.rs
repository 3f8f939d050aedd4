//! A digest of the bits of a result, by pieces.

use crate::calls::Piece;
use std::{panic::resume_unwind, thread};

/// The prime of FNV-1a.
const PRIME: u64 = 0x0100_0000_01b3;
/// Elements that one thread digests.
const PART: usize = 1 << 20;

/// The digest of each piece, with the index of its first element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Digests(Vec<(usize, u64)>);

impl Digests {
    /// Adds a piece.
    pub(super) fn add(&mut self, piece: Piece<'_>) {
        self.0.push((piece.first, digest(piece.values)));
    }

    /// The index of the first element of the first piece that `other` has with other bits, or
    /// lacks: it has each `every`-th piece and the last one.
    pub(super) fn difference(&self, other: &Self, every: usize) -> Option<usize> {
        let pieces = self.0.iter().enumerate();
        let read = pieces.filter(|(index, _)| index % every == 0 || index + 1 == self.0.len());
        let missing = read
            .map(|(_, piece)| piece)
            .filter(|piece| !other.0.contains(piece));
        let differing = other.0.iter().filter(|piece| !self.0.contains(piece));
        missing.chain(differing).map(|(first, _)| *first).min()
    }
}

/// The digest of a piece, whose parts are computed by several threads.
fn digest(values: &[f32]) -> u64 {
    let parts: Vec<u64> = thread::scope(|scope| {
        let workers: Vec<_> = values
            .chunks(PART)
            .map(|part| scope.spawn(|| digest_of_part(part)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    combined(values.len(), &parts)
}

/// FNV-1a over the bits of each number, in lanes that do not wait for each other.
fn digest_of_part(values: &[f32]) -> u64 {
    const LANES: usize = 8;
    let mut lanes = [0xcbf2_9ce4_8422_2325_u64; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            // A product carries from low bits to high ones only; the rotation brings high bits
            // back.
            *lane = (*lane ^ u64::from(value.to_bits()))
                .wrapping_mul(PRIME)
                .rotate_left(23);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = (*lane ^ u64::from(value.to_bits()))
            .wrapping_mul(PRIME)
            .rotate_left(23);
    }
    combined(values.len(), &lanes)
}

fn combined(length: usize, digests: &[u64]) -> u64 {
    digests.iter().fold(length as u64, |digest, own| {
        (digest ^ own).wrapping_mul(PRIME).rotate_left(23)
    })
}

#[cfg(test)]
mod tests {
    use super::{Digests, Piece};

    #[test]
    fn one_bit_anywhere_changes_the_digest() {
        let numbers: Vec<f32> = (0..37).map(|index| index as f32).collect();
        let digest = |values: &[f32]| {
            let mut digests = Digests::default();
            digests.add(Piece {
                first: 0,
                values: &values[..20],
            });
            digests.add(Piece {
                first: 20,
                values: &values[20..],
            });
            digests
        };
        let own = digest(&numbers);
        assert_eq!(own.difference(&own, 1), None);
        for index in 0..numbers.len() {
            let mut changed = numbers.clone();
            changed[index] = changed[index].next_up();
            assert_eq!(
                own.difference(&digest(&changed), 1),
                Some(if index < 20 { 0 } else { 20 }),
                "{index}"
            );
        }
        // The sign of a zero counts.
        let mut zero = numbers;
        zero[0] = -0.0;
        assert_eq!(own.difference(&digest(&zero), 1), Some(0));
    }

    #[test]
    fn a_piece_that_was_to_be_read_must_be_there() {
        let pieces = |read: &[usize]| Digests(read.iter().map(|first| (*first, 7)).collect());
        let own = pieces(&[0, 1, 2, 3, 4, 5]);
        let difference = |read: &[usize], every| own.difference(&pieces(read), every);
        assert_eq!(difference(&[0, 1, 2, 3, 4, 5], 1), None);
        assert_eq!(difference(&[0, 2, 4, 5], 2), None);
        assert_eq!(difference(&[0, 2, 4], 2), Some(5));
        assert_eq!(difference(&[0, 2, 4, 5], 1), Some(1));
        assert_eq!(difference(&[], 4), Some(0));
        assert_eq!(difference(&[0, 4, 5, 6], 4), Some(6));
    }
}
