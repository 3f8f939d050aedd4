//! The methods that are dequantized, each with its options.

use super::{
    awq, bitsandbytes, compressed_tensors,
    dense::DenseTensor,
    fp8, gptq, mxfp4,
    parts::{PartNames, StoredParts},
};
use serde_json::Value;
use std::path::Path;
use testgen_types::QuantizedCheckpoint;

/// A method with the options of a checkpoint.
pub(super) struct Method {
    kind: Kind,
    /// `quantization_config`, or the tool's own file; null if there is neither.
    options: Value,
    /// The same as text.
    text: String,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Awq,
    Bitsandbytes,
    CompressedTensors,
    Fp8,
    Gptq,
    Mxfp4,
}

impl Method {
    pub(super) fn find(directory: &Path, config: &Value) -> Option<Self> {
        let found = QuantizedCheckpoint::find(directory, config)?;
        let kind = match found.dequantized()? {
            "awq" => Kind::Awq,
            "bitsandbytes" => Kind::Bitsandbytes,
            "compressed-tensors" => Kind::CompressedTensors,
            "fp8" => Kind::Fp8,
            "gptq" => Kind::Gptq,
            "mxfp4" => Kind::Mxfp4,
            _ => return None,
        };
        let options = QuantizedCheckpoint::options_in(directory, config);
        let text = options.to_string();
        Some(Self {
            kind,
            options,
            text,
        })
    }

    pub(super) fn options(&self) -> &str {
        &self.text
    }

    pub(super) fn layout(&self) -> PartNames {
        match self.kind {
            Kind::Awq => awq::PARTS,
            Kind::Bitsandbytes => bitsandbytes::PARTS,
            Kind::CompressedTensors => compressed_tensors::PARTS,
            Kind::Fp8 => fp8::PARTS,
            Kind::Gptq => gptq::PARTS,
            Kind::Mxfp4 => mxfp4::PARTS,
        }
    }

    /// The tensor `name` from its parts.
    pub(super) fn dequantize(&self, name: &str, parts: StoredParts) -> Result<DenseTensor, String> {
        // Modules that a method leaves out, as `lm_head`, are stored as they are.
        let parts = match parts.unquantized(name) {
            // Codes alone would be read as weights that are wrong by their scales.
            Ok(tensor) if tensor.has_codes() => return Err("it has no scales".to_owned()),
            Ok(tensor) => return Ok(tensor.into()),
            Err(parts) => parts,
        };
        match self.kind {
            Kind::Awq => awq::dequantize(&parts),
            Kind::Bitsandbytes => bitsandbytes::dequantize(&parts),
            Kind::CompressedTensors => compressed_tensors::dequantize(&parts, &self.options),
            Kind::Fp8 => fp8::dequantize(&parts, &self.options),
            Kind::Gptq => gptq::dequantize(&parts, &self.options),
            Kind::Mxfp4 => mxfp4::dequantize(&parts),
        }
    }
}
