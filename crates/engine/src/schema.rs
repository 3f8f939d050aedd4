//! The JSON Schema of the headers, for authors of other engines.

use crate::{
    call::RequestHeader,
    reply::{
        AlgorithmsReply, DevicesReply, ForwardReply, HelloReply, LoadReply, MemoryReply, OpenReply,
        OperatorReply, ResponseHeader, SessionReply,
    },
};
use schemars::{JsonSchema, generate::SchemaSettings};

/// Everything that a message may contain. Replies by the name of the call; calls that are missing
/// reply with `{}`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its fields are names in the schema")]
struct Protocol {
    /// A message from testgen to the engine.
    request: RequestHeader,
    /// A message from the engine to testgen; `reply` is one of the replies below.
    response: ResponseHeader,
    /// The reply to `hello`.
    hello: HelloReply,
    /// The reply to `devices`.
    devices: DevicesReply,
    /// The reply to `open`.
    open: OpenReply,
    /// The reply to `load`.
    load: LoadReply,
    /// The reply to `operator`.
    operator: OperatorReply,
    /// The reply to `algorithms`.
    algorithms: AlgorithmsReply,
    /// The reply to `forward` and to `step`.
    forward: ForwardReply,
    /// The reply to `open_session`.
    open_session: SessionReply,
    /// The reply to `memory`.
    memory: MemoryReply,
}

/// The JSON Schema of the protocol; each property is one kind of header.
pub fn protocol_schema() -> String {
    let schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<Protocol>();
    format!("{:#}\n", schema.as_value())
}
