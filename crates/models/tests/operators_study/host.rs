//! Without a fault every check of every operator passes.

use crate::checks::failures;
use burn_flex::FlexDevice;
use testgen_models::executor;
use testgen_nn::device::BackendDevice;
use testgen_operators::calls::Execute;
use testgen_types::{Operator, Precision};

/// The precisions of the host processor.
pub(crate) const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

/// The host processor as the suite uses it.
pub(crate) fn host(precision: Precision) -> Box<dyn Execute + Send + Sync> {
    executor(&BackendDevice::Cpu(FlexDevice), 1, precision)
}

#[test]
fn every_check_passes() {
    let of = |precision: Precision| {
        let device = host(precision);
        Operator::ALL
            .iter()
            .flat_map(move |operator| failures(*operator, precision, device.as_ref()))
    };
    let all: Vec<String> = PRECISIONS
        .into_iter()
        .flat_map(of)
        .map(|(check, failure)| format!("{check}: {failure}"))
        .collect();
    assert!(
        all.is_empty(),
        "{} failures:\n{}",
        all.len(),
        all.join("\n")
    );
}
