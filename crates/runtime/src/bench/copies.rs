//! Copies between the host and a GPU, in both directions.

use super::row::{BenchRow, NoTime};
use crate::open::{DeviceExecutor, OpenDevice};
use burn_tensor::{TensorData, read_sync};
use testgen_nn::{backend::Ops, device::BackendDevice, timing::milliseconds};
use testgen_types::{Measured, Repetitions};

/// The bytes of a copy.
// More than any cache of a GPU has.
const BYTES: usize = 128 << 20;

/// The times of copies, of a GPU that burn has opened.
#[cfg_attr(
    not(any(feature = "cuda", feature = "rocm")),
    expect(unused_variables, reason = "only GPUs have copies")
)]
pub(super) fn rows(device: &OpenDevice, repetitions: Repetitions) -> Vec<BenchRow> {
    match &device.executor {
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        DeviceExecutor::Native(BackendDevice::Gpu(gpu)) => {
            both_directions::<testgen_nn::backend::Gpu>(gpu, BYTES, repetitions).into()
        }
        // Memory of the host processor is not copied, and engines do not measure copies.
        DeviceExecutor::Native(BackendDevice::Cpu(_)) | DeviceExecutor::Engine { .. } => Vec::new(),
    }
}

/// A copy to the device, and one from it, each until it is complete.
fn both_directions<B: Ops>(
    device: &B::Device,
    bytes: usize,
    repetitions: Repetitions,
) -> [BenchRow; 2] {
    // More than 4 GiB of copies overflow a counter of cubecl 0.10 in development builds.
    let repetitions = repetitions.by_number();
    let values = vec![1_f32; bytes / size_of::<f32>()];
    let data = || TensorData::new(values.clone(), [values.len()]);
    let to_device = repetitions.measure(|| {
        // Made before the clock starts: only the copy is measured.
        let data = data();
        milliseconds(|| {
            // Kept until the copy is complete.
            let _tensor = B::float_from_data(data, device);
            B::sync(device).map_err(|error| failed(&error))
        })
    });
    let tensor = B::float_from_data(data(), device);
    let to_host = repetitions.measure(|| {
        milliseconds(|| {
            let copied = read_sync(B::float_into_data(tensor.clone()));
            copied.map(drop).map_err(|error| failed(&error))
        })
    });
    [
        (Measured::CopyToDevice, to_device),
        (Measured::CopyToHost, to_host),
    ]
    .map(|(measured, times)| BenchRow {
        bytes: Some(bytes as u64),
        repetitions: Some(repetitions),
        ..BenchRow::timed(measured, times)
    })
}

fn failed(error: &dyn std::fmt::Debug) -> NoTime {
    NoTime::Failed(format!("{error:?}"))
}

#[cfg(test)]
mod tests {
    use super::{Measured, Repetitions, both_directions};
    use burn_flex::FlexDevice;
    use testgen_nn::backend::Cpu;

    #[test]
    fn each_direction_has_its_bytes_and_its_times() {
        let repetitions = Repetitions {
            warmup: 1,
            iterations: 3,
            min_time_ms: 300,
        };
        let rows = both_directions::<Cpu>(&FlexDevice, 4096, repetitions);
        let shape = rows.map(|row| {
            let times = row.times.map(|times| times.milliseconds.len());
            (row.measured, row.bytes, row.repetitions, times)
        });
        let expected = [Measured::CopyToDevice, Measured::CopyToHost];
        let by_number = Some(repetitions.by_number());
        assert_eq!(
            shape,
            expected.map(|measured| (Some(measured), Some(4096), by_number, Some(3)))
        );
    }
}
