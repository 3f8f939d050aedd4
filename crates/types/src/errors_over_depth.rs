//! Errors over depth: the layer at which the error of the hidden states, in units of the
//! reference's own error, leaves its usual range.
//!
//! Owns: that range, and the sentence about it. Does not own: the thresholds of a check.

use crate::report_entry::LayerError;

/// The errors of the hidden states of one check.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorsOverDepth {
    /// The number of layers, of all stacks.
    pub layers: usize,
    /// The largest error in units of the reference's own, if that is recorded.
    pub largest_ratio: Option<f64>,
    /// The first layer outside the usual range, if there is one.
    pub rise: Option<ErrorRise>,
}

/// The first layer outside the usual range.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRise {
    /// Its name in the golden, for instance `layer.16` or `decoder.layer.3`.
    pub layer: String,
    /// The number of layers of its stack.
    pub of: usize,
    /// Its error, rel-L2, if it is finite.
    pub error: Option<f64>,
    /// The layer before it in its stack.
    pub previous: Option<String>,
    /// The error of that layer.
    pub previous_error: Option<f64>,
    /// The reference's own error of the layer in this precision, if it is recorded.
    pub reference: Option<f64>,
}

/// The usual error of a layer is at most this many times the reference's own, or the median ratio
/// of the layers before it.
// Of 1,100 layers that passed on five devices, the largest ratio was 2.3.
const USUAL_RATIO: f64 = 4.0;

/// Without the reference's own error, the usual error of a layer is at most this many times the
/// median of the layers before it.
// The reference's own grows by up to 7.7 from one layer to the next.
const USUAL_GROWTH: f64 = 10.0;

impl ErrorsOverDepth {
    /// Of the hidden states of a check; `None` without a layer among them.
    pub fn new(states: &[LayerError]) -> Option<Self> {
        let layers: Vec<&LayerError> = states.iter().filter(|it| is_layer(it)).collect();
        if layers.is_empty() {
            return None;
        }
        // `f64::MAX` represents an error that is not finite: it is a rise, but not a ratio to
        // print.
        let ratios = layers.iter().filter_map(|layer| ratio(layer));
        Some(Self {
            layers: layers.len(),
            largest_ratio: ratios
                .filter(|ratio| *ratio < f64::MAX)
                .max_by(f64::total_cmp),
            // The first layer of a decoder does not continue the errors of the encoder's last
            // layer, so each stack is searched alone.
            rise: layers
                .chunk_by(|a, b| stack(a) == stack(b))
                .find_map(ErrorRise::find),
        })
    }

    /// The sentence about it.
    pub fn describe(&self) -> String {
        let Self {
            layers,
            largest_ratio,
            rise,
        } = self;
        match (rise, largest_ratio) {
            (Some(rise), _) => rise.describe(),
            (None, Some(ratio)) => format!(
                "errors do not rise over {layers} layers: at most {ratio:.1} times the reference's own"
            ),
            (None, None) => format!("errors do not rise over {layers} layers"),
        }
    }
}

impl ErrorRise {
    fn find(stack: &[&LayerError]) -> Option<Self> {
        let index = (0..stack.len()).find(|index| is_unusual(&stack[..*index], stack[*index]))?;
        let layer = stack[index];
        let previous = index.checked_sub(1).map(|before| stack[before]);
        Some(Self {
            layer: layer.name.clone(),
            of: stack.len(),
            error: finite(layer.rel_l2),
            previous: previous.map(|layer| layer.name.clone()),
            previous_error: previous.and_then(|layer| finite(layer.rel_l2)),
            reference: layer.reference,
        })
    }

    fn describe(&self) -> String {
        let Self {
            layer, of, error, ..
        } = self;
        let Some(error) = error else {
            return format!("errors rise at `{layer}` of {of} layers: no finite error");
        };
        let mut text = format!("errors rise at `{layer}` of {of} layers: {error:.1e}");
        if let (Some(previous), Some(before)) = (&self.previous, self.previous_error)
            && before > 0.0
        {
            text.push_str(&format!(", {:.0} times `{previous}`", error / before));
        }
        if let Some(reference) = self.reference {
            text.push_str(&format!("; the reference's own error is {reference:.1e}"));
        }
        text
    }
}

/// Whether the error of a layer is outside the range that the layers before it make usual.
fn is_unusual(before: &[&LayerError], layer: &LayerError) -> bool {
    if let Some(ratio) = ratio(layer) {
        let usual = median(before.iter().filter_map(|layer| self::ratio(layer)));
        // At least 1: after layers that are better than the reference, a layer as good as the
        // reference is not a rise.
        return ratio > USUAL_RATIO * usual.unwrap_or(1.0).max(1.0);
    }
    let usual = median(before.iter().map(|layer| layer.rel_l2));
    // The first layer has no usual error yet, but an error that is not finite is a rise there, too.
    layer.rel_l2 == f64::MAX || usual.is_some_and(|usual| layer.rel_l2 > USUAL_GROWTH * usual)
}

/// The error in units of the reference's own.
fn ratio(layer: &LayerError) -> Option<f64> {
    // A layer without rounding has no unit.
    let reference = layer.reference.filter(|reference| *reference > 0.0)?;
    Some((layer.rel_l2 / reference).min(f64::MAX))
}

/// The median of the values above zero.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    // Without zeros, beside which every error would be unusual.
    let mut values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn finite(error: f64) -> Option<f64> {
    Some(error).filter(|error| *error < f64::MAX)
}

/// An embedding is exact on some devices, so it is not the usual error of a layer.
fn is_layer(state: &LayerError) -> bool {
    !state.name.ends_with("embed")
}

/// The stack that a layer is in: `decoder.` of `decoder.layer.3`.
fn stack(layer: &LayerError) -> &str {
    layer
        .name
        .split_once("layer.")
        .map_or("", |(stack, _)| stack)
}

#[cfg(test)]
mod tests;
