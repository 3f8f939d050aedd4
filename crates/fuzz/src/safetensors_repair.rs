//! Repairs safetensors files after a mutation: with a wrong length or gaps in the data, most would
//! end at the first check.

use crate::{header_mutation::mutate_header, mutation::Random};
use serde_json::{Map, Value, json};

/// The largest data of a repaired file.
const LARGEST: usize = 32 * 1024;

/// Corrects the length of the header, and often changes it further and places each tensor. One in
/// eight files stays as it is.
pub fn repair_safetensors(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(8) {
        0 => {}
        1 | 2 => set_length(bytes),
        3 => lay_out(bytes, |_| {}),
        _ => lay_out(bytes, |header| mutate_header(header, random)),
    }
}

/// The length of the JSON value at the beginning of `bytes`, with spaces before it, or `None` if it
/// is not JSON.
pub fn json_length(bytes: &[u8]) -> Option<usize> {
    let mut values =
        serde_json::Deserializer::from_slice(bytes).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

fn set_length(bytes: &mut [u8]) {
    let Some((length, rest)) = bytes.split_first_chunk_mut::<8>() else {
        return;
    };
    if let Some(header) = json_length(rest) {
        *length = (header as u64).to_le_bytes();
    }
}

/// Changes the header and places the tensors one after another, each with as many of its bytes as
/// its new size has.
fn lay_out(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Map<String, Value>)) {
    let Some(length) = bytes.get(8..).and_then(json_length) else {
        return;
    };
    let (before, data) = bytes.split_at(8 + length);
    let Ok(mut header) = serde_json::from_slice::<Map<String, Value>>(&before[8..]) else {
        return;
    };
    change(&mut header);
    let mut placed = Vec::new();
    for (_, tensor) in header
        .iter_mut()
        .filter(|(name, _)| *name != "__metadata__")
    {
        // Such a shape cannot be placed, but the reader must refuse it: at least the length of the
        // header is right.
        let Some(size) = size(tensor).filter(|size| *size <= LARGEST - placed.len()) else {
            return set_length(bytes);
        };
        let end = placed.len() + size;
        placed.extend_from_slice(content(tensor, data, size));
        // A tensor that has grown has too few bytes, and the format allows no gap after it.
        placed.resize(end, 0);
        tensor["data_offsets"] = json!([end - size, end]);
    }
    let header = Value::Object(header).to_string();
    *bytes = [
        &(header.len() as u64).to_le_bytes(),
        header.as_bytes(),
        &placed,
    ]
    .concat();
}

/// The first `size` bytes of a tensor, or as many as there are.
fn content<'a>(tensor: &Value, data: &'a [u8], size: usize) -> &'a [u8] {
    let start = tensor
        .pointer("/data_offsets/0")
        .and_then(Value::as_u64)
        .and_then(|start| usize::try_from(start).ok());
    let rest = start
        .and_then(|start| data.get(start..))
        .unwrap_or_default();
    &rest[..size.min(rest.len())]
}

/// The bytes of a tensor by its type and shape.
fn size(tensor: &Value) -> Option<usize> {
    let element = match tensor.get("dtype")?.as_str()? {
        "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" => 1,
        "I16" | "U16" | "F16" | "BF16" => 2,
        "I32" | "U32" | "F32" => 4,
        "I64" | "U64" | "F64" => 8,
        // `F4` and the `F6` types are parts of a byte: a file with one of them is not laid out.
        _ => return None,
    };
    let sizes = tensor.get("shape")?.as_array()?.iter();
    sizes
        .map(Value::as_u64)
        .try_fold(element, |bytes: usize, size| {
            bytes.checked_mul(usize::try_from(size?).ok()?)
        })
}

#[cfg(test)]
mod tests {
    use super::{json_length, lay_out, set_length};
    use safetensors::SafeTensors;

    fn file(length: u64, header: &str, data: usize) -> Vec<u8> {
        [&length.to_le_bytes()[..], header.as_bytes(), &vec![1; data]].concat()
    }

    #[test]
    fn a_repaired_file_is_readable() {
        let header = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  "#;
        let mut wrong_length = file(3, header, 8);
        assert!(SafeTensors::deserialize(&wrong_length).is_err());
        set_length(&mut wrong_length);
        assert_eq!(wrong_length[0], header.trim_end().len() as u8);
        let mut wrong_place = file(
            9,
            &header.replace("[2]", "[3,2]").replace("[0,8]", "[7,9]"),
            8,
        );
        lay_out(&mut wrong_place, |_| {});
        let read = SafeTensors::deserialize(&wrong_place).expect("it is repaired");
        assert_eq!(read.tensor("a").expect("it is there").data().len(), 24);
    }

    #[test]
    fn what_cannot_be_repaired_is_left() {
        for header in [
            "{\"a\":",
            "[]",
            r#"{"a":{"dtype":"F32","shape":[1e9],"data_offsets":[0,8]}}"#,
        ] {
            let mut bytes = file(0, header, 0);
            lay_out(&mut bytes, |_| {});
            assert!(bytes.ends_with(header.as_bytes()), "{header}");
        }
        lay_out(&mut vec![1, 2], |_| {});
        set_length(&mut [1, 2]);
        assert_eq!((json_length(b" {} x"), json_length(b"{")), (Some(3), None));
    }
}
