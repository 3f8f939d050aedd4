//! The methods of quantization that transformers, diffusers and the tools around them write into
//! checkpoints.

/// A method of quantization.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QuantizationMethod {
    /// `quant_method` of `quantization_config`.
    pub(super) id: &'static str,
    /// Its name in documentation.
    pub(super) name: &'static str,
    /// Whether its weights are dequantized when they are read.
    pub(super) is_dequantized: bool,
    /// The calls of transformers 5 that write an unquantized copy, if it has them.
    pub(super) unquantized_by: Option<&'static str>,
}

impl QuantizationMethod {
    /// The method that `quant_method` names; writers differ in case and in `-` and `_`.
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        METHODS
            .iter()
            .find(|method| normalised(method.id) == normalised(id))
    }
}

/// A method that is refused.
const fn refused(id: &'static str, name: &'static str) -> QuantizationMethod {
    QuantizationMethod {
        id,
        name,
        is_dequantized: false,
        unquantized_by: None,
    }
}

/// As [`refused`], but transformers can write an unquantized copy.
const fn copied(id: &'static str, name: &'static str, way: &'static str) -> QuantizationMethod {
    QuantizationMethod {
        unquantized_by: Some(way),
        ..refused(id, name)
    }
}

const fn dequantized(id: &'static str, name: &'static str) -> QuantizationMethod {
    QuantizationMethod {
        is_dequantized: true,
        ..refused(id, name)
    }
}

/// Without `save_original_format=False`, transformers 5.23 quantizes the tensors again while it
/// saves them.
const FP8: &str = "`from_pretrained(DIR, quantization_config=FineGrainedFP8Config(dequantize=True))`, then `save_pretrained(COPY, save_original_format=False)`";
const IN_PLACE: &str = "`from_pretrained(DIR)`, `dequantize()`, then `save_pretrained(COPY)`";

const METHODS: &[QuantizationMethod] = &[
    refused("aqlm", "AQLM"),
    refused("auto-round", "AutoRound"),
    dequantized("awq", "AWQ"),
    refused("bfl", "BFL"),
    refused("bitnet", "BitNet"),
    dequantized("bitsandbytes", "bitsandbytes"),
    dequantized("compressed-tensors", "compressed-tensors"),
    refused("eetq", "EETQ"),
    refused("exl2", "EXL2"),
    refused("fbgemm_fp8", "FBGEMM FP8"),
    refused("fouroversix", "Four Over Six"),
    dequantized("fp8", "FP8"),
    refused("fp_quant", "FP-Quant"),
    refused("gguf", "GGUF"),
    dequantized("gptq", "GPTQ"),
    copied("higgs", "HIGGS", IN_PLACE),
    refused("hqq", "HQQ"),
    // Weights in integers without any sign of their method.
    refused("integers", "integers"),
    refused("metal", "Metal"),
    refused("mlx", "MLX"),
    refused("modelopt", "ModelOpt"),
    dequantized("mxfp4", "MXFP4"),
    copied("mxfp8", "MXFP8", FP8),
    refused("nunchaku_lite", "Nunchaku"),
    refused("nvfp4", "NVFP4"),
    refused("quanto", "Quanto"),
    refused("quark", "Quark"),
    refused("sdnq", "SDNQ"),
    refused("sinq", "SINQ"),
    refused("spqr", "SpQR"),
    refused("torchao", "torchao"),
    refused("vptq", "VPTQ"),
];

fn normalised(text: &str) -> String {
    text.to_ascii_lowercase().replace('_', "-")
}
