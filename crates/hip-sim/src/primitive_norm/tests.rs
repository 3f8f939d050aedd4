//! Norms with and without their faults.

use super::SimulatedNorm;
use crate::primitive_fault::PrimitiveFault;

fn computed(norm: &SimulatedNorm, x: &[f64], fault: Option<PrimitiveFault>) -> Vec<f64> {
    norm.apply(x, &|one| Some(one) == fault)
}

#[test]
fn a_batch_norm_has_statistics_for_each_channel() {
    let norm = SimulatedNorm {
        recorded: vec![[1.0, 4.0], [0.0, 0.0]],
        epsilon: 5.0,
        parameters: vec![[3.0, 0.5], [5.0_f64.sqrt(), 0.25]],
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
    assert_eq!(epsilon[1], 3.0 * 2.0 / 7.0 + 0.5);
    let last = 5.0_f64.sqrt();
    assert_eq!(channel[..2], [0.25, 2.0 / 3.0 * last + 0.25]);
    assert_eq!(channel[2..], exact[2..]);
}
