//! Prints, as JSON, what every device of this machine is and computes: detection, the first kernel, TF32, 16-bit types,
//! every kernel for products, memory, and panics on device threads.
//!
//!     cargo run -p testgen-runtime --example open_device
//!
//! Needs nothing but the devices' own libraries. For CUDA that is the driver, NVRTC, and toolkit headers below
//! `CUDA_PATH` (or `/usr/local/cuda`); for ROCm it is `libamdhip64`, `libhiprtc` and `hipconfig`. `TESTGEN_VERBOSE=1`
//! logs each step.

#[cfg(any(feature = "cuda", feature = "rocm"))]
use burn_tensor::TensorPrimitive;
use burn_tensor::{DType, Tensor, TensorData};
use serde_json::{Value, json};
use std::any::Any;
use std::time::Instant;
use testgen_device::{DetectionPath, Device, System, inventory};
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_gpu::{Gpu, GpuDevice, ProductKernel, product_by};
use testgen_nn::backend::{Cpu, Ops};
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
        "products": describe_products(device.facts()),
        "memory": describe_memory(device, &label),
        "device_panics": device_panics() - panics,
    })
}

/// Every kernel for products on a GPU: the error against the host in f32, or why it is refused.
fn describe_products(device: &Device) -> Value {
    #[cfg(any(feature = "cuda", feature = "rocm"))]
    if device.kind != DeviceKind::Cpu {
        let gpu = match device.kind {
            DeviceKind::Rocm => GpuDevice::Rocm(device.index as u16),
            DeviceKind::Cuda | DeviceKind::Cpu => GpuDevice::Cuda(device.index as u16),
        };
        let [rows, inner, columns] = [128, 768, 500];
        let expected = matrix::<Cpu>(&Default::default(), [rows, inner], DType::F32).matmul(matrix(
            &Default::default(),
            [inner, columns],
            DType::F32,
        ));
        let expected: Vec<f32> = expected.into_data().iter().collect();
        let products = ProductKernel::ALL.iter().flat_map(|kernel| {
            [DType::F32, DType::F16, DType::BF16].map(|dtype| {
                let factor = |shape| matrix::<Gpu>(&gpu, shape, dtype).into_primitive().tensor();
                let product = product_by(*kernel, factor([rows, inner]), factor([inner, columns])).map(|product| {
                    let product = Tensor::<Gpu, 2>::from_primitive(TensorPrimitive::Float(product));
                    relative_error(&expected, &product.into_data().iter().collect::<Vec<f32>>())
                });
                json!({ "kernel": format!("{kernel:?}"), "type": format!("{dtype:?}"), "error": product })
            })
        });
        return products.collect();
    }
    let _ = device;
    Value::Null
}

/// Values between -1 and 1 that every type represents exactly.
#[cfg(any(feature = "cuda", feature = "rocm"))]
fn matrix<B: Ops>(device: &B::Device, shape: [usize; 2], dtype: DType) -> Tensor<B, 2> {
    let values = (0..shape[0] * shape[1]).map(|index| (index * 37 % 65) as f32 / 32.0 - 1.0);
    Tensor::from_data(TensorData::new(values.collect::<Vec<f32>>(), shape), (device, dtype))
}

/// |d| / |expected|.
#[cfg(any(feature = "cuda", feature = "rocm"))]
fn relative_error(expected: &[f32], got: &[f32]) -> f64 {
    let square = |value: f64| value * value;
    let norm: f64 = expected.iter().map(|value| square(f64::from(*value))).sum();
    let error: f64 = expected.iter().zip(got).map(|(expected, got)| square(f64::from(expected - got))).sum();
    (error / norm).sqrt()
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
    let tensor = put(device.facts(), 64 << 18);
    let with = look("with 64 MiB");
    drop(tensor);
    let after = look("after");
    cleanup(device);
    json!({ "before": before, "with_64_mib": with, "after": after, "after_cleanup": look("after cleanup") })
}

/// A tensor of `length` ones on `device`, which has computed with it; dropping it frees its memory.
fn put(device: &Device, length: usize) -> Option<Box<dyn Any>> {
    match device.path {
        DetectionPath::HostProcessor => Some(Box::new(ones::<Cpu>(&Default::default(), length))),
        #[cfg(feature = "cuda")]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
            Some(Box::new(ones::<Gpu>(&GpuDevice::Cuda(device.index as u16), length)))
        }
        #[cfg(feature = "rocm")]
        DetectionPath::HipRuntime => Some(Box::new(ones::<Gpu>(&GpuDevice::Rocm(device.index as u16), length))),
        #[cfg(not(all(feature = "cuda", feature = "rocm")))]
        _ => None,
    }
}

fn ones<B: Ops>(device: &B::Device, length: usize) -> Tensor<B, 1> {
    let tensor = Tensor::from_data(TensorData::new(vec![1.0f32; length], [length]), (device, DType::F32));
    let sum: Tensor<B, 1> = tensor.clone().sum();
    assert_eq!(sum.into_data().to_vec::<f32>().expect("f32 comes back"), [length as f32]);
    tensor
}

fn timed<Answer>(work: impl FnOnce() -> Answer) -> (Answer, f64) {
    let start = Instant::now();
    let answer = work();
    (answer, start.elapsed().as_secs_f64() * 1e3)
}
