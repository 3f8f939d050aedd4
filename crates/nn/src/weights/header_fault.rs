//! The fault in the header of a safetensors file, with the name of the tensor: the errors of the
//! `safetensors` crate rarely have it.

use safetensors::{Dtype, SafeTensorError};
use serde_json::{Map, Value};
use testgen_types::excerpt;

// Larger headers are not searched: as JSON values they take many times their size.
const SEARCHED: usize = 16 << 20;

/// The fault of the file of these `bytes`, which the `safetensors` crate rejects with `error`.
pub fn header_fault(bytes: &[u8], error: &SafeTensorError) -> String {
    let header = bytes.split_first_chunk::<8>().and_then(|(length, rest)| {
        let (header, data) =
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some((header, data.len()))
    });
    let found = match header {
        // A file begins with the length of its header, in 8 bytes.
        None if bytes.len() < 8 => Some(format!(
            "it has {} bytes, too few for a safetensors file",
            bytes.len()
        )),
        None => Some(
            "its header is longer than the file: it is truncated, or not a safetensors file"
                .to_owned(),
        ),
        Some((header, _)) if header.len() > SEARCHED => None,
        Some((header, data)) => match serde_json::from_slice::<Map<String, Value>>(header) {
            Ok(tensors) => tensor_fault(tensors, data),
            Err(error) => Some(format!(
                "its header is not a JSON object: {}",
                excerpt(&error.to_string())
            )),
        },
    };
    found.unwrap_or_else(|| excerpt(&error.to_string()).into_owned())
}

/// The first fault in the order of the data.
fn tensor_fault(mut tensors: Map<String, Value>, data: usize) -> Option<String> {
    let metadata = tensors.remove("__metadata__");
    if let Some((name, _)) = metadata
        .as_ref()
        .and_then(Value::as_object)
        .and_then(not_text)
    {
        return Some(format!("the metadata `{}` is not a text", excerpt(name)));
    }
    let mut placed = Vec::new();
    for (name, info) in &tensors {
        match place(info) {
            Ok([start, end]) => placed.push((start, end, name)),
            Err(fault) => return Some(format!("tensor `{}` {fault}", excerpt(name))),
        }
    }
    // By offsets: a header may list tensors in another order than their data.
    placed.sort();
    let mut expected = 0;
    for (start, end, name) in placed {
        let name = excerpt(name);
        if start != expected {
            return Some(format!(
                "tensor `{name}` begins at byte {start} of the data, expected {expected}"
            ));
        }
        if end > data {
            return Some(format!(
                "tensor `{name}` ends at byte {end} of {data} of the data; the file is truncated"
            ));
        }
        expected = end;
    }
    (expected < data).then(|| format!("{} bytes follow the last tensor", data - expected))
}

fn not_text(metadata: &Map<String, Value>) -> Option<(&String, &Value)> {
    metadata.iter().find(|(_, value)| !value.is_string())
}

/// The offsets at which a tensor begins and ends, or what is wrong with its entry.
fn place(info: &Value) -> Result<[usize; 2], String> {
    let dtype = field("dtype", info)?;
    let dtype: Dtype = serde_json::from_value(dtype.clone()).map_err(|_| {
        format!(
            "has the type {}, which safetensors does not have",
            excerpt(&dtype.to_string())
        )
    })?;
    let shape: Vec<usize> = serde_json::from_value(field("shape", info)?.clone())
        .map_err(|_| "has a `shape` that is not an array of sizes".to_owned())?;
    let [start, end]: [usize; 2] = serde_json::from_value(field("data_offsets", info)?.clone())
        .map_err(|_| "has `data_offsets` that are not two positions".to_owned())?;
    let bits = shape
        .iter()
        .try_fold(dtype.bitsize(), |bits, size| bits.checked_mul(*size));
    let text = excerpt(&format!("{shape:?}")).into_owned();
    let bytes = bits
        .ok_or_else(|| format!("has the shape {text}, whose size overflows"))?
        // Some types have fewer than 8 bits.
        .div_ceil(8);
    match end.checked_sub(start) {
        Some(length) if length == bytes => Ok([start, end]),
        Some(length) => Err(format!(
            "has {length} bytes; its shape {text} in {dtype:?} needs {bytes}"
        )),
        None => Err(format!(
            "ends at byte {end} of the data, before it begins at {start}"
        )),
    }
}

