//! GPTQ: codes of 2, 3, 4 or 8 bits, packed along the inputs; each input belongs to a group.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    packed::{self, code},
    parts::{PartNames, StoredParts},
    rounding::{RoundedGroups, transposed},
};
use serde_json::{Value, json};
use testgen_types::excerpt;

const WEIGHT: &str = ".qweight";
const ZEROS: &str = ".qzeros";
const SCALES: &str = ".scales";
const GROUPS: &str = ".g_idx";
pub(super) const PARTS: PartNames = PartNames {
    ends: &[WEIGHT, ZEROS, SCALES, GROUPS],
    tensor: ".weight",
    unused: &[],
};

/// `qweight` [inputs * bits / 32, outputs], `qzeros` [groups, outputs * bits / 32], `scales`
/// [groups, outputs], `g_idx` [inputs]; the weight is [outputs, inputs].
pub(super) fn dequantize(parts: &StoredParts, options: &Value) -> Result<DenseTensor, String> {
    let scales = parts.part(SCALES)?;
    let [groups, outputs] = scales.matrix()?;
    let weight = parts.part(WEIGHT)?;
    let [rows, found] = weight.matrix()?;
    let (inputs, bits, group_of_input) = inputs(parts, options, rows, groups)?;
    if found != outputs || rows != packed::words(inputs, bits) {
        return Err(format!(
            "`{}` has the shape {:?}, but there are {inputs} inputs in {bits} bits and {outputs} outputs",
            weight.name, weight.shape
        ));
    }
    let zeros = ZeroPoints::read(parts, options, [groups, outputs], bits)?;
    let words = weight.packed_words()?;
    let scale_values = scales.values()?;
    let codes = (0..outputs * inputs).map(|index| {
        let (output, input) = (index / inputs, index % inputs);
        code(|word| words[word * outputs + output], input, bits) as f32
    });
    let matrix = AffineMatrix {
        shape: [outputs, inputs],
        codes: codes.collect(),
        scales: by_output([outputs, groups], |output, group| {
            scale_values[group * outputs + output]
        }),
        zeros: Some(by_output([outputs, groups], |output, group| {
            zeros.value(output, group)
        })),
        blocks: ScaleBlocks::groups(group_of_input, outputs, groups)?,
        dtype: float_type(scales)?,
    };
    matrix.dequantize()
}

/// The zero point of each group and each output.
struct ZeroPoints {
    words: Vec<u32>,
    /// The words of a group.
    width: usize,
    bits: usize,
    offset: u32,
}

impl ZeroPoints {
    fn read(
        parts: &StoredParts,
        options: &Value,
        [groups, outputs]: [usize; 2],
        bits: usize,
    ) -> Result<Self, String> {
        let zeros = parts.part(ZEROS)?;
        let width = packed::words(outputs, bits);
        if zeros.matrix()? != [groups, width] {
            return Err(format!("`{}` has the shape {:?}", zeros.name, zeros.shape));
        }
        Ok(Self {
            words: zeros.packed_words()?,
            width,
            bits,
            offset: zero_offset(options)?,
        })
    }

    fn value(&self, output: usize, group: usize) -> f32 {
        let words = &self.words[group * self.width..];
        let stored = code(|word| words[word], output, self.bits);
        // Modulo the codes, because the first format stores a zero point of 0 as the largest code.
        ((stored + self.offset) & ((1 << self.bits) - 1)) as f32
    }
}

/// A number for each group of each output.
fn by_output([outputs, groups]: [usize; 2], value: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    // The groups of an output are together, as its inputs are in the weight.
    (0..outputs * groups)
        .map(|index| value(index / groups, index % groups))
        .collect()
}

