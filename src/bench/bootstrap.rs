//! The ratio of two medians with an interval of 95 %, by a bootstrap over blocks of calls.
//!
//! Calls that follow each other are alike: a clock that changes, or a process that starts, slows
//! down several. Drawn one by one they would make the interval too narrow, so blocks are drawn.

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
    /// The later median divided by the earlier one.
    pub ratio: f64,
    /// Both ends of the interval: `None` for too few calls.
    pub interval: Option<[f64; 2]>,
}

impl SpeedRatio {
    /// The ratio of the median of `later` to the median of `earlier`: `None` without times.
    pub fn new(earlier: &[f64], later: &[f64]) -> Option<Self> {
        let ratio = median(later.to_vec())? / median(earlier.to_vec())?;
        let interval = match earlier.len().min(later.len()) {
            0..FEWEST => None,
            _ => interval(earlier, later),
        };
        Some(Self { ratio, interval })
    }
}

/// The ends of the interval of 95 %.
fn interval(earlier: &[f64], later: &[f64]) -> Option<[f64; 2]> {
    // A fixed seed, so that the same reports always have the same interval.
    let mut random = BootstrapRandom(SEED);
    let mut draw =
        || Some(median(drawn(later, &mut random))? / median(drawn(earlier, &mut random))?);
    let mut ratios = (0..DRAWS).map(|_| draw()).collect::<Option<Vec<f64>>>()?;
    ratios.sort_by(f64::total_cmp);
    // The percentiles of the draws themselves: medians of times are skewed, and a normal interval
    // is not.
    Some([quantile(&ratios, 0.025)?, quantile(&ratios, 0.975)?])
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    quantile(&times, 0.5)
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
mod tests {
    use super::{BootstrapRandom, SpeedRatio};

    /// Times around `center` with noise of a few percent, of a seed.
    fn times(center: f64, seed: u64) -> Vec<f64> {
        let mut random = BootstrapRandom(seed);
        (0..40)
            .map(|_| center * (1.0 + random.below(1000) as f64 / 20_000.0))
            .collect()
    }

    #[test]
    fn the_interval_contains_the_ratio_and_is_the_same_again() {
        let (earlier, later) = (times(10.0, 1), times(12.0, 2));
        let ratio = SpeedRatio::new(&earlier, &later).expect("there are times");
        let [low, high] = ratio.interval.expect("there are enough calls");
        assert!(low <= ratio.ratio && ratio.ratio <= high, "{ratio:?}");
        assert!(1.15 < low && high < 1.25, "{ratio:?}");
        assert_eq!(SpeedRatio::new(&earlier, &later), Some(ratio));
        assert_eq!(SpeedRatio::new(&[], &later), None);
        let few = SpeedRatio::new(&earlier[..4], &later).expect("there are times");
        assert_eq!(few.interval, None);
    }

    #[test]
    fn equal_distributions_rarely_differ_and_a_fifth_always_does() {
        let excludes = |scale: f64| {
            let pairs = (0..100).filter(|pair| {
                let later: Vec<f64> = times(10.0, 1000 + pair)
                    .iter()
                    .map(|it| it * scale)
                    .collect();
                let ratio = SpeedRatio::new(&times(10.0, *pair), &later).expect("there are times");
                let [low, high] = ratio.interval.expect("there are enough calls");
                low > 1.0 || high < 1.0
            });
            pairs.count()
        };
        assert!(excludes(1.0) <= 10, "{}", excludes(1.0));
        assert_eq!(excludes(1.2), 100);
    }
}
