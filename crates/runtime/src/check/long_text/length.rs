//! The number of tokens of a long text: as many as the model has positions, as the device has
//! memory and indices for, and as it reads in a minute.

use super::super::run::{CheckRun, SubjectUnderTest};
use crate::{memory, open::OpenDevice};
use serde_json::Value;
use std::fmt;
use testgen_estimate::{Backend, CallSizes, CheckpointHeaders};
use testgen_types::DeviceKind;

/// The longest text.
const LONGEST: usize = 1 << 15;
/// The longest text on a processor, which takes seconds there.
// Attention takes four times as long for twice the tokens.
const LONGEST_ON_HOST: usize = 1 << 12;
/// The text of a model without a number of positions on a processor.
const WITHOUT_LIMIT_ON_HOST: usize = 1 << 10;
/// The longest text on a simulated device.
const LONGEST_SIMULATED: usize = 1 << 7;
/// A text that any device has memory for.
const SHORTEST: usize = 1 << 7;

/// The fields with the number of heads of attention; Bloom and GPT-2 have the second one.
const HEADS: [&str; 2] = ["num_attention_heads", "n_head"];

/// The fields with the number of positions that a model was trained on; a configuration has one of
/// them.
const TRAINED: [&str; 4] = [
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "context_length",
];

/// The number of tokens, and why there are not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LongLength {
    pub(super) tokens: usize,
    /// The positions of the model, if their number is known.
    positions: Option<usize>,
    /// A longer text that was not read.
    refused: Option<Refused>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Refused {
    tokens: usize,
    needed: u64,
    free: u64,
}

impl LongLength {
    /// The length for the model under test on its device, at this moment.
    pub(super) fn for_run(run: &CheckRun<'_>, tested: &SubjectUnderTest) -> Self {
        let (config, capabilities) = (tested.model().config(), tested.model().capabilities());
        // Rotary positions have no end; the model was trained on this number.
        let limits = [
            capabilities.max_positions,
            capabilities.cacheable_length,
            trained(config),
        ];
        let positions = limits.into_iter().flatten().min();
        let device = run.device.as_ref().expect("the model was loaded on it");
        let tokens = longest(device, positions);
        let tokens = match heads(config) {
            Some(heads) if run.engine.process_name().is_none() => indexable(tokens, heads),
            _ => tokens,
        };
        let length = Self {
            tokens,
            positions,
            refused: None,
        };
        match memory::available(device) {
            Some(free) => length.within(free, |tokens| needed(run, device, tokens)),
            None => length,
        }
    }

    /// Halved until what the tokens need is free. A type without an estimate is not limited.
    fn within(self, free: u64, needed: impl Fn(usize) -> Option<u64>) -> Self {
        let mut length = self;
        // Halved, because an estimate cannot be inverted: scores grow with the square, the rest
        // does not.
        while let Some(needed) = needed(length.tokens)
            && needed > free
            && length.tokens > SHORTEST
        {
            let refused = Refused {
                tokens: length.tokens,
                needed,
                free,
            };
            length.tokens /= 2;
            length.refused = Some(refused);
        }
        length
    }
}

impl fmt::Display for LongLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.tokens)?;
        match self.positions {
            Some(positions) if positions == self.tokens => write!(f, ", all positions")?,
            Some(positions) => write!(f, " of {positions} positions")?,
            None => {}
        }
        match &self.refused {
            None => Ok(()),
            Some(Refused {
                tokens,
                needed,
                free,
            }) => {
                let [needed, free] = [needed, free].map(|bytes| *bytes as f64 / (1 << 30) as f64);
                write!(
                    f,
                    " ({tokens} need {needed:.1} GiB, {free:.1} GiB are free)"
                )
            }
        }
    }
}

/// The positions that a model was trained on, as far as its configuration says so.
fn trained(config: &Value) -> Option<usize> {
    let positions = TRAINED.iter().find_map(|name| config.get(*name)?.as_u64());
    positions.and_then(|positions| usize::try_from(positions).ok())
}

/// The heads of attention, as far as the configuration says so.
fn heads(config: &Value) -> Option<u64> {
    HEADS.iter().find_map(|name| config.get(*name)?.as_u64())
}

