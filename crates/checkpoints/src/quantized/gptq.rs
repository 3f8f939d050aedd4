//! GPTQ: codes of 2, 3, 4 or 8 bits, packed along the inputs; each input belongs to a group.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    packed::{self, code},
    parts::{PartNames, StoredParts},
};
use serde_json::Value;

pub(super) const PARTS: PartNames = PartNames {
    ends: &[".qweight", ".qzeros", ".scales", ".g_idx"],
    tensor: ".weight",
    unused: &[],
};

/// `qweight` [inputs * bits / 32, outputs], `qzeros` [groups, outputs * bits / 32], `scales`
/// [groups, outputs], `g_idx` [inputs]; the weight is [outputs, inputs].
pub(super) fn dequantize(parts: &StoredParts, options: &Value) -> Result<DenseTensor, String> {
    let scales = parts.part(".scales")?;
    let [groups, outputs] = scales.matrix()?;
    let weight = parts.part(".qweight")?;
    let [rows, found] = weight.matrix()?;
    let (inputs, bits, group_of_input) = inputs(parts, options, rows, groups)?;
    if found != outputs || rows != packed::words(inputs, bits) {
        return Err(format!(
            "`{}` has the shape {:?}, but there are {inputs} inputs in {bits} bits and {outputs} outputs",
            weight.name, weight.shape
        ));
    }
    let zeros = parts.part(".qzeros")?;
    if zeros.matrix()? != [groups, packed::words(outputs, bits)] {
        return Err(format!("`{}` has the shape {:?}", zeros.name, zeros.shape));
    }
    let (words, zero_words, width) = (
        weight.packed_words()?,
        zeros.packed_words()?,
        zeros.shape[1],
    );
    let scale_values = scales.values()?;
    // The scales of an output are together, as its inputs are in the weight.
    let by_output = |value: &dyn Fn(usize, usize) -> f32| {
        let indices = (0..outputs * groups).map(|index| (index / groups, index % groups));
        indices
            .map(|(output, group)| value(output, group))
            .collect()
    };
    let offset = zero_offset(options);
    let zero = |output, group: usize| {
        let stored = code(|word| zero_words[group * width + word], output, bits);
        ((stored + offset) & ((1 << bits) - 1)) as f32
    };
    let codes = (0..outputs * inputs).map(|index| {
        let (output, input) = (index / inputs, index % inputs);
        code(|word| words[word * outputs + output], input, bits) as f32
    });
    let matrix = AffineMatrix {
        shape: [outputs, inputs],
        codes: codes.collect(),
        scales: by_output(&|output, group| scale_values[group * outputs + output]),
        zeros: Some(by_output(&zero)),
        blocks: ScaleBlocks::groups(group_of_input, outputs, groups)?,
        dtype: float_type(scales)?,
    };
    matrix.dequantize()
}

/// The number of inputs, the bits of a code, and the group of each input.
fn inputs(
    parts: &StoredParts,
    options: &Value,
    rows: usize,
    groups: usize,
) -> Result<(usize, usize, Vec<usize>), String> {
    if let Some(groups) = parts.find(".g_idx") {
        let group_of_input = groups.indices()?;
        let bits = packed::bits(group_of_input.len(), rows)
            .ok_or("no number of bits fits to its sizes")?;
        return Ok((group_of_input.len(), bits, group_of_input));
    }
    let bits = options["bits"]
        .as_u64()
        .filter(|bits| (1..=8).contains(bits));
    let bits =
        bits.ok_or("neither `g_idx` nor `bits` in the configuration says how it is packed")?;
    let inputs = rows * 32 / bits as usize;
    if groups == 0 || !inputs.is_multiple_of(groups) {
        return Err(format!("{inputs} inputs are not in {groups} equal groups"));
    }
    let group_of_input = (0..inputs).map(|input| input / (inputs / groups)).collect();
    Ok((inputs, bits as usize, group_of_input))
}

/// The first format of GPTQ stores zero points minus one.
fn zero_offset(options: &Value) -> u32 {
    u32::from(options["checkpoint_format"].as_str() != Some("gptq_v2"))
}
