//! Ratios of samples with known distributions.

use super::{BootstrapRandom, SpeedRatio, median};
use testgen_types::quantile;

/// Times around `center` with noise of a few percent, of a seed.
fn times(center: f64, seed: u64) -> Vec<f64> {
    let mut random = BootstrapRandom(seed);
    (0..40)
        .map(|_| center * (1.0 + random.below(1000) as f64 / 20_000.0))
        .collect()
}

/// The ratio of reports with a start each.
fn of_one_start(earlier: &[f64], later: &[f64]) -> Option<SpeedRatio> {
    SpeedRatio::new(&[earlier], &[later])
}

#[test]
fn the_interval_contains_the_ratio_and_is_the_same_again() {
    let (earlier, later) = (times(10.0, 1), times(12.0, 2));
    let ratio = of_one_start(&earlier, &later).expect("there are times");
    let [low, high] = ratio.interval.expect("there are enough calls");
    assert!(low <= ratio.ratio && ratio.ratio <= high, "{ratio:?}");
    assert!(1.15 < low && high < 1.25, "{ratio:?}");
    assert_eq!(of_one_start(&earlier, &later), Some(ratio));
    assert_eq!(of_one_start(&[], &later), None);
    assert_eq!(SpeedRatio::new(&[], &[&later]), None);
    let few = of_one_start(&earlier[..4], &later).expect("there are times");
    assert_eq!(few.interval, None);
}

#[test]
fn the_median_of_times_is_the_quantile_of_sorted_ones() {
    for count in 0..40 {
        let times = times(10.0, 3)[..count].to_vec();
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(median(times), quantile(&sorted, 0.5), "{count} times");
    }
}

#[test]
fn starts_have_the_geometric_mean_of_their_medians() {
    let starts: [&[f64]; 2] = [&[1.0, 2.0, 90.0], &[8.0]];
    let ratio = SpeedRatio::new(&[&[2.0]], &starts).expect("there are times");
    assert!((ratio.ratio - 2.0).abs() < 1e-12, "{ratio:?}");
}

/// Whether the interval excludes equal times.
fn excludes(earlier: &[&[f64]], later: &[&[f64]]) -> bool {
    let ratio = SpeedRatio::new(earlier, later).expect("there are times");
    let [low, high] = ratio.interval.expect("there are enough calls");
    low > 1.0 || high < 1.0
}

#[test]
fn equal_distributions_rarely_differ_and_a_fifth_always_does() {
    let excluded = |scale: f64| {
        let pairs = (0..100).filter(|pair| {
            let later: Vec<f64> = times(10.0, 1000 + pair)
                .iter()
                .map(|it| it * scale)
                .collect();
            excludes(&[&times(10.0, *pair)], &[&later])
        });
        pairs.count()
    };
    assert!(excluded(1.0) <= 10, "{}", excluded(1.0));
    assert_eq!(excluded(1.2), 100);
}

/// Starts whose medians differ by up to `spread` times, `scale` times as slow.
fn starts(count: u64, [spread, scale]: [f64; 2], seed: u64) -> Vec<Vec<f64>> {
    let mut random = BootstrapRandom(seed);
    let start = |index| {
        let place = random.below(1000) as f64 / 1000.0;
        times(10.0 * scale * spread.powf(place), seed * 100 + index)
    };
    (0..count).map(start).collect()
}

/// How many of 100 pairs of reports with `count` starts each differ.
fn different_pairs(count: u64, spread: f64, scale: f64) -> usize {
    let pairs = (1..101).filter(|pair| {
        let earlier = starts(count, [spread, 1.0], *pair);
        let later = starts(count, [spread, scale], 1000 + pair);
        let [earlier, later]: [Vec<&[f64]>; 2] =
            [&earlier, &later].map(|side| side.iter().map(Vec::as_slice).collect());
        excludes(&earlier, &later)
    });
    pairs.count()
}

#[test]
fn starts_that_differ_are_noise_only_if_there_are_several() {
    // Calls within a start say nothing of the others, so that one start finds a difference that is
    // not there.
    assert!(different_pairs(1, 3.0, 1.0) > 50);
    assert!(different_pairs(5, 3.0, 1.0) <= 10);
    assert_eq!(different_pairs(5, 1.05, 1.2), 100);
}