/// The longest text that a device reads in a minute, of a model with this number of positions.
fn longest(device: &OpenDevice, positions: Option<usize>) -> usize {
    let (without, limit) = match (device.facts().kind, device.facts().simulated) {
        (DeviceKind::Cpu, _) => (WITHOUT_LIMIT_ON_HOST, LONGEST_ON_HOST),
        (_, true) => (LONGEST_SIMULATED, LONGEST_SIMULATED),
        _ => (LONGEST, LONGEST),
    };
    positions.unwrap_or(without).min(limit)
}

/// `tokens`, halved until the kernels of the native engine can index the scores of `heads`.
fn indexable(tokens: usize, heads: u64) -> usize {
    let mut tokens = tokens;
    // cubecl 0.10 counts elements in 32 bits.
    while heads.saturating_mul((tokens as u64).pow(2)) > u64::from(u32::MAX) {
        tokens /= 2;
    }
    tokens
}

/// The bytes of a call that reads `tokens`, besides the weights.
fn needed(run: &CheckRun<'_>, device: &OpenDevice, tokens: usize) -> Option<u64> {
    let directory = run.checkpoint().complete_directory().ok()?;
    let headers = CheckpointHeaders::read(&directory).ok()?;
    let backend = match device.facts().kind {
        DeviceKind::Cpu => Backend::Host,
        DeviceKind::Cuda | DeviceKind::Rocm => Backend::Gpu,
    };
    let sizes = CallSizes {
        batch: 1,
        tokens: tokens as u64,
    };
    let precision = run.registration.precision;
    let estimate = headers.estimate(backend, precision, sizes).ok()?;
    // The weights are on the device already, so they are not part of what must be free.
    Some(estimate.call())
}

#[cfg(test)]
mod tests {
    use super::{LongLength, heads, indexable, trained};
    use serde_json::json;

    fn length(tokens: usize, positions: Option<usize>) -> LongLength {
        LongLength {
            tokens,
            positions,
            refused: None,
        }
    }

    #[test]
    fn models_name_the_positions_that_they_were_trained_on() {
        assert_eq!(trained(&json!({ "n_positions": 1024 })), Some(1024));
        assert_eq!(trained(&json!({ "context_length": 2048 })), Some(2048));
        assert_eq!(trained(&json!({ "n_positions": null })), None);
    }

    #[test]
    fn a_text_that_fills_the_model_says_so() {
        let text = |tokens, positions| length(tokens, positions).to_string();
        assert_eq!(text(1024, Some(1024)), "1024 tokens, all positions");
        assert_eq!(text(4096, Some(131_072)), "4096 tokens of 131072 positions");
        assert_eq!(text(32768, None), "32768 tokens");
    }

    #[test]
    fn scores_are_counted_in_32_bits() {
        assert_eq!(indexable(1 << 15, 3), 1 << 15);
        assert_eq!(indexable(1 << 15, 4), 1 << 14);
        assert_eq!(indexable(1 << 15, 128), 1 << 12);
        // As many as Bloom's fixtures have.
        assert_eq!(heads(&json!({ "n_head": 4 })), Some(4));
        assert_eq!(heads(&json!({ "num_attention_heads": 8 })), Some(8));
        assert_eq!(heads(&json!({ "state_size": 16 })), None);
    }

    #[test]
    fn a_text_is_halved_until_it_fits() {
        let quadratic = |tokens: usize| Some((tokens * tokens) as u64);
        let within = |free| length(1024, None).within(free, quadratic);
        assert_eq!(within(1 << 20).to_string(), "1024 tokens");
        assert_eq!(
            within(3 << 30).tokens,
            1024,
            "more memory does not make a text longer"
        );
        let halved = within((1 << 20) - 1);
        assert_eq!(halved.tokens, 512);
        assert_eq!(
            halved.to_string(),
            "512 tokens (1024 need 0.0 GiB, 0.0 GiB are free)"
        );
        assert_eq!(within(1).tokens, 128, "the shortest is not halved");
        let without = length(1024, None).within(1, |_| None);
        assert_eq!(without.tokens, 1024, "a type without an estimate");
    }
}