fn field<'i>(name: &str, info: &'i Value) -> Result<&'i Value, String> {
    info.get(name).ok_or_else(|| format!("has no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::{SEARCHED, header_fault};
    use safetensors::SafeTensors;
    use testgen_types::excerpt;

    #[track_caller]
    fn fault(header: &str, data: usize) -> String {
        let bytes = [
            &(header.len() as u64).to_le_bytes(),
            header.as_bytes(),
            &vec![0; data],
        ]
        .concat();
        header_fault(
            &bytes,
            &SafeTensors::read_metadata(&bytes).expect_err("it is damaged"),
        )
    }

    #[test]
    fn the_tensor_is_named() {
        let tensor = |dtype: &str, shape: &str, offsets: &str| {
            format!(
                r#"{{"layer.w":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#
            )
        };
        for (header, data, expected) in [
            (
                tensor("F37", "[2]", "[0,8]"),
                8,
                "tensor `layer.w` has the type \"F37\", which safetensors does not have",
            ),
            (
                tensor("F32", "[-2]", "[0,8]"),
                8,
                "tensor `layer.w` has a `shape` that is not an array of sizes",
            ),
            (
                tensor("F32", "[2]", "[0]"),
                8,
                "tensor `layer.w` has `data_offsets` that are not two positions",
            ),
            (
                tensor("F32", "[3]", "[0,8]"),
                8,
                "tensor `layer.w` has 8 bytes; its shape [3] in F32 needs 12",
            ),
            (
                tensor("F32", "[2]", "[8,0]"),
                8,
                "tensor `layer.w` ends at byte 0 of the data, before it begins at 8",
            ),
            (
                tensor("F32", "[2]", "[4,12]"),
                12,
                "tensor `layer.w` begins at byte 4 of the data, expected 0",
            ),
            (
                tensor("F32", "[2]", "[0,8]"),
                7,
                "tensor `layer.w` ends at byte 8 of 7 of the data; the file is truncated",
            ),
            (
                tensor("F32", "[2]", "[0,8]"),
                9,
                "1 bytes follow the last tensor",
            ),
            (
                tensor("F32", "[4294967296,4294967296]", "[0,8]"),
                8,
                "tensor `layer.w` has the shape [4294967296, 4294967296], whose size overflows",
            ),
            (
                r#"{"layer.w":{"shape":[2],"data_offsets":[0,8]}}"#.to_owned(),
                8,
                "tensor `layer.w` has no `dtype`",
            ),
            (
                r#"{"__metadata__":{"format":1}}"#.to_owned(),
                0,
                "the metadata `format` is not a text",
            ),
        ] {
            assert_eq!(fault(&header, data), expected);
        }
    }

    #[test]
    fn other_files_are_described() {
        let message = |bytes: &[u8]| {
            header_fault(
                bytes,
                &SafeTensors::read_metadata(bytes).expect_err("it is damaged"),
            )
        };
        assert_eq!(
            message(b"abc"),
            "it has 3 bytes, too few for a safetensors file"
        );
        let longer =
            "its header is longer than the file: it is truncated, or not a safetensors file";
        assert_eq!(message(b"\x50\0\0\0\0\0\0\0{}"), longer);
        assert_eq!(message(b"\x50\0\0\0\0\0\0\0"), longer);
        assert!(
            fault("[]", 0).starts_with("its header is not a JSON object: "),
            "{}",
            fault("[]", 0)
        );
        let name = "x".repeat(1_000_000);
        assert!(fault(&format!(r#"{{"{name}":{{"dtype":"{name}"}}}}"#), 0).len() < 500);
    }
    /// The message of the `safetensors` crate for a file with this header.
    #[track_caller]
    fn of_crate(header: &str, data: usize) -> String {
        let bytes = [
            &(header.len() as u64).to_le_bytes(),
            header.as_bytes(),
            &vec![0; data],
        ]
        .concat();
        excerpt(
            &SafeTensors::read_metadata(&bytes)
                .expect_err("it is damaged")
                .to_string(),
        )
        .into_owned()
    }

    #[test]
    fn the_largest_header_is_searched_and_no_larger_one() {
        let tensor = r#"{"w":{"dtype":"F37","shape":[2],"data_offsets":[0,8]}}"#;
        let header = |length: usize| format!("{tensor}{}", " ".repeat(length - tensor.len()));
        let searched = "tensor `w` has the type \"F37\", which safetensors does not have";
        assert_eq!(fault(&header(SEARCHED), 8), searched);
        assert_eq!(
            fault(&header(SEARCHED + 1), 8),
            of_crate(&header(SEARCHED + 1), 8)
        );
    }

    #[test]
    fn a_header_whose_tensors_are_right_has_the_message_of_the_crate() {
        // Half a byte of data, which only the crate refuses.
        let header = r#"{"w":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}}"#;
        assert_eq!(fault(header, 1), of_crate(header, 1));
    }
}
