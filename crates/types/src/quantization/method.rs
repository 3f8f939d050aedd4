//! The methods of quantization that transformers, diffusers and the tools around them write into
//! checkpoints.

/// A method of quantization.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QuantizationMethod {
    /// `quant_method` of `quantization_config`.
    pub(super) id: &'static str,
    /// Its name in documentation.
    pub(super) name: &'static str,
    /// The calls of transformers 5 that write an unquantized copy, where it has them.
    pub(super) dequantized_by: Option<&'static str>,
}

impl QuantizationMethod {
    /// The method that `quant_method` names; writers differ in case and in `-` and `_`.
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        let normal = |text: &str| text.to_ascii_lowercase().replace('_', "-");
        METHODS
            .iter()
            .find(|method| normal(method.id) == normal(id))
    }
}

const fn method(id: &'static str, name: &'static str) -> QuantizationMethod {
    QuantizationMethod {
        id,
        name,
        dequantized_by: None,
    }
}

const fn dequantized(
    id: &'static str,
    name: &'static str,
    way: &'static str,
) -> QuantizationMethod {
    QuantizationMethod {
        id,
        name,
        dequantized_by: Some(way),
    }
}

/// Without `save_original_format=False`, transformers 5.23 quantizes the tensors again while it
/// saves them.
const FP8: &str = "`from_pretrained(DIR, quantization_config=FineGrainedFP8Config(dequantize=True))`, then `save_pretrained(COPY, save_original_format=False)`";
const MXFP4: &str = "`from_pretrained(DIR, quantization_config=Mxfp4Config(dequantize=True))`, then `save_pretrained(COPY, save_original_format=False)`";
const COMPRESSED: &str = "`from_pretrained(DIR, quantization_config=CompressedTensorsConfig(dequantize=True))`, then `save_pretrained(COPY, save_original_format=False)`";
const IN_PLACE: &str = "`from_pretrained(DIR)`, `dequantize()`, then `save_pretrained(COPY)`";

const METHODS: &[QuantizationMethod] = &[
    method("aqlm", "AQLM"),
    method("auto-round", "AutoRound"),
    method("awq", "AWQ"),
    method("bfl", "BFL"),
    method("bitnet", "BitNet"),
    dequantized("bitsandbytes", "bitsandbytes", IN_PLACE),
    dequantized("compressed-tensors", "compressed-tensors", COMPRESSED),
    method("eetq", "EETQ"),
    method("exl2", "EXL2"),
    method("fbgemm_fp8", "FBGEMM FP8"),
    method("fouroversix", "Four Over Six"),
    dequantized("fp8", "FP8", FP8),
    method("fp_quant", "FP-Quant"),
    method("gguf", "GGUF"),
    method("gptq", "GPTQ"),
    dequantized("higgs", "HIGGS", IN_PLACE),
    method("hqq", "HQQ"),
    // Weights in integers without any sign of their method.
    method("integers", "integers"),
    method("metal", "Metal"),
    method("mlx", "MLX"),
    method("modelopt", "ModelOpt"),
    dequantized("mxfp4", "MXFP4", MXFP4),
    dequantized("mxfp8", "MXFP8", FP8),
    method("nunchaku_lite", "Nunchaku"),
    method("nvfp4", "NVFP4"),
    method("quanto", "Quanto"),
    method("quark", "Quark"),
    method("sdnq", "SDNQ"),
    method("sinq", "SINQ"),
    method("spqr", "SpQR"),
    method("torchao", "torchao"),
    method("vptq", "VPTQ"),
];
