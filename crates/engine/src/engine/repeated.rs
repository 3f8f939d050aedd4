//! Operators on large inputs, which the engine makes on its device by repeating small ones; the
//! result is read piece by piece.

use super::{Done, Engine};
use crate::{
    call::{DeviceClass, EngineCall},
    error::EngineError,
    operator_call,
    reply::{KeptResult, OperatorReply},
    tensors::Tensors,
};
use testgen_operators::calls::{Element, PeriodicCall, Piece};
use testgen_types::Precision;

/// Elements of a piece, 64 MiB as f32.
const PIECE: usize = 1 << 24;

/// A result that was read piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedResult {
    /// Its shape.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: Element,
    /// The kind of device that it was on.
    pub device: DeviceClass,
}

impl Engine {
    /// Computes a call on repeated inputs; `read` receives pieces of the result, as many as the call
    /// says.
    ///
    /// # Errors
    ///
    /// `unsupported` for an engine without `repeats`; see also `EngineProcess::call`.
    pub fn repeated_operator(
        &self,
        call: &PeriodicCall,
        dtype: Precision,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<RepeatedResult, EngineError> {
        if !self.hello.repeats {
            let message = format!("engine {} does not repeat inputs", self.name);
            return Err(EngineError::Unsupported { message });
        }
        let header = operator_call::repeated(call, dtype);
        let (reply, _): (OperatorReply, _) =
            self.call(header, &operator_call::tensors(&call.call))?;
        let Some(kept) = reply.kept else {
            return Err(EngineError::Failed {
                call: "operator",
                message: "the reply has no number of a result that remains on the device"
                    .to_owned(),
            });
        };
        // Not returned yet: the result has to be dropped first.
        let pieces = self.read_pieces(&kept, call.every, read);
        let KeptResult { result, shape } = kept;
        // Also after an error: a result may take most of the device's memory.
        let dropped = self.call::<Done>(EngineCall::DropResult { result }, &Tensors::new());
        pieces?;
        dropped?;
        Ok(RepeatedResult {
            shape,
            element: reply.element,
            device: reply.device,
        })
    }

    /// Reads each `every`-th piece and the last one.
    fn read_pieces(
        &self,
        kept: &KeptResult,
        every: usize,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), EngineError> {
        for (first, count) in pieces(kept.shape.iter().product(), PIECE, every) {
            let part = EngineCall::ReadResult {
                result: kept.result,
                first,
                count,
            };
            let (_, tensors) = self.call::<Done>(part, &Tensors::new())?;
            let values =
                operator_call::part(tensors, count).map_err(|message| EngineError::Failed {
                    call: "read_result",
                    message,
                })?;
            read(Piece {
                first,
                values: &values,
            });
        }
        Ok(())
    }
}

/// The first element and the number of elements of each `every`-th piece and of the last one.
fn pieces(elements: usize, size: usize, every: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = elements.div_ceil(size);
    (0..count)
        // The last piece always, because kernels fail at the end of a large tensor most often.
        .filter(move |index| index % every.max(1) == 0 || index + 1 == count)
        .map(move |index| (index * size, size.min(elements - index * size)))
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn the_last_piece_is_read_whatever_is_left_out() {
        let read = |elements, every| pieces(elements, 4, every).collect::<Vec<(usize, usize)>>();
        assert_eq!(read(10, 1), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(read(16, 2), [(0, 4), (8, 4), (12, 4)]);
        assert_eq!(read(3, 0), [(0, 3)]);
        assert_eq!(read(0, 1), []);
    }
}
