//! The calls of an engine that need no model: operators, and the algorithms of its library.

use super::{Done, Engine};
use crate::{
    call::{ComputeOperation, DeviceClass, EngineCall},
    error::EngineError,
    operator_call,
    reply::{AlgorithmsReply, OperatorReply},
    tensors::{Tensor, TensorData, Tensors},
};
use testgen_operators::calls::{Call as OperatorCall, HostTensor};
use testgen_types::{Operator, Precision};

impl Engine {
    /// Computes one operation on the device.
    ///
    /// # Errors
    ///
    /// See `EngineProcess::call`.
    pub fn compute(
        &self,
        operation: ComputeOperation,
        operands: Tensors,
        dtype: Precision,
        result: Precision,
    ) -> Result<Vec<f32>, EngineError> {
        let (_, mut tensors) = self.call::<Done>(
            EngineCall::Compute {
                operation,
                dtype,
                result,
            },
            &operands,
        )?;
        match tensors.remove("result") {
            Some(Tensor {
                data: TensorData::F32(values),
                ..
            }) => Ok(values),
            // Not `Invalid`, which says that the process was ended: it has answered, and can go on.
            Some(_) | None => Err(EngineError::Failed {
                call: "compute",
                message: "the reply has no tensor `result` of f32".to_owned(),
            }),
        }
    }

    /// Computes one call of an operator; products of f32 in TF32 where `dtype` says so. Returns the
    /// result and the kind of its device.
    ///
    /// # Errors
    ///
    /// See `EngineProcess::call`.
    pub fn operator(
        &self,
        call: &OperatorCall,
        dtype: Precision,
    ) -> Result<(HostTensor, DeviceClass), EngineError> {
        let (reply, tensors): (OperatorReply, _) = self.call(
            operator_call::header(call, dtype),
            &operator_call::tensors(call),
        )?;
        let result = operator_call::result(&reply, tensors);
        let tensor = result.map_err(|message| EngineError::Failed {
            call: "operator",
            message,
        })?;
        Ok((tensor, reply.device))
    }

    /// The results of every algorithm of its library for its lists of `operators`, in `dtype`, or
    /// `None` for an engine without that call.
    ///
    /// # Errors
    ///
    /// See `EngineProcess::call`.
    pub fn algorithms(
        &self,
        operators: Vec<Operator>,
        dtype: Precision,
        reduced: bool,
    ) -> Result<Option<AlgorithmsReply>, EngineError> {
        // Asked of the reply to `hello`, because an engine without the call could answer it with
        // any error.
        if !self.hello.algorithms {
            return Ok(None);
        }
        let call = EngineCall::Algorithms {
            operators,
            dtype,
            reduced,
        };
        let (reply, _) = self.call(call, &Tensors::new())?;
        Ok(Some(reply))
    }
}
