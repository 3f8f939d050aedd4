//! Distributes the slices of a partition over runners.

use std::num::NonZeroU32;

/// Assigns each weight its part of `slices`, at least one; the rest goes to the heaviest, then to
/// the first.
///
/// `slices` must be at least the number of weights.
pub(super) fn share(slices: u32, weights: &[NonZeroU32]) -> Vec<u32> {
    let sum: u64 = weights.iter().map(|weight| u64::from(weight.get())).sum();
    let mut parts: Vec<u32> = weights
        .iter()
        .map(|weight| {
            let exact = u64::from(slices) * u64::from(weight.get()) / sum.max(1);
            u32::try_from(exact).unwrap_or(slices).max(1)
        })
        .collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(weights[*index]), *index));
    // Each turn brings the sum nearer to `slices` by one, so that the loop ends.
    for turn in 0.. {
        let given: u32 = parts.iter().sum();
        match given.cmp(&slices) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Less => parts[order[turn % order.len()]] += 1,
            // Because of the minimum of one for each, the parts can add up to more.
            std::cmp::Ordering::Greater => take_from_largest(&mut parts),
        }
    }
    parts
}

fn take_from_largest(parts: &mut [u32]) {
    if let Some(largest) = parts.iter_mut().max() {
        *largest -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(slices: u32, weights: &[u32]) -> Vec<u32> {
        let weights: Vec<NonZeroU32> = weights
            .iter()
            .filter_map(|weight| NonZeroU32::new(*weight))
            .collect();
        share(slices, &weights)
    }

    #[test]
    fn every_slice_goes_to_someone_and_everyone_has_one() {
        assert_eq!(parts(1, &[1]), [1]);
        assert_eq!(parts(4, &[1, 1]), [2, 2]);
        assert_eq!(parts(5, &[1, 1]), [3, 2]);
        assert_eq!(parts(6, &[2, 1]), [4, 2]);
        assert_eq!(parts(4, &[100, 1, 1]), [2, 1, 1]);
        for slices in 50..60 {
            let weights: Vec<u32> = (0..50).map(|index| index % 7 + 1).collect();
            let parts = parts(slices, &weights);
            assert_eq!(parts.iter().sum::<u32>(), slices);
            assert!(parts.iter().all(|part| *part > 0));
        }
    }
}
