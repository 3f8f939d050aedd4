//! The ratio of two times with an interval of 95 %: of a few starts by a bootstrap over blocks of
//! their calls, of several from how the starts differ.
//!
//! Calls that follow each other are alike: a clock that changes, or a process that starts, slows
//! down several. Drawn one by one they would make the interval too narrow, so blocks are drawn.

use super::between_starts;
use serde::Serialize;
use testgen_types::quantile;

/// Draws of the bootstrap.
const DRAWS: usize = 2000;
/// The seed.
// Always the same, so that a comparison of the same files has the same interval.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// Fewer calls say nothing about their noise, as a single load does.
const FEWEST: usize = 5;

/// A ratio with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeedRatio {
    /// The later time divided by the earlier one.
    pub ratio: f64,
    /// Both ends of the interval: `None` for too few calls.
    pub interval: Option<[f64; 2]>,
}

impl SpeedRatio {
    /// The ratio of the typical time of `later` to that of `earlier`, each with the calls of its
    /// starts: `None` without times.
    pub fn new(earlier: &[&[f64]], later: &[&[f64]]) -> Option<Self> {
        let ratio = typical(later)? / typical(earlier)?;
        let has_starts = |starts: &[&[f64]]| starts.len() >= between_starts::FEWEST;
        let has_calls = |starts: &[&[f64]]| starts.iter().all(|calls| calls.len() >= FEWEST);
        let interval = match [earlier, later] {
            sides if sides.into_iter().all(has_starts) => {
                Some(between_starts::interval(medians(earlier)?, medians(later)?))
            }
            sides if sides.into_iter().all(has_calls) => interval(earlier, later),
            _ => None,
        };
        Some(Self { ratio, interval })
    }
}

/// The geometric mean of the medians of starts: `None` if one has no calls, or there are none.
///
/// Starts of work that waits for the host differ by factors, so that the slowest of them would be
/// most of an arithmetic mean.
pub(super) fn typical(starts: &[&[f64]]) -> Option<f64> {
    if starts.is_empty() {
        return None;
    }
    let share = 1.0 / starts.len() as f64;
    let medians = medians(starts)?;
    // Each to its share before the product, which would leave the range of `f64` for many starts.
    Some(medians.iter().map(|median| median.powf(share)).product())
}

fn medians(starts: &[&[f64]]) -> Option<Vec<f64>> {
    starts.iter().map(|calls| median(calls.to_vec())).collect()
}

/// The ends of the interval of 95 % from how calls within a start differ.
fn interval(earlier: &[&[f64]], later: &[&[f64]]) -> Option<[f64; 2]> {
    // A fixed seed, so that the same reports always have the same interval.
    let mut random = BootstrapRandom(SEED);
    let mut side = |starts: &[&[f64]]| {
        let drawn: Vec<Vec<f64>> = starts
            .iter()
            .map(|calls| drawn(calls, &mut random))
            .collect();
        typical(&drawn.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let mut draw = || Some(side(later)? / side(earlier)?);
    let mut ratios = (0..DRAWS).map(|_| draw()).collect::<Option<Vec<f64>>>()?;
    ratios.sort_by(f64::total_cmp);
    // The percentiles of the draws themselves: medians of times are skewed, and a normal interval
    // is not.
    Some([quantile(&ratios, 0.025)?, quantile(&ratios, 0.975)?])
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    let middle = times.len().checked_sub(1)? / 2;
    let is_odd = times.len() % 2 == 1;
    // Not sorted: a row has up to 10,000 times, each of the draws as many.
    let (_, lower, above) = times.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return Some(*lower);
    }
    let upper = above.iter().copied().min_by(f64::total_cmp)?;
    Some(*lower + (upper - *lower) * 0.5)
}

/// As many times as there are, in blocks of neighbours that wrap around at the end.
fn drawn(times: &[f64], random: &mut BootstrapRandom) -> Vec<f64> {
    let count = times.len();
    // The square root is the usual compromise: longer blocks keep more of the correlation, and
    // leave fewer of them.
    let block = (count as f64).sqrt().round().max(1.0) as usize;
    let mut drawn = Vec::with_capacity(count + block);
    while drawn.len() < count {
        let start = random.below(count);
        // Around the end, so that the first and the last calls are drawn as often as others.
        drawn.extend((start..start + block).map(|index| times[index % count]));
    }
    drawn.truncate(count);
    drawn
}

/// The generator SplitMix64 of Steele, Lea and Flood.
struct BootstrapRandom(u64);

impl BootstrapRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        // The limit is far below 2^53, so that the remainder is uniform enough.
        (self.next() % limit.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests;
