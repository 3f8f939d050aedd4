//! Prints, as JSON, what every device of this machine is and computes: detection, the first kernel, TF32, 16-bit types,
//! memory, and panics on device threads.
//!
//!     cargo run -p testgen-runtime --example open_device
//!
//! Needs nothing but the devices' own libraries. For CUDA that is the driver, NVRTC, and toolkit headers below
//! `CUDA_PATH` (or `/usr/local/cuda`); for ROCm it is `libamdhip64`, `libhiprtc` and `hipconfig`. `TESTGEN_VERBOSE=1`
//! logs each step.

use burn::DispatchDevice;
use burn::tensor::{DType, Tensor, TensorData};
use serde_json::{Value, json};
use std::time::Instant;
use testgen_device::{DetectionPath, Device, System, inventory};
use testgen_runtime::{
    DeviceKind, Label, OpenDevice, cleanup, device_panic_messages, device_panics, measure_tf32, memory, open,
    probe_half_precision, report_memory, report_probe, report_visibility, visible_devices,
};

fn main() {
    let visibility = visible_devices();
    report_visibility(&Label::new("machine", DeviceKind::Cpu), &visibility);
    let machine = inventory(&System::host());
    let devices: Vec<Value> = machine.devices.iter().map(describe).collect();
    let all = json!({
        "paths": machine.paths,
        "visibility": visibility,
        "contradictions": machine.contradictions,
        "devices": devices,
        "device_panics": device_panic_messages(0),
    });
    println!("{all:#}");
}

fn describe(device: &Device) -> Value {
    let (opened, milliseconds) = timed(|| open(device.clone()));
    match opened {
        Ok(open) => json!({ "device": device, "open_ms": milliseconds, "opened": describe_open(&open) }),
        Err(error) => json!({ "device": device, "open_ms": milliseconds, "error": error.to_string() }),
    }
}

fn describe_open(device: &OpenDevice) -> Value {
    let label = Label::new(device.facts().label(), device.facts().kind);
    let panics = device_panics();
    let (probe, probe_ms) = timed(|| probe_half_precision(device));
    report_probe(&label, &probe);
    let (tf32, tf32_ms) = timed(|| measure_tf32(device));
    json!({
        "tf32_declared": device.tf32(),
        "tf32_measured": tf32,
        "tf32_ms": tf32_ms,
        "probe": probe,
        "probe_text": probe.to_string(),
        "probe_ms": probe_ms,
        "memory": describe_memory(device, &label),
        "device_panics": device_panics() - panics,
    })
}

/// Memory in use before, with and after a tensor of 64 MiB, and after the clean-up.
fn describe_memory(device: &OpenDevice, label: &Label) -> Value {
    cleanup(device);
    let look = |when: &str| {
        let memory = memory(device);
        report_memory(label, when, &memory);
        json!(memory)
    };
    let before = look("before");
    let tensor = backend_device(device.facts()).map(|device| put(&device, 64 << 18));
    let with = look("with 64 MiB");
    drop(tensor);
    let after = look("after");
    cleanup(device);
    json!({ "before": before, "with_64_mib": with, "after": after, "after_cleanup": look("after cleanup") })
}

fn backend_device(device: &Device) -> Option<DispatchDevice> {
    match device.path {
        DetectionPath::HostProcessor => Some(DispatchDevice::Flex(Default::default())),
        #[cfg(feature = "cuda")]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
            Some(DispatchDevice::Cuda(burn::backend::cuda::CudaDevice::new(device.index as usize)))
        }
        #[cfg(feature = "rocm")]
        DetectionPath::HipRuntime => {
            Some(DispatchDevice::Rocm(burn::backend::rocm::RocmDevice::new(device.index as usize)))
        }
        #[cfg(not(all(feature = "cuda", feature = "rocm")))]
        _ => None,
    }
}

fn put(device: &DispatchDevice, length: usize) -> Tensor<burn::Dispatch, 1> {
    let tensor = Tensor::from_data(TensorData::new(vec![1.0f32; length], [length]), (device, DType::F32));
    let sum: Tensor<burn::Dispatch, 1> = tensor.clone().sum();
    assert_eq!(sum.into_data().to_vec::<f32>().expect("f32 comes back"), [length as f32]);
    tensor
}

fn timed<Answer>(work: impl FnOnce() -> Answer) -> (Answer, f64) {
    let start = Instant::now();
    let answer = work();
    (answer, start.elapsed().as_secs_f64() * 1e3)
}
