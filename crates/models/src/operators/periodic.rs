//! Large inputs made on the device by repeating a small one, and large results read back piece by
//! piece.

use crate::operators::{arguments::CallArguments, dispatch, transfer, value::DeviceTensor};
use burn_tensor::{DType, FloatDType, Shape, TensorData, read_sync};
use half::{bf16, f16, slice::HalfFloatSliceExt};
use testgen_nn::backend::{Ops, compute_in};
use testgen_operators::calls::{
    CallError, Element, HostTensor, Input, Layout, PeriodicCall, PeriodicResult, Piece,
    row_major_strides,
};
use testgen_types::{DeviceKind, Precision};

/// Elements of a piece.
// Its copies on host and device are small beside those tensors that need pieces.
const PIECE: usize = 1 << 24;

/// Computes a call on repeated inputs, and reads its result.
pub(crate) fn computed<B: Ops>(
    call: &PeriodicCall,
    precision: Precision,
    (device, devices): (&B::Device, u16),
    read: &mut dyn FnMut(Piece<'_>),
) -> Result<PeriodicResult, CallError> {
    let result = compute_in::<B, _>(precision, || {
        let pairs = call.call.inputs.iter().zip(&call.shapes);
        let inputs = pairs
            .map(|(input, shape)| repeated::<B>(input, shape, device))
            .collect();
        let element = call
            .call
            .inputs
            .iter()
            .map(|input| input.tensor.element)
            .find(|element| element.is_float());
        let element = element.unwrap_or(Element::I32);
        if call.fill {
            fill::<B>(&call.result, element, device);
        }
        dispatch::compute::<B>(CallArguments::new(
            &call.call, inputs, element, device, devices,
        ))
    })?;
    // From the tensor and not from the request: a silent fallback must show.
    let kind = B::kind(&result.device());
    read_back(call, result, kind, read)
}

/// Reads the pieces of a result.
fn read_back<B: Ops>(
    call: &PeriodicCall,
    result: DeviceTensor<B>,
    device: DeviceKind,
    read: &mut dyn FnMut(Piece<'_>),
) -> Result<PeriodicResult, CallError> {
    let failed = |message| CallError::Device {
        operator: call.call.operator,
        message,
    };
    let shape = result.shape();
    let pieces = pieces(&shape, PIECE);
    let mut element = None;
    for (index, piece) in pieces.iter().enumerate() {
        // The last in any case: it has the largest offsets.
        if index % call.every.max(1) == 0 || index + 1 == pieces.len() {
            let (of, values) = download(result.clone().slice(&piece.ranges)).map_err(failed)?;
            element = Some(of);
            read(Piece {
                first: piece.first,
                values: &values,
            });
        }
    }
    let element = element.ok_or_else(|| failed("the result has no elements".to_owned()))?;
    Ok(PeriodicResult {
        shape,
        element,
        device,
    })
}

/// The period of an input on the device, repeated to `shape`, in the layout of the input.
fn repeated<B: Ops>(input: &Input, shape: &[usize], device: &B::Device) -> DeviceTensor<B> {
    let axes: Vec<usize> = (0..shape.len()).rev().collect();
    let reversed = input.layout == Layout::Reversed;
    if !reversed {
        return tiled(
            transfer::upload::<B>(&contiguous(input.tensor.clone()), device),
            shape,
            device,
        );
    }
    let shape: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
    tiled(
        transfer::upload::<B>(&contiguous(input.tensor.permuted(&axes)), device),
        &shape,
        device,
    )
    .permute(&axes)
}

/// The tensor repeated along every dimension that is longer in `shape`.
fn tiled<B: Ops>(
    mut value: DeviceTensor<B>,
    shape: &[usize],
    device: &B::Device,
) -> DeviceTensor<B> {
    // The innermost first, so that only the last step is large.
    for dim in (0..shape.len()).rev() {
        let period = value.shape()[dim];
        if period != shape[dim] && period > 0 {
            let indices: Vec<i32> = (0..shape[dim])
                .map(|index| (index % period) as i32)
                .collect();
            let indices = B::int_from_data(TensorData::new(indices, [shape[dim]]), device);
            value = value.select_along(dim, indices);
        }
    }
    value
}

/// Fills memory of the size of the result with NaN, and releases it.
fn fill<B: Ops>(shape: &[usize], element: Element, device: &B::Device) {
    let dtype = match element {
        Element::F16 => FloatDType::F16,
        Element::Bf16 => FloatDType::BF16,
        _ => FloatDType::F32,
    };
    // The pool of memory most likely uses this block for the result, whose unwritten elements are
    // NaN then.
    drop(B::float_full(
        Shape::from(shape.to_vec()),
        f64::NAN.into(),
        device,
        dtype,
    ));
}

/// A part of a tensor whose elements are neighbours.
#[derive(Debug, PartialEq)]
struct TensorPart {
    first: usize,
    /// Start, end and step of every dimension.
    ranges: Vec<[usize; 3]>,
}

/// Parts of at most `size` elements, unless a line of the last dimension has more.
fn pieces(shape: &[usize], size: usize) -> Vec<TensorPart> {
    if shape.is_empty() || shape.contains(&0) {
        return Vec::new();
    }
    // The outermost dimension whose lines of inner elements fit: those before it are taken one by
    // one, it is cut into ranges.
    let inner = row_major_strides(shape);
    let cut = inner.iter().position(|elements| *elements <= size);
    let cut = cut.unwrap_or(shape.len() - 1);
    let step = (size / inner[cut]).clamp(1, shape[cut]);
    let outer: usize = shape[..cut].iter().product();
    let mut parts = Vec::new();
    for index in 0..outer {
        let mut rest = index;
        let mut ranges: Vec<[usize; 3]> = shape.iter().map(|length| [0, *length, 1]).collect();
        for dim in (0..cut).rev() {
            ranges[dim] = [rest % shape[dim], rest % shape[dim] + 1, 1];
            rest /= shape[dim];
        }
        for start in (0..shape[cut]).step_by(step) {
            ranges[cut] = [start, (start + step).min(shape[cut]), 1];
            parts.push(TensorPart {
                first: (index * shape[cut] + start) * inner[cut],
                ranges: ranges.clone(),
            });
        }
    }
    parts
}

/// The type and the elements of a tensor; the error is the device's message.
fn download<B: Ops>(value: DeviceTensor<B>) -> Result<(Element, Vec<f32>), String> {
    let (element, data) = match value {
        DeviceTensor::Float(x) => {
            let data = read_sync(B::float_into_data(x)).map_err(|error| format!("{error:?}"))?;
            (transfer::float_element(data.dtype), data)
        }
        DeviceTensor::Int(x) => (
            Element::I32,
            read_sync(B::int_into_data(x)).map_err(|error| format!("{error:?}"))?,
        ),
        DeviceTensor::Bool(x) => (
            Element::Bool,
            read_sync(B::bool_into_data(x)).map_err(|error| format!("{error:?}"))?,
        ),
    };
    let values = match (element, data.dtype) {
        // Slices are converted by vector instructions, which single numbers are not.
        (Element::F16, _) => f32_of(
            data.as_slice::<f16>().map_err(other_type)?,
            HalfFloatSliceExt::convert_to_f32_slice,
        ),
        (Element::Bf16, _) => f32_of(
            data.as_slice::<bf16>().map_err(other_type)?,
            HalfFloatSliceExt::convert_to_f32_slice,
        ),
        (Element::F32, DType::F32) => data.into_vec::<f32>().map_err(other_type)?,
        (Element::Bool, _) => data
            .iter::<bool>()
            .map(|truth| f32::from(u8::from(truth)))
            .collect(),
        _ => data.iter::<f32>().collect(),
    };
    Ok((element, values))
}

fn f32_of<H>(values: &[H], convert: impl Fn(&[H], &mut [f32])) -> Vec<f32> {
    let mut converted = vec![0.0; values.len()];
    convert(values, &mut converted);
    converted
}

fn contiguous(tensor: HostTensor) -> Input {
    Input {
        tensor,
        layout: Layout::Contiguous,
    }
}

fn other_type(error: burn_tensor::DataError) -> String {
    format!("the device returned elements of another type: {error:?}")
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_have_every_element_once_and_in_order() {
        for (shape, size) in [
            (vec![5, 3], 4),
            (vec![2, 3, 4], 5),
            (vec![2, 3, 4], 100),
            (vec![7], 3),
            (vec![3, 9], 4),
        ] {
            let mut next = 0;
            for part in pieces(&shape, size) {
                assert_eq!(part.first, next, "{shape:?}");
                let count: usize = part
                    .ranges
                    .iter()
                    .map(|[start, end, _]| end - start)
                    .product();
                assert!(count <= size, "{shape:?}: {count}");
                next += count;
            }
            assert_eq!(next, shape.iter().product::<usize>(), "{shape:?}");
        }
        assert!(pieces(&[3, 0], 4).is_empty());
    }
}
