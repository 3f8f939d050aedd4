//! Fuzzing of what an engine writes: messages, replies and tensors.

use crate::{
    answer::{self, LONGEST_MESSAGE, ReplyError},
    frame::{self, Frame, FrameError, MAGIC},
    reply::{
        DevicesReply, ForwardReply, HelloReply, LoadReply, MemoryReply, OpenReply, SessionReply,
    },
    tensors::{self, Tensor, TensorData, Tensors},
};
use serde::{Serialize, de::DeserializeOwned};
use testgen_fuzz::{Random, Target, assert_message, json_length, repair_safetensors};

/// The request that every seed answers.
const ID: u64 = 1;

/// No stream of bytes panics or allocates what a length in it claims; what is accepted is written
/// and read back unchanged.
#[test]
fn fuzz_messages_of_an_engine() {
    Target {
        name: "engine",
        seeds: answers(),
        dictionary: &[
            "\"id\":1",
            "\"reply\":{}",
            "\"error\":{\"kind\":\"failed\",\"message\":\"",
            "\"unsupported\"",
            "\"out_of_memory\"",
            "\"device_lost\"",
            "\"placements\":[",
            "\"cuda\"",
            "\"bf16\"",
            "\"F32\"",
            "\"I64\"",
            "\"shape\":[",
            "output.",
            "\\u0000",
            "TGEN",
        ],
        repair: Some(repair),
        executions: 10_000,
        behaviours: 30,
        check: &|bytes| {
            let mut pipe = bytes;
            // The behaviour of the last message.
            let mut behaviour = String::new();
            loop {
                match frame::read(&mut pipe) {
                    Ok(frame) => behaviour = check_frame(&frame),
                    Err(FrameError::Closed) => return behaviour,
                    Err(error) => return assert_message(&error.to_string()),
                }
            }
        },
    }
    .run();
}

fn check_frame(frame: &Frame) -> String {
    let mut written = Vec::new();
    frame::write(&mut written, frame).expect("a Vec can be written");
    assert_eq!(
        &frame::read(&mut &written[..]).expect("it was written"),
        frame
    );
    [
        check_reply::<HelloReply>(frame),
        check_reply::<DevicesReply>(frame),
        check_reply::<OpenReply>(frame),
        check_reply::<LoadReply>(frame),
        check_reply::<ForwardReply>(frame),
        check_reply::<SessionReply>(frame),
        check_reply::<MemoryReply>(frame),
    ]
    .join("")
}

fn check_reply<Reply: DeserializeOwned + Serialize>(frame: &Frame) -> String {
    match answer::read::<Reply>(frame, ID) {
        Ok((reply, tensors)) => {
            let value = serde_json::to_value(&reply).expect("a reply is JSON");
            let again: Reply = serde_json::from_value(value.clone()).expect("it is read back");
            assert_eq!(serde_json::to_value(again).expect("a reply is JSON"), value);
            // As bytes, because a NaN is not equal to itself.
            let bytes = tensors::encode(&tensors).expect("it was read");
            let again = tensors::decode(&bytes).expect("it is read back");
            assert_eq!(tensors::encode(&again).expect("it was read"), bytes);
            format!(
                "{} {}",
                std::any::type_name::<Reply>(),
                tensors.len().min(3)
            )
        }
        Err(ReplyError::Invalid { problem }) => assert_message(&problem),
        Err(
            ReplyError::Unsupported { message }
            | ReplyError::Failed { message }
            | ReplyError::OutOfMemory { message }
            | ReplyError::DeviceLost { message },
        ) => {
            assert!(
                message.chars().count() <= LONGEST_MESSAGE && !message.contains(char::is_control),
                "{message:?}"
            );
            "an error of the engine".to_owned()
        }
    }
}

/// Corrects the lengths of a message in most cases.
fn repair(bytes: &mut Vec<u8>, random: &mut Random) {
    let Some(length) = bytes
        .get(16..)
        .and_then(json_length)
        .filter(|_| random.below(8) > 0)
    else {
        return;
    };
    let mut tensors = bytes.split_off(16 + length);
    repair_safetensors(&mut tensors, random);
    bytes[..4].copy_from_slice(MAGIC);
    bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[8..16].copy_from_slice(&(tensors.len() as u64).to_le_bytes());
    bytes.append(&mut tensors);
}

fn tensor(shape: &[usize], data: TensorData) -> Tensor {
    Tensor {
        shape: shape.to_vec(),
        data,
    }
}

/// One answer to each call.
fn answers() -> Vec<Vec<u8>> {
    let tensors = Tensors::from([
        (
            "output.logits".to_owned(),
            tensor(&[1, 2], TensorData::F32(vec![0.5, f32::NAN])),
        ),
        (
            "host.ids".to_owned(),
            tensor(&[2], TensorData::I64(vec![-1, 7])),
        ),
        (
            "image".to_owned(),
            tensor(&[3], TensorData::U8(vec![1, 2, 3])),
        ),
    ]);
    let placements = r#"{"placements":[{"name":"output.logits","device":"cuda","dtype":"bf16"}],"providers":[{"provider":"CUDAExecutionProvider","nodes":3,"microseconds":40}]}"#;
    let replies = [
        (
            r#"{"version":1,"versions":{"torch":"2.15.0"},"build":"hip"}"#,
            Tensors::new(),
        ),
        (
            r#"{"device":{"kind":"rocm","name":"AMD","uuid":"GPU-1","pci_address":"0000:03:00.0"}}"#,
            Tensors::new(),
        ),
        (
            r#"{"model":1,"read":["a.weight"],"unused":[],"lacks":{"hidden_states":"a graph"}}"#,
            Tensors::new(),
        ),
        (placements, tensors.clone()),
        (r#"{"session":3}"#, Tensors::new()),
        (r#"{"in_use":1024}"#, Tensors::new()),
        (
            r#"{}"#,
            Tensors::from([(
                "result".to_owned(),
                tensor(&[1], TensorData::F32(vec![2.0])),
            )]),
        ),
    ];
    let mut headers: Vec<(String, Tensors)> = replies
        .map(|(reply, tensors)| (format!(r#"{{"id":{ID},"reply":{reply}}}"#), tensors))
        .to_vec();
    for kind in ["unsupported", "failed", "out_of_memory", "device_lost"] {
        headers.push((
            format!(r#"{{"id":{ID},"error":{{"kind":"{kind}","message":"no\nmemory"}}}}"#),
            Tensors::new(),
        ));
    }
    headers
        .into_iter()
        .map(|(header, tensors)| message(header, &tensors))
        .collect()
}

fn message(header: String, tensors: &Tensors) -> Vec<u8> {
    let tensors = tensors::encode(tensors).expect("they are complete");
    let mut bytes = Vec::new();
    frame::write(
        &mut bytes,
        &Frame {
            header: header.into_bytes(),
            tensors,
        },
    )
    .expect("a Vec can be written");
    bytes
}
