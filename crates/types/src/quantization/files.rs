//! Signs of quantization in the names of files: tools wrote their options there before
//! `config.json` had a field for them.

use super::configuration::detail;
use crate::bounded_file::{limit, read_bytes};
use serde_json::{Map, Value};
use std::{fs, path::Path};

/// Files and the methods of the tools that write them.
const FILES: [(&str, &str); 4] = [
    ("hf_quant_config.json", "modelopt"),
    ("quant_config.json", "awq"),
    ("quantize_config.json", "gptq"),
    ("quanto_qmap.json", "quanto"),
];

/// The method, its options and the file.
pub(super) fn find(directory: &Path) -> Option<(String, Option<String>, String)> {
    if let Some((file, method)) = options_file(directory) {
        let detail = options(directory).and_then(|options| detail(&options));
        return Some(((*method).to_owned(), detail, format!("the file `{file}`")));
    }
    let gguf = only_gguf(directory)?;
    Some(("gguf".to_owned(), None, format!("the file `{gguf}`")))
}

pub(super) fn is_options_file(name: &str) -> bool {
    FILES.iter().any(|(file, _)| *file == name)
}

/// The options in the file of a tool, if there is one.
pub(super) fn options(directory: &Path) -> Option<Map<String, Value>> {
    let (file, _) = options_file(directory)?;
    let bytes = read_bytes(&directory.join(file), limit::CONFIG).ok()?;
    let mut fields: Map<String, Value> = serde_json::from_slice(&bytes).ok()?;
    match fields.remove("quantization") {
        // ModelOpt nests its options, the other tools do not.
        Some(Value::Object(nested)) => Some(nested),
        _ => Some(fields),
    }
}

fn options_file(directory: &Path) -> Option<&'static (&'static str, &'static str)> {
    FILES
        .iter()
        .find(|(file, _)| directory.join(file).is_file())
}

/// The first file of GGUF, where there are no safetensors.
fn only_gguf(directory: &Path) -> Option<String> {
    let names = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    // Directories often have both, and then the file of GGUF is not read.
    first_with(".safetensors", &names)
        .is_none()
        .then(|| first_with(".gguf", &names))
        .flatten()
}

fn first_with(ending: &str, names: &[String]) -> Option<String> {
    names
        .iter()
        .filter(move |name| name.ends_with(ending))
        // The order of a directory is arbitrary, and the message names the file.
        .min()
        .cloned()
}
