//! The answers of a device to every case, from burn or from an engine.

#[cfg(feature = "native")]
use super::native;
use super::{
    on_engine,
    question::{ProbeQuestion, ProbedValues},
};
use crate::open::{DeviceExecutor, OpenDevice};
use testgen_types::Precision;

/// The device's answers to every case of one precision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    /// The left operands of the sums, copied to the device and back.
    pub(super) stored: ProbedValues,
    /// [`cases::Elementwise::sums`].
    pub(super) sums: ProbedValues,
    /// [`cases::Elementwise::products`].
    pub(super) products: ProbedValues,
    /// [`cases::Elementwise::casts`].
    pub(super) casts: ProbedValues,
    /// The product that determines the accumulator.
    pub(super) cancelling: ProbedValues,
    /// The product that determines the error.
    pub(super) random: ProbedValues,
    /// The product that shows the features of the matrix unit.
    pub(super) fingerprint: ProbedValues,
    /// The number of rows and columns of both matrices.
    pub(super) side: usize,
    /// Whether the backend claims to support the type on this device. Then a missing answer is a
    /// fault.
    pub(super) claimed: bool,
}

/// The device's answers about TF32.
pub(super) struct Tf32Measurement {
    /// The products that determine the accumulator and the error.
    pub(super) products: [ProbedValues; 2],
    /// The product that shows the features of the matrix unit.
    pub(super) fingerprint: ProbedValues,
    /// The number of rows and columns of both matrices.
    pub(super) side: usize,
    /// Whether products in TF32 lose bits that f32 has, as they must.
    pub(super) tf32_loses: Result<bool, String>,
    /// Whether products in f32 do.
    pub(super) f32_loses: Result<bool, String>,
    /// Whether they must: in the columns of an engine whose f32 is TF32 by request. In all others
    /// they must not.
    pub(super) f32_is_tf32: bool,
}

/// Computes all cases of a precision on the device.
pub(super) fn measure(device: &OpenDevice, precision: Precision) -> Measurement {
    let side = side(device.facts.simulated);
    let ask = |question| answer(device, precision, question, side);
    Measurement {
        stored: ask(ProbeQuestion::Stored),
        sums: ask(ProbeQuestion::Sums),
        products: ask(ProbeQuestion::Products),
        casts: ask(ProbeQuestion::Casts),
        cancelling: ask(ProbeQuestion::Cancelling),
        random: ask(ProbeQuestion::Random),
        fingerprint: ask(ProbeQuestion::Fingerprint),
        side,
        claimed: claims(device, precision),
    }
}

/// The answers to the three products in TF32, which are all that distinguishes TF32 from f32: the
/// two that determine the accumulator and the error, and the one that shows the features of the
/// matrix unit.
pub(super) fn measure_tf32_products(device: &OpenDevice) -> [ProbedValues; 3] {
    let side = side(device.facts.simulated);
    [
        ProbeQuestion::Cancelling,
        ProbeQuestion::Random,
        ProbeQuestion::Fingerprint,
    ]
    .map(|question| answer(device, Precision::Tf32, question, side))
}

/// Whether the backend claims to support the type.
fn claims(device: &OpenDevice, precision: Precision) -> bool {
    // A backend that does not answer has not said that it lacks the type, so its missing answers
    // are faults.
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => native::claims(&device.facts, backend, precision),
        // An engine that lacks a type answers with an error. One that has ended does not answer.
        DeviceExecutor::Engine { process, .. } => {
            on_engine::answer(process, precision, ProbeQuestion::Stored, 0).is_ok()
                // A dead process has not said that it lacks the type, so that its missing answers
                // are faults.
                || !process.is_running()
        }
    }
}

/// Several tiles of a tensor core.
pub(super) fn side(simulated: bool) -> usize {
    // A simulator multiplies one number at a time.
    if simulated { 16 } else { 64 }
}

fn answer(
    device: &OpenDevice,
    precision: Precision,
    question: ProbeQuestion,
    side: usize,
) -> ProbedValues {
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => {
            native::answer(&device.facts, backend, precision, question, side)
        }
        DeviceExecutor::Engine { process, .. } => {
            on_engine::answer(process, precision, question, side)
        }
    }
}
