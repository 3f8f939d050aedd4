//! The other side of the protocol: an engine written in Rust, which computes operators.
//!
//! Owns reading requests and writing responses. The engine of a vendor's library
//! (`testgen-libraries`) is one; one that loads models would need more calls than
//! [`OperatorEngine`] has.

use crate::{
    call::{ComputeOperation, DeviceRequest, EngineCall, RequestHeader},
    frame::{self, Frame, FrameError},
    operator_call,
    reply::{
        AlgorithmsReply, CallFailure, FailureKind, HelloReply, MemoryReply, OpenReply,
        OperatorReply, ResponseHeader,
    },
    tensors::{self, Tensor, TensorData, Tensors},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use testgen_operators::calls::{Call as OperatorCall, HostTensor};
use testgen_types::{Operator, Precision};

/// An engine that computes operators.
pub trait OperatorEngine {
    /// Versions, the operators that it computes, and what else the reply to `hello` has.
    ///
    /// # Errors
    ///
    /// `unsupported` for an option that it does not have, or a library that is not found.
    fn hello(&mut self, options: &[String]) -> Result<HelloReply, CallFailure>;

    /// Opens a device.
    ///
    /// # Errors
    ///
    /// When the device cannot be opened.
    fn open(&mut self, device: &DeviceRequest) -> Result<OpenReply, CallFailure>;

    /// The result of an operation that probes arithmetic: of operands of f32, computed in `dtype`,
    /// returned in `result`.
    ///
    /// # Errors
    ///
    /// `unsupported` for an operation or a type that it does not have; otherwise when the device
    /// failed.
    fn compute(
        &mut self,
        operation: ComputeOperation,
        operands: &[HostTensor],
        types: [Precision; 2],
    ) -> Result<HostTensor, CallFailure>;

    /// The result of a call, the kind of its device and the algorithm.
    ///
    /// # Errors
    ///
    /// As for [`Self::compute`].
    fn operator(
        &mut self,
        call: &OperatorCall,
        dtype: Precision,
    ) -> Result<(HostTensor, OperatorReply), CallFailure>;

    /// The results of every algorithm that it offers for its own lists of these operators.
    ///
    /// # Errors
    ///
    /// As for [`Self::compute`].
    fn algorithms(
        &mut self,
        operators: &[Operator],
        dtype: Precision,
        reduced: bool,
    ) -> Result<AlgorithmsReply, CallFailure>;

    /// Bytes of its tensors on the device, or `None` if it does not count them.
    fn memory(&self) -> Option<u64>;
}

/// A reply with its tensors.
type CallAnswer = Result<(Value, Tensors), CallFailure>;

/// Answers requests until the input ends.
///
/// # Errors
///
/// When a message cannot be read or written.
pub fn answer_requests(
    input: &mut impl Read,
    output: &mut impl Write,
    engine: &mut dyn OperatorEngine,
) -> io::Result<()> {
    loop {
        let message = match frame::read(input) {
            Ok(message) => message,
            // A closed pipe is how an engine is asked to end.
            Err(FrameError::Closed) => return Ok(()),
            Err(FrameError::Io(error)) => return Err(error),
            Err(error) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    error.to_string(),
                ));
            }
        };
        let request: RequestHeader = serde_json::from_slice(&message.header)?;
        // The header is known, so that damaged tensors get an answer and do not end the engine.
        let answer = tensors::decode(&message.tensors)
            .map_err(failed)
            .and_then(|sent| answer(engine, request.call, sent));
        frame::write(output, &response(request.id, answer)?)?;
    }
}

fn response(id: u64, answer: CallAnswer) -> io::Result<Frame> {
    let (reply, error, tensors) = match answer {
        Ok((reply, tensors)) => (Some(reply), None, tensors),
        Err(failure) => (None, Some(failure), Tensors::new()),
    };
    let tensors = tensors::encode(&tensors)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Frame {
        header: serde_json::to_vec(&ResponseHeader { id, reply, error })?,
        tensors,
    })
}

fn answer(engine: &mut dyn OperatorEngine, call: EngineCall, mut sent: Tensors) -> CallAnswer {
    match call {
        EngineCall::Hello { options, .. } => engine.hello(&options).and_then(reply),
        EngineCall::Open { device } => engine.open(&device).and_then(reply),
        EngineCall::Compute {
            operation,
            dtype,
            result,
        } => {
            let operands: Vec<HostTensor> = ["left", "right"]
                .iter()
                .filter_map(|name| operand(sent.remove(*name)?))
                .collect();
            let computed = engine.compute(operation, &operands, [dtype, result])?;
            Ok((
                json!({}),
                Tensors::from([("result".to_owned(), operator_call::tensor(&computed))]),
            ))
        }
        EngineCall::Operator {
            operator,
            inputs,
            attributes,
            dtype,
            // Asked only of engines whose `hello` has `repeats`.
            repeated: _,
        } => {
            let call =
                operator_call::received(operator, &inputs, *attributes, sent).map_err(failed)?;
            let (tensor, described) = engine.operator(&call, dtype)?;
            let tensors = Tensors::from([("result".to_owned(), operator_call::tensor(&tensor))]);
            Ok((reply(described)?.0, tensors))
        }
        EngineCall::Algorithms {
            operators,
            dtype,
            reduced,
        } => engine
            .algorithms(&operators, dtype, reduced)
            .and_then(reply),
        EngineCall::Memory => reply(MemoryReply {
            in_use: engine.memory(),
            // An engine without models has no load.
            peak: None,
        }),
        other => {
            let message = format!(
                "call `{}` is of engines with models; this one computes operators",
                other.name()
            );
            Err(CallFailure {
                kind: FailureKind::Unsupported,
                message,
            })
        }
    }
}

