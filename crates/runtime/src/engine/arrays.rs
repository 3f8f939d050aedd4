//! Arrays of checks as tensors of the protocol, and back.

use super::attached::AttachedEngine;
use testgen_engine::{EngineForward, Tensor, TensorData, Tensors};
use testgen_nn::{
    array::{Array, Arrays, Values},
    forward::{Forward, Placement},
};

/// The inputs of a call.
pub(super) fn tensors(arrays: &Arrays) -> Tensors {
    arrays
        .iter()
        .map(|(name, array)| (name.clone(), tensor(array)))
        .collect()
}

/// The outputs of a call.
pub(super) fn forward(mut found: EngineForward) -> Forward {
    let mut forward = Forward::default();
    for placement in &found.placements {
        let placed = Placement {
            device: AttachedEngine::kind_of(placement.device),
            precision: placement.dtype.storage(),
        };
        let name = placement
            .name
            .strip_prefix("output.")
            .or_else(|| placement.name.strip_prefix("trace."));
        forward
            .placements
            .push((name.unwrap_or(&placement.name).to_owned(), placed));
        // In the order of the computation, which the names of the tensors do not have.
        if let Some(name) = placement.name.strip_prefix("trace.")
            && let Some(tensor) = found.tensors.remove(&placement.name)
        {
            forward.trace.push((name.to_owned(), array(tensor)));
        }
    }
    // Tensors of the trace were taken above; what has another prefix belongs to no part of a
    // result.
    for (name, tensor) in found.tensors {
        if let Some(name) = name.strip_prefix("output.") {
            forward.outputs.insert(name.to_owned(), array(tensor));
        } else if let Some(name) = name.strip_prefix("host.") {
            forward.host_outputs.insert(name.to_owned(), array(tensor));
        }
    }
    forward
}

/// The data fills the shape, which decoding has checked.
fn array(Tensor { shape, data }: Tensor) -> Array {
    match data {
        TensorData::F32(values) => Array::floats(shape, values),
        TensorData::I64(values) => Array::integers(shape, values),
        TensorData::U8(values) => Array::bytes(shape, values),
    }
}

fn tensor(array: &Array) -> Tensor {
    Tensor {
        shape: array.shape().to_vec(),
        data: match array.values() {
            Values::F32(values) => TensorData::F32(values.clone()),
            Values::I64(values) => TensorData::I64(values.clone()),
            Values::U8(values) => TensorData::U8(values.clone()),
        },
    }
}
