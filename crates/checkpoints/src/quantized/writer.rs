//! The writer of each scheme, which quantizes dense weights.
//!
//! Each method's file has its writer beside its reader, so that both have the same names and sizes.

use super::{
    awq::AwqWriter,
    bitsandbytes::{Int8Writer, Nf4Writer},
    compressed_tensors::CompressedWriter,
    fp8::Fp8Writer,
    gptq::GptqWriter,
    layer::WeightWriter,
    mxfp4::Mxfp4Writer,
};
use testgen_types::QuantizationScheme;

/// The writer of a scheme.
pub(crate) fn writer(scheme: QuantizationScheme) -> Box<dyn WeightWriter> {
    match scheme {
        QuantizationScheme::Gptq3 => Box::new(GptqWriter { bits: 3 }),
        QuantizationScheme::Gptq4 => Box::new(GptqWriter { bits: 4 }),
        QuantizationScheme::Gptq8 => Box::new(GptqWriter { bits: 8 }),
        QuantizationScheme::Awq4 => Box::new(AwqWriter),
        QuantizationScheme::Fp8Tensor => Box::new(Fp8Writer::Tensor),
        QuantizationScheme::Fp8Channel => Box::new(Fp8Writer::Channel),
        QuantizationScheme::Fp8Block => Box::new(Fp8Writer::Block),
        QuantizationScheme::Fp8FnuzBlock => Box::new(Fp8Writer::FnuzBlock),
        QuantizationScheme::CompressedInt4 => Box::new(CompressedWriter::Int4),
        QuantizationScheme::CompressedInt8 => Box::new(CompressedWriter::Int8),
        QuantizationScheme::CompressedFp8 => Box::new(CompressedWriter::Fp8),
        QuantizationScheme::BitsandbytesInt8 => Box::new(Int8Writer),
        QuantizationScheme::BitsandbytesNf4 => Box::new(Nf4Writer),
        QuantizationScheme::Mxfp4 => Box::new(Mxfp4Writer),
    }
}