fn reply(content: impl Serialize) -> CallAnswer {
    let value = serde_json::to_value(content).map_err(|error| failed(error.to_string()))?;
    Ok((value, Tensors::new()))
}

fn failed(message: String) -> CallFailure {
    CallFailure {
        kind: FailureKind::Failed,
        message,
    }
}

/// An operand of f32.
fn operand(tensor: Tensor) -> Option<HostTensor> {
    let TensorData::F32(values) = tensor.data else {
        return None;
    };
    let values = values.into_iter().map(f64::from).collect();
    Some(HostTensor {
        shape: tensor.shape,
        element: testgen_operators::calls::Element::F32,
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        answer,
        call::{DeviceClass, VERSION},
        reply::{Build, OpenedDevice},
    };
    use std::collections::BTreeMap;
    use testgen_operators::calls::{Attributes, Element};

    /// Returns its first input.
    struct Copies;

    impl OperatorEngine for Copies {
        fn hello(&mut self, _: &[String]) -> Result<HelloReply, CallFailure> {
            Ok(HelloReply {
                version: VERSION,
                versions: BTreeMap::new(),
                build: Build::Cpu,
                implementations: BTreeMap::new(),
                operators: vec!["copy".to_owned()],
                only_operators: true,
                algorithms: true,
                times: false,
                repeats: false,
            })
        }

        fn open(&mut self, device: &DeviceRequest) -> Result<OpenReply, CallFailure> {
            let device = OpenedDevice {
                kind: device.kind,
                name: "cpu".to_owned(),
                uuid: None,
                pci_address: None,
            };
            Ok(OpenReply { device, why: None })
        }

        fn compute(
            &mut self,
            _: ComputeOperation,
            operands: &[HostTensor],
            _: [Precision; 2],
        ) -> Result<HostTensor, CallFailure> {
            operands
                .first()
                .cloned()
                .ok_or_else(|| failed("no operand".to_owned()))
        }

        fn operator(
            &mut self,
            call: &OperatorCall,
            _: Precision,
        ) -> Result<(HostTensor, OperatorReply), CallFailure> {
            let tensor = call
                .tensor(0)
                .cloned()
                .ok_or_else(|| failed("no input".to_owned()))?;
            Ok((
                tensor.clone(),
                OperatorReply {
                    element: tensor.element,
                    device: DeviceClass::Cpu,
                    kept: None,
                },
            ))
        }

        fn algorithms(
            &mut self,
            _: &[Operator],
            _: Precision,
            _: bool,
        ) -> Result<AlgorithmsReply, CallFailure> {
            Err(failed("it copies".to_owned()))
        }

        fn memory(&self) -> Option<u64> {
            Some(7)
        }
    }

    fn frame_of(id: u64, call: EngineCall, sent: &Tensors) -> Frame {
        let header = serde_json::to_vec(&RequestHeader { id, call }).expect("encodes");
        Frame {
            header,
            tensors: tensors::encode(sent).expect("encodes"),
        }
    }

    #[test]
    fn requests_are_answered_until_the_input_ends() {
        let x = HostTensor::new([2], Element::F16, vec![f64::NAN, -0.0]);
        let call = OperatorCall::new(Operator::Copy, vec![x], Attributes::default());
        let mut pipe = Vec::new();
        for frame in [
            frame_of(
                1,
                operator_call::header(&call, Precision::F16),
                &operator_call::tensors(&call),
            ),
            frame_of(2, EngineCall::Unload { model: 1 }, &Tensors::new()),
            frame_of(3, EngineCall::Memory, &Tensors::new()),
        ] {
            frame::write(&mut pipe, &frame).expect("a Vec can be written");
        }
        let mut written = Vec::new();
        answer_requests(&mut &pipe[..], &mut written, &mut Copies).expect("all are answered");

        let mut read = &written[..];
        let (described, tensors): (OperatorReply, _) =
            answer::read(&frame::read(&mut read).expect("a message"), 1).expect("a reply");
        let result = operator_call::result(&described, tensors).expect("a tensor");
        assert!(
            result.element == Element::F16
                && result.values[0].is_nan()
                && result.values[1].is_sign_negative()
        );
        let refused = answer::read::<Value>(&frame::read(&mut read).expect("a message"), 2);
        assert!(
            matches!(refused, Err(answer::ReplyError::Unsupported { message }) if message.contains("`unload`"))
        );
        let memory: (MemoryReply, _) =
            answer::read(&frame::read(&mut read).expect("a message"), 3).expect("a reply");
        assert_eq!(memory.0.in_use, Some(7));
        assert!(matches!(frame::read(&mut read), Err(FrameError::Closed)));
    }
}