/// The number of inputs, the bits of a code, and the group of each input.
fn inputs(
    parts: &StoredParts,
    options: &Value,
    rows: usize,
    groups: usize,
) -> Result<(usize, usize, Vec<usize>), String> {
    if let Some(groups) = parts.find(GROUPS) {
        let group_of_input = groups.indices()?;
        // From the sizes, which `g_idx` fixes; the configuration may have other bits for some
        // layers.
        let bits = packed::bits(group_of_input.len(), rows)
            .ok_or("no number of bits fits to its sizes")?;
        return Ok((group_of_input.len(), bits, group_of_input));
    }
    let bits = options["bits"]
        .as_u64()
        // The limit of `packed::code`; with 0 the number of inputs below would be a division by it.
        .filter(|bits| (1..=8).contains(bits));
    let bits =
        bits.ok_or("neither `g_idx` nor `bits` in the configuration says how it is packed")?;
    let inputs = rows * 32 / bits as usize;
    if groups == 0 || !inputs.is_multiple_of(groups) {
        return Err(format!("{inputs} inputs are not in {groups} equal groups"));
    }
    // Without `g_idx` the inputs of a group follow each other.
    let group_of_input = (0..inputs).map(|input| input / (inputs / groups)).collect();
    Ok((inputs, bits as usize, group_of_input))
}

/// The first format of GPTQ stores zero points minus one.
fn zero_offset(options: &Value) -> Result<u32, String> {
    // `GPTQConfig` takes the older name if a file has both, and both in any case.
    let format = ["checkpoint_format", "format"]
        .iter()
        .find_map(|name| options[name].as_str())
        .unwrap_or("gptq");
    match format.to_lowercase().as_str() {
        "gptq" => Ok(1),
        "gptq_v2" => Ok(0),
        // Other formats pack codes and zero points in another order.
        other => Err(format!(
            "the format of GPTQ is `{}` in the configuration, not `gptq` or `gptq_v2`",
            excerpt(other)
        )),
    }
}

/// Writes the first format, with groups of consecutive inputs.
pub(super) struct GptqWriter {
    pub(super) bits: usize,
}

/// The inputs of a group that is written.
// The default of `GPTQConfig`.
const GROUP: usize = 128;

impl WeightWriter for GptqWriter {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let &QuantizedShape {
            dtype,
            outputs,
            inputs,
            ..
        } = shape;
        let [input_words, output_words] =
            [inputs, outputs].map(|count| packed::words(count, self.bits));
        let groups = inputs / GROUP;
        vec![
            PartLayout::new(WEIGHT, "I32", &[input_words, outputs]),
            PartLayout::new(ZEROS, "I32", &[groups, output_words]),
            PartLayout::new(SCALES, dtype.as_str(), &[groups, outputs]),
            PartLayout::new(GROUPS, "I32", &[inputs]),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let QuantizedShape {
            dtype,
            outputs,
            inputs,
            ..
        } = layer.shape;
        let (bits, groups) = (self.bits, inputs / GROUP);
        let rounded = RoundedGroups::new(layer.values, dtype, bits, GROUP);
        let rows = rounded.codes.chunks(inputs);
        let words: Vec<u32> = rows.flat_map(|row| packed::pack(row, bits)).collect();
        // As the first format has them; `zero_offset` is what readers add.
        let stored: Vec<u32> = rounded.zeros.iter().map(|zero| zero - 1).collect();
        let stored = transposed(&stored, groups);
        let zeros = stored
            .chunks(outputs)
            .flat_map(|row| packed::pack(row, bits));
        vec![
            packed::bytes(transposed(&words, packed::words(inputs, bits))),
            packed::bytes(zeros),
            dtype.encode(transposed(&rounded.scales, groups).into_iter()),
            packed::bytes((0..inputs).map(|input| (input / GROUP) as u32)),
        ]
    }

    fn options(&self) -> Value {
        json!({
            "quant_method": "gptq",
            "bits": self.bits,
            "group_size": GROUP,
            "desc_act": false,
            "sym": false,
            "checkpoint_format": "gptq",
        })
    }
}
