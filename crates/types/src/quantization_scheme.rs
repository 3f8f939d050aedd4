//! The schemes that the weights of a synthetic checkpoint can be quantized by.

use crate::closed_enum::closed_enum;

closed_enum! {
    /// A method of quantization with its bits and its group: METHOD-BITS-GROUP.
    QuantizationScheme: "scheme" {
        /// GPTQ: codes of 3 bits, some of which begin in one word and end in the next.
        Gptq3 = "gptq-3-128",
        /// GPTQ: codes of 4 bits, a scale and a zero point for 128 inputs of an output.
        Gptq4 = "gptq-4-128",
        /// GPTQ: codes of 8 bits.
        Gptq8 = "gptq-8-128",
        /// AWQ: codes of 4 bits, packed along the outputs in AWQ's order.
        Awq4 = "awq-4-128",
        /// FP8: E4M3 of OCP, one scale for a matrix.
        Fp8Tensor = "fp8-tensor",
        /// FP8: a scale for each output.
        Fp8Channel = "fp8-channel",
        /// FP8: a scale for each block of 128 outputs and 128 inputs.
        Fp8Block = "fp8-block-128",
        /// FP8: the same blocks in E4M3 of MI300 (`fnuz`).
        Fp8FnuzBlock = "fp8-fnuz-block-128",
        /// compressed-tensors `pack-quantized`: integers of 4 bits, a scale for 128 inputs of an output.
        CompressedInt4 = "compressed-tensors-int4-128",
        /// compressed-tensors `int-quantized`: integers of 8 bits, a scale for each output.
        CompressedInt8 = "compressed-tensors-int8",
        /// compressed-tensors `float-quantized`: E4M3 of OCP, a scale for each output.
        CompressedFp8 = "compressed-tensors-fp8",
        /// bitsandbytes: integers of 8 bits, the largest value of each output.
        BitsandbytesInt8 = "bnb-int8",
        /// bitsandbytes `nf4`: codes of 4 bits for quantiles of a normal distribution, in blocks of 64.
        BitsandbytesNf4 = "bnb-nf4",
        /// MXFP4: the experts of GPT-OSS in blocks of 32 values of 4 bits, a power of two for each.
        Mxfp4 = "mxfp4",
    }
}

/// The sizes of a layer, as messages name them.
const SIDES: [&str; 2] = ["outputs", "inputs"];

impl QuantizationScheme {
    /// The reason why a layer with these numbers of outputs and inputs cannot be quantized, for
    /// instance "its 96 inputs are not a multiple of 128".
    pub fn size_problem(self, sizes: [u64; 2]) -> Option<String> {
        let sides = SIDES.iter().zip(sizes).zip(self.multiples());
        let mut unequal = sides.filter(|((_, size), multiple)| {
            // A matrix without values has no scale either.
            *size == 0 || !size.is_multiple_of(*multiple)
        });
        let ((side, size), multiple) = unequal.next()?;
        Some(format!(
            "its {size} {side} are not a multiple of {multiple}"
        ))
    }

    /// The format in files, for documentation.
    pub const fn format(self) -> &'static str {
        match self {
            Self::Gptq3 => {
                "GPTQ: codes of 3 bits, some of which begin in one word and end in the next"
            }
            Self::Gptq4 => {
                "GPTQ: codes of 4 bits, a scale and a zero point for 128 inputs of an output"
            }
            Self::Gptq8 => "GPTQ: codes of 8 bits",
            Self::Awq4 => "AWQ: codes of 4 bits, packed along the outputs in AWQ's order",
            Self::Fp8Tensor => "FP8: E4M3 of OCP, one scale for a matrix",
            Self::Fp8Channel => "FP8: a scale for each output",
            Self::Fp8Block => "FP8: a scale for each block of 128 outputs and 128 inputs",
            Self::Fp8FnuzBlock => "FP8: the same blocks in E4M3 of MI300 (`fnuz`)",
            Self::CompressedInt4 => {
                "compressed-tensors `pack-quantized`: integers of 4 bits, a scale for 128 inputs of an output"
            }
            Self::CompressedInt8 => {
                "compressed-tensors `int-quantized`: integers of 8 bits, a scale for each output"
            }
            Self::CompressedFp8 => {
                "compressed-tensors `float-quantized`: E4M3 of OCP, a scale for each output"
            }
            Self::BitsandbytesInt8 => {
                "bitsandbytes: integers of 8 bits, the largest value of each output"
            }
            Self::BitsandbytesNf4 => {
                "bitsandbytes `nf4`: codes of 4 bits for quantiles of a normal distribution, in blocks of 64"
            }
            Self::Mxfp4 => {
                "MXFP4: the experts of GPT-OSS in blocks of 32 values of 4 bits, a power of two for each"
            }
        }
    }

    /// The numbers that outputs and inputs are multiples of: groups, blocks, and the codes that
    /// fill whole words.
    const fn multiples(self) -> [u64; 2] {
        match self {
            // The zero points of a group are packed along the outputs, in words of 32 bits: 32
            // codes of 3 bits fill three words, and fewer do not end with a word.
            Self::Gptq3 => [32, 128],
            // Eight codes of 4 bits in a word: GPTQ's zero points and all of AWQ's codes are packed
            // along the outputs.
            Self::Gptq4 | Self::Awq4 => [8, 128],
            // Four codes of 8 bits in a word.
            Self::Gptq8 => [4, 128],
            Self::Fp8Block | Self::Fp8FnuzBlock => [128, 128],
            // Packed along the inputs, and 128 codes of 4 bits end with a word.
            Self::CompressedInt4 => [1, 128],
            // Two codes in a byte.
            Self::BitsandbytesNf4 => [1, 2],
            Self::Mxfp4 => [1, 32],
            Self::Fp8Tensor
            | Self::Fp8Channel
            | Self::CompressedInt8
            | Self::CompressedFp8
            | Self::BitsandbytesInt8 => [1, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QuantizationScheme;

    #[test]
    fn sizes_that_a_group_or_a_word_does_not_divide_are_named() {
        for (scheme, sizes, expected) in [
            (
                QuantizationScheme::Gptq4,
                [64, 96],
                Some("its 96 inputs are not a multiple of 128"),
            ),
            (
                QuantizationScheme::Gptq3,
                [40, 128],
                Some("its 40 outputs are not a multiple of 32"),
            ),
            (
                QuantizationScheme::Fp8Channel,
                [0, 128],
                Some("its 0 outputs are not a multiple of 1"),
            ),
            (QuantizationScheme::Gptq4, [40, 256], None),
            (QuantizationScheme::Fp8Tensor, [3, 5], None),
        ] {
            let found = scheme.size_problem(sizes);
            assert_eq!(found.as_deref(), expected, "{scheme} {sizes:?}");
        }
    }
}
