//! Signs of quantization in the names and types of tensors, for checkpoints whose configuration
//! does not mention it.

use crate::bounded_file::open;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, io::Read as _, path::Path};

/// The largest header that safetensors permits, in bytes.
const MAX_HEADER: u64 = 100_000_000;

/// Endings of names that only one method has.
// The more specific ones are first: GPTQ has `.g_idx` beside the `.qweight` of AWQ.
const ENDINGS: [(&str, &str); 12] = [
    (".g_idx", "gptq"),
    (".qweight", "awq"),
    (".SCB", "bitsandbytes"),
    (".quant_state.bitsandbytes__nf4", "bitsandbytes"),
    (".quant_state.bitsandbytes__fp4", "bitsandbytes"),
    (".weight_packed", "compressed-tensors"),
    (".weight_scale_inv", "fp8"),
    ("_blocks", "mxfp4"),
    (".W_q", "hqq"),
    (".codebooks", "aqlm"),
    (".weight._data", "quanto"),
    (".weight_scales", "eetq"),
];

/// Types of elements in 8 bits and less.
// The header of a file spells them like this.
const SMALL_FLOATS: [&str; 3] = ["F8_", "F6_", "F4"];
const INTEGERS: [&str; 4] = ["I8", "U8", "I16", "I32"];

/// A tensor in a header; the metadata of the file has no type.
#[derive(Deserialize)]
struct HeaderTensor {
    #[serde(default)]
    dtype: String,
}

/// The method, its options and the tensor.
pub(super) fn find(directory: &Path) -> Option<(String, Option<String>, String)> {
    let names = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut files: Vec<String> = names
        // The golden's tensors are inputs and outputs, and may be integers.
        .filter(|name| name.ends_with(".safetensors") && name != "golden.safetensors")
        .collect();
    files.sort();
    let tensors: BTreeMap<String, HeaderTensor> = files
        .iter()
        .flat_map(|file| header(&directory.join(file)))
        .collect();
    // Names first: a type shows that weights are quantized, but most types belong to several
    // methods.
    let found = by_name(&tensors).or_else(|| by_type(&tensors))?;
    let (method, detail, tensor) = found;
    Some((method.to_owned(), detail, format!("the tensor `{tensor}`")))
}

type Sign<'a> = (&'static str, Option<String>, &'a str);

fn by_name(tensors: &BTreeMap<String, HeaderTensor>) -> Option<Sign<'_>> {
    ENDINGS.iter().find_map(|(ending, method)| {
        let tensor = tensors
            .iter()
            .find(|(name, entry)| name.ends_with(ending) && is_sign(ending, entry))?
            .0;
        let detail = match *ending {
            ".SCB" => Some("int8"),
            _ => ending.split_once("bitsandbytes__").map(|(_, kind)| kind),
        };
        Some((*method, detail.map(str::to_owned), tensor.as_str()))
    })
}

fn is_sign(ending: &str, entry: &HeaderTensor) -> bool {
    // The ending of MXFP4 is a common word, which counts for packed bytes alone.
    ending != "_blocks" || entry.dtype == "U8"
}

fn by_type(tensors: &BTreeMap<String, HeaderTensor>) -> Option<Sign<'_>> {
    tensors.iter().find_map(|(name, HeaderTensor { dtype })| {
        if SMALL_FLOATS.iter().any(|start| dtype.starts_with(start)) {
            return Some(("fp8", Some(dtype.clone()), name.as_str()));
        }
        // Counters and positions are integers, too, but not called a weight.
        let is_weight = INTEGERS.contains(&dtype.as_str()) && name.ends_with(".weight");
        is_weight.then(|| ("integers", Some(dtype.clone()), name.as_str()))
    })
}

/// The tensors of a file; empty if its header is damaged.
fn header(path: &Path) -> BTreeMap<String, HeaderTensor> {
    // The load reports a damaged header.
    read_header(path).unwrap_or_default()
}

fn read_header(path: &Path) -> Option<BTreeMap<String, HeaderTensor>> {
    let mut file = open(path).ok()?;
    let mut length = [0; 8];
    file.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    // A damaged length must not read gigabytes.
    file.take(length.min(MAX_HEADER))
        .read_to_end(&mut bytes)
        .ok()?;
    serde_json::from_slice(&bytes).ok()
}
