//! Tensors between host and device, and the layouts of inputs.

use crate::operators::value::DeviceTensor;
use burn_tensor::{DType, TensorData, TensorMetadata, read_sync};
use half::{bf16, f16};
use testgen_nn::backend::Ops;
use testgen_operators::calls::{Element, HostTensor, Input, Layout};

/// Puts an input on the device, in its layout.
pub(crate) fn upload<B: Ops>(input: &Input, device: &B::Device) -> DeviceTensor<B> {
    let tensor = &input.tensor;
    match input.layout {
        Layout::Contiguous => plain(tensor, device),
        Layout::Reversed => {
            // Permuted back by strides alone, so that the order in memory stays reversed.
            let axes: Vec<usize> = (0..tensor.shape.len()).rev().collect();
            plain::<B>(&tensor.permuted(&axes), device).permute(&axes)
        }
        Layout::Sliced => {
            let ranges: Vec<[usize; 3]> = tensor
                .shape
                .iter()
                .map(|length| [1, 2 * length + 1, 2])
                .collect();
            plain::<B>(&surrounded(tensor), device).slice(&ranges)
        }
        Layout::Expanded => plain::<B>(&stored_once(tensor), device).expand(&tensor.shape),
    }
}

fn plain<B: Ops>(tensor: &HostTensor, device: &B::Device) -> DeviceTensor<B> {
    let data = data(tensor);
    match tensor.element {
        Element::F32 | Element::F16 | Element::Bf16 => {
            DeviceTensor::Float(B::float_from_data(data, device))
        }
        Element::I32 => DeviceTensor::Int(B::int_from_data(data, device)),
        // In the backend's own type of booleans.
        Element::Bool => {
            let dtype = burn_tensor::get_device_settings::<B>(device).bool_dtype;
            DeviceTensor::Bool(B::bool_from_data(data.convert_dtype(dtype.into()), device))
        }
    }
}

fn data(tensor: &HostTensor) -> TensorData {
    let (values, shape) = (&tensor.values, tensor.shape.clone());
    match tensor.element {
        Element::F32 => TensorData::new(
            values
                .iter()
                .map(|value| *value as f32)
                .collect::<Vec<f32>>(),
            shape,
        ),
        // Exact: the values are numbers of the type already.
        Element::F16 => TensorData::new(
            values
                .iter()
                .map(|value| f16::from_f64(*value))
                .collect::<Vec<f16>>(),
            shape,
        ),
        Element::Bf16 => TensorData::new(
            values
                .iter()
                .map(|value| bf16::from_f64(*value))
                .collect::<Vec<bf16>>(),
            shape,
        ),
        Element::I32 => TensorData::new(
            values
                .iter()
                .map(|value| *value as i32)
                .collect::<Vec<i32>>(),
            shape,
        ),
        Element::Bool => TensorData::new(
            values
                .iter()
                .map(|value| *value != 0.0)
                .collect::<Vec<bool>>(),
            shape,
        ),
    }
}

/// The tensor with one element before, one after, and one between neighbours of every dimension.
fn surrounded(tensor: &HostTensor) -> HostTensor {
    // NaN, or a number that shows in every result.
    let fill = if tensor.element.is_float() {
        f64::NAN
    } else {
        tensor.element.largest()
    };
    let shape: Vec<usize> = tensor.shape.iter().map(|length| 2 * length + 1).collect();
    let strides = testgen_operators::calls::row_major_strides(&shape);
    let mut values = vec![fill; shape.iter().product()];
    for (flat, value) in tensor.values.iter().enumerate() {
        let places = tensor
            .position(flat)
            .into_iter()
            .zip(&strides)
            .map(|(index, stride)| (2 * index + 1) * stride);
        values[places.sum::<usize>()] = *value;
    }
    HostTensor {
        shape,
        element: tensor.element,
        values,
    }
}

/// The tensor with size 1 for each dimension along which all elements are equal.
fn stored_once(tensor: &HostTensor) -> HostTensor {
    let mut kept = tensor.clone();
    for dimension in 0..tensor.shape.len() {
        let mut shape = kept.shape.clone();
        // An empty dimension has no element to keep.
        if shape[dimension] == 0 {
            continue;
        }
        shape[dimension] = 1;
        let strides = testgen_operators::calls::row_major_strides(&kept.shape);
        let place = |flat: usize| {
            let index = HostTensor {
                shape: shape.clone(),
                ..kept.clone()
            }
            .position(flat);
            index
                .iter()
                .zip(&strides)
                .map(|(index, stride)| index * stride)
                .sum::<usize>()
        };
        let values = (0..shape.iter().product())
            .map(|flat| kept.values[place(flat)])
            .collect();
        let once = HostTensor {
            shape,
            element: kept.element,
            values,
        };
        if once.expanded(&kept.shape) == kept {
            kept = once;
        }
    }
    kept
}

/// Copies a tensor to the host; the error is the device's message.
pub(crate) fn download<B: Ops>(value: DeviceTensor<B>) -> Result<HostTensor, String> {
    let (element, data) = match value {
        DeviceTensor::Float(x) => (float_element(x.dtype()), read_sync(B::float_into_data(x))),
        DeviceTensor::Int(x) => (Element::I32, read_sync(B::int_into_data(x))),
        DeviceTensor::Bool(x) => (Element::Bool, read_sync(B::bool_into_data(x))),
    };
    let data = data.map_err(|error| format!("{error:?}"))?;
    let values = match element {
        Element::Bool => data
            .iter::<bool>()
            .map(|truth| f64::from(u8::from(truth)))
            .collect(),
        Element::I32 => data.iter::<i32>().map(f64::from).collect(),
        // Through f32, which has every number of the 16-bit types.
        _ => data.iter::<f32>().map(f64::from).collect(),
    };
    Ok(HostTensor {
        shape: data.shape.to_vec(),
        element,
        values,
    })
}

/// The type of a float tensor.
pub(crate) fn float_element(dtype: DType) -> Element {
    match dtype {
        DType::F16 => Element::F16,
        DType::BF16 => Element::Bf16,
        _ => Element::F32,
    }
}
