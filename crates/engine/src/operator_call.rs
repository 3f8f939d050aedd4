//! Calls of operators as messages: numbers on the host as tensors of the protocol, and back.

use crate::{
    call::{EngineCall, InputDescription, RepeatedInputs},
    reply::OperatorReply,
    tensors::{Tensor, TensorData, Tensors},
};
use testgen_operators::calls::{
    Attributes, Call as OperatorCall, Element, HostTensor, Input, PeriodicCall,
};
use testgen_types::{Operator, Precision};

/// The header of a call.
pub(crate) fn header(call: &OperatorCall, dtype: Precision) -> EngineCall {
    described(call, dtype, None)
}

/// The header of a call on repeated inputs.
pub(crate) fn repeated(call: &PeriodicCall, dtype: Precision) -> EngineCall {
    let repeated = RepeatedInputs {
        shapes: call.shapes.clone(),
        fill: call.fill.then(|| call.result.clone()),
    };
    described(&call.call, dtype, Some(repeated))
}

fn described(
    call: &OperatorCall,
    dtype: Precision,
    repeated: Option<RepeatedInputs>,
) -> EngineCall {
    let inputs = call
        .inputs
        .iter()
        .map(|input| InputDescription {
            element: input.tensor.element,
            layout: input.layout.clone(),
        })
        .collect();
    EngineCall::Operator {
        operator: call.operator,
        inputs,
        attributes: Box::new(call.attributes.clone()),
        dtype,
        repeated,
    }
}

/// The inputs of a call, as `input.<index>`.
pub(crate) fn tensors(call: &OperatorCall) -> Tensors {
    call.inputs
        .iter()
        .enumerate()
        .map(|(index, input)| (format!("input.{index}"), tensor(&input.tensor)))
        .collect()
}

/// The call of a request.
pub(crate) fn received(
    operator: Operator,
    inputs: &[InputDescription],
    attributes: Attributes,
    mut tensors: Tensors,
) -> Result<OperatorCall, String> {
    let mut input = |(index, described): (usize, &InputDescription)| {
        let name = format!("input.{index}");
        let tensor = tensors
            .remove(&name)
            .ok_or_else(|| format!("the request has no tensor `{name}`"))?;
        Ok(Input {
            tensor: numbers(&name, tensor, described.element)?,
            layout: described.layout.clone(),
        })
    };
    let inputs = inputs
        .iter()
        .enumerate()
        .map(&mut input)
        .collect::<Result<_, String>>()?;
    Ok(OperatorCall {
        operator,
        inputs,
        attributes,
    })
}

/// The result that a reply describes.
pub(crate) fn result(reply: &OperatorReply, mut tensors: Tensors) -> Result<HostTensor, String> {
    numbers("result", sent(&mut tensors)?, reply.element)
}

/// The elements of a part of a result, `count` of them.
pub(crate) fn part(mut tensors: Tensors, count: usize) -> Result<Vec<f32>, String> {
    let Tensor { shape, data } = sent(&mut tensors)?;
    // A part of another length would shift all elements after it.
    if shape != [count] {
        return Err(format!(
            "tensor `result` has shape {shape:?}, not [{count}]"
        ));
    }
    // f32 has every number that a result has.
    Ok(match data {
        TensorData::F32(values) => values,
        TensorData::I64(values) => values.into_iter().map(|value| value as f32).collect(),
        TensorData::U8(values) => values.into_iter().map(f32::from).collect(),
    })
}

fn sent(tensors: &mut Tensors) -> Result<Tensor, String> {
    tensors
        .remove("result")
        .ok_or_else(|| "the reply has no tensor `result`".to_owned())
}

/// A tensor of a message whose numbers are declared to be of type `element`.
fn numbers(
    name: &str,
    Tensor { shape, data }: Tensor,
    element: Element,
) -> Result<HostTensor, String> {
    let values: Vec<f64> = match (element.is_float(), element, data) {
        (true, _, TensorData::F32(values)) => values.into_iter().map(f64::from).collect(),
        (false, Element::I32, TensorData::I64(values)) => {
            values.into_iter().map(|value| value as f64).collect()
        }
        (false, Element::Bool, TensorData::U8(values)) => {
            values.into_iter().map(f64::from).collect()
        }
        // The description and the data come from different parts of a message.
        _ => {
            return Err(format!(
                "tensor `{name}` is described as {element} and has another type"
            ));
        }
    };
    // Not `HostTensor::new`, which would round a number that the declared type does not have.
    Ok(HostTensor {
        shape,
        element,
        values,
    })
}

/// Numbers in a type of the protocol.
pub(crate) fn tensor(tensor: &HostTensor) -> Tensor {
    let values = tensor.values.iter();
    let data = match tensor.element {
        // f32 has every number of the 16-bit types.
        Element::F32 | Element::F16 | Element::Bf16 => {
            TensorData::F32(values.map(|value| *value as f32).collect())
        }
        Element::I32 => TensorData::I64(values.map(|value| *value as i64).collect()),
        Element::Bool => TensorData::U8(values.map(|value| u8::from(*value != 0.0)).collect()),
    };
    Tensor {
        shape: tensor.shape.clone(),
        data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::DeviceClass;
    use testgen_operators::calls::Attributes;
    use testgen_types::Operator;

    fn reply(element: Element) -> OperatorReply {
        OperatorReply {
            element,
            device: DeviceClass::Cpu,
            kept: None,
        }
    }

    #[test]
    fn every_type_returns_as_it_was_sent() {
        let tensor = |element, values: &[f64]| HostTensor {
            shape: vec![values.len()],
            element,
            values: values.to_vec(),
        };
        let inputs = vec![
            tensor(Element::F32, &[-0.0, f64::INFINITY, 0.1_f32.into()]),
            tensor(Element::Bf16, &[Element::Bf16.smallest()]),
            tensor(Element::I32, &[-7.0]),
            tensor(Element::Bool, &[1.0, 0.0]),
        ];
        let call = OperatorCall::new(Operator::Where, inputs.clone(), Attributes::default());
        let mut sent = tensors(&call);
        for (index, input) in inputs.iter().enumerate() {
            let tensor = sent.remove(&format!("input.{index}")).expect("it was sent");
            let returned = result(
                &reply(input.element),
                Tensors::from([("result".to_owned(), tensor)]),
            );
            let bits = |tensor: &HostTensor| {
                tensor
                    .values
                    .iter()
                    .map(|value| value.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(returned.as_ref().map(bits), Ok(bits(input)));
        }
    }

    #[test]
    fn a_result_of_another_type_than_declared_is_refused() {
        let floats = Tensor {
            shape: vec![1],
            data: TensorData::F32(vec![1.0]),
        };
        let tensors = Tensors::from([("result".to_owned(), floats)]);
        let refused = result(&reply(Element::I32), tensors);
        assert_eq!(
            refused,
            Err("tensor `result` is described as i32 and has another type".to_owned())
        );
        let missing = result(&reply(Element::F32), Tensors::new());
        assert_eq!(missing, Err("the reply has no tensor `result`".to_owned()));
    }
}
