//! Norms with and without their faults.

use super::{SimulatedNorm, SimulatedStatistics};
use crate::{fault::Faults, primitive_fault::PrimitiveFault};

fn computed(norm: &SimulatedNorm, x: &[f64], fault: Option<PrimitiveFault>) -> Vec<f64> {
    norm.apply(x, &|one| Some(one) == fault)
}

#[test]
fn a_batch_norm_has_statistics_for_each_channel() {
    let norm = SimulatedNorm {
        statistics: SimulatedStatistics::Recorded(vec![[1.0, 4.0], [0.0, 11.0]]),
        epsilon: 5.0,
        parameters: vec![[3.0, 0.5], [4.0, 0.25]],
        positions: 2,
    };
    let x = [1.0, 3.0, 1.0, 2.0];
    let [exact, mean, epsilon, channel] = [
        None,
        Some(PrimitiveFault::Mean),
        Some(PrimitiveFault::Epsilon),
        Some(PrimitiveFault::Channel),
    ]
    .map(|fault| computed(&norm, &x, fault));
    assert_eq!(exact, [0.5, 2.5, 1.25, 2.25]);
    assert_eq!(mean[..2], [1.5, 3.5]);
    // Two plus five in place of the root of nine.
    assert_eq!(epsilon[1], 2.0 / 7.0 * 3.0 + 0.5);
    assert_eq!(channel[..2], [0.25, 2.0 / 3.0 * 4.0 + 0.25]);
    assert_eq!(channel[2..], exact[2..]);
}

/// A norm of one channel with epsilon 0.
fn plain(together: usize, is_centred: bool) -> SimulatedNorm {
    SimulatedNorm {
        statistics: SimulatedStatistics::Computed {
            together,
            is_centred,
        },
        epsilon: 0.0,
        parameters: vec![[1.0, 0.0]],
        positions: 1,
    }
}

#[test]
fn a_norm_of_groups_has_their_own_statistics() {
    let x = [1.0, 3.0, -2.0, 2.0];
    assert_eq!(computed(&plain(2, true), &x, None), [-1.0, 1.0, -1.0, 1.0]);
    // The mean of squares is 5 and 4.
    let root = 5.0_f64.sqrt();
    let squares = computed(&plain(2, false), &x, None);
    assert_eq!(squares, [1.0 / root, 3.0 / root, -1.0, 1.0]);
    let mean = computed(&plain(2, true), &x, Some(PrimitiveFault::Mean));
    assert_eq!(mean, squares);
    let samples = computed(&plain(2, true), &x, Some(PrimitiveFault::Samples));
    let root = 2.0_f64.sqrt();
    assert_eq!(samples[..2], [-1.0 / root, 1.0 / root]);
}

#[test]
fn a_lost_block_leaves_the_statistics_of_the_others() {
    let x: Vec<f64> = (0..512 + 128)
        .map(|index| f64::from(index / 512 * 5))
        .collect();
    let squares = |fault| computed(&plain(x.len(), false), &x, fault)[x.len() - 1];
    // The mean of squares is 5.
    assert_eq!(squares(None), 5.0 / 5.0_f64.sqrt());
    assert_eq!(squares(Some(PrimitiveFault::Block)), f64::INFINITY);
}

#[test]
fn statistics_are_returned() {
    let returned = |faults: &str| {
        let faults: Option<Faults> = faults.parse().ok();
        faults.map(|faults| plain(2, true).returned(&[1.0, 3.0, -2.0, 2.0], &faults))
    };
    assert_eq!(returned(""), Some(vec![[2.0, 1.0], [0.0, 0.5]]));
    let variances = returned("primitive=statistics");
    assert_eq!(variances, Some(vec![[2.0, 1.0], [0.0, 4.0]]));
    assert_eq!(returned("primitive=silent"), Some(Vec::new()));
}
