//! Reading a message as the answer to a request.

use crate::{
    frame::Frame,
    reply::{FailureKind, ResponseHeader},
    tensors::{self, Tensors},
};
use serde::de::DeserializeOwned;

/// The longest message of an engine that is shown, in characters.
pub(crate) const LONGEST_MESSAGE: usize = 1000;
/// The longest description of an invalid answer, which may repeat parts of it.
const LONGEST_PROBLEM: usize = 200;

/// The reply of an answer is an error, or the answer violates the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyError {
    /// The engine does not have what was asked for.
    Unsupported { message: String },
    /// The engine failed.
    Failed { message: String },
    /// The device has not enough memory.
    OutOfMemory { message: String },
    /// The process can no longer use its device.
    DeviceLost { message: String },
    /// It is not a valid answer to this request.
    Invalid { problem: String },
}

/// The reply in `frame` to the request `id`, with its tensors.
pub(crate) fn read<Reply: DeserializeOwned>(
    frame: &Frame,
    id: u64,
) -> Result<(Reply, Tensors), ReplyError> {
    let response: ResponseHeader = serde_json::from_slice(&frame.header)
        .map_err(|error| invalid(format!("header: {error}")))?;
    // The second answer of an engine to one request would be taken for the next one's.
    if response.id != id {
        return Err(invalid(format!(
            "it answers request {}, the last one is {id}",
            response.id
        )));
    }
    // Exactly one of both: an answer with a reply and an error could be read either way.
    let value = match (response.reply, response.error) {
        (Some(value), None) => value,
        (None, Some(failure)) => {
            let message = one_line(&failure.message, LONGEST_MESSAGE);
            return Err(match failure.kind {
                FailureKind::Unsupported => ReplyError::Unsupported { message },
                FailureKind::Failed => ReplyError::Failed { message },
                FailureKind::OutOfMemory => ReplyError::OutOfMemory { message },
                FailureKind::DeviceLost => ReplyError::DeviceLost { message },
            });
        }
        _ => return Err(invalid("it needs either `reply` or `error`".to_owned())),
    };
    let reply =
        serde_json::from_value(value).map_err(|error| invalid(format!("reply: {error}")))?;
    // After the reply, so that the error of an engine is reported even if its tensors are damaged.
    let tensors = tensors::decode(&frame.tensors)
        .map_err(|problem| invalid(format!("tensors: {problem}")))?;
    Ok((reply, tensors))
}

fn invalid(problem: String) -> ReplyError {
    ReplyError::Invalid {
        problem: one_line(&problem, LONGEST_PROBLEM),
    }
}

/// A text of an engine on one line, without control characters, at most `longest` characters.
fn one_line(text: &str, longest: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars()
        // Escape sequences must not reach a terminal.
        .filter(|c| !c.is_control())
        .take(longest)
        .collect()
}
