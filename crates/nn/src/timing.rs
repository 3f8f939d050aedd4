//! Calls of a model that are timed: from inputs on the host to outputs that stay on the device.

use crate::array::Arrays;
use std::{
    collections::BTreeMap,
    ops::AddAssign,
    time::{Duration, Instant},
};

/// A call that is timed.
#[derive(Debug, Clone, Copy)]
pub enum TimedCall<'a> {
    /// The whole network on these inputs.
    Forward(&'a Arrays),
    /// A sequence with a key-value cache: the prompt [batch, seq], then its last token again, this
    /// many times.
    Decode {
        /// The inputs of the first step.
        prompt: &'a Arrays,
        /// The steps after the prompt.
        steps: u32,
    },
}

/// The milliseconds of the timed calls, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallTimes {
    /// Of each forward call, or of each prompt.
    pub calls: Vec<f64>,
    /// Of each step after each prompt; empty for forward calls.
    pub steps: Vec<f64>,
}

/// The milliseconds of every product and convolution of a model, by its operation and shapes.
pub type CallsByShape = BTreeMap<String, Vec<f64>>;

/// The time that streamed layers took in a call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LayerTimes {
    /// Of reading and copying them; complete if they were loaded and computed by turns.
    pub load: Duration,
    /// Of computing them, likewise.
    pub compute: Duration,
    /// From the first load to the last result.
    pub together: Duration,
}

impl AddAssign for LayerTimes {
    fn add_assign(&mut self, other: Self) {
        self.load += other.load;
        self.compute += other.compute;
        self.together += other.together;
    }
}

/// The milliseconds of `work`, which returns when the device has done it.
///
/// # Errors
///
/// The milliseconds that `work` took.
pub fn milliseconds<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The inputs of a step after `prompt`: its last token in `name`, and for a decoder with an encoder
/// the encoder's mask. `None` without tokens.
pub fn step_after(prompt: &Arrays, name: &str) -> Option<Arrays> {
    let ids = prompt.get(name)?;
    let last = ids.shape().get(1)?.checked_sub(1)?;
    let mut step = Arrays::from([(name.to_owned(), ids.narrow(1, last, 1))]);
    // Without an encoder the mask would have to grow with the sequence, and nothing is padded.
    let mask = prompt.get("attention_mask").filter(|_| name != "input_ids");
    step.extend(mask.map(|mask| ("attention_mask".to_owned(), mask.clone())));
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::{milliseconds, step_after};
    use crate::array::{Array, Arrays};

    #[test]
    fn a_step_reads_the_last_token_and_the_mask_of_the_encoder() {
        let ids = |name: &str| (name.to_owned(), Array::integers([1, 3], vec![4, 5, 6]));
        let mask = (
            "attention_mask".to_owned(),
            Array::integers([1, 3], vec![1; 3]),
        );
        let last = Array::integers([1, 1], vec![6]);
        let decoder = step_after(&Arrays::from([ids("input_ids"), mask.clone()]), "input_ids");
        let expected = Arrays::from([("input_ids".to_owned(), last.clone())]);
        assert_eq!(decoder, Some(expected));
        let prompt = Arrays::from([ids("decoder_input_ids"), ids("input_ids"), mask.clone()]);
        let expected = Arrays::from([("decoder_input_ids".to_owned(), last), mask]);
        assert_eq!(step_after(&prompt, "decoder_input_ids"), Some(expected));
        assert_eq!(step_after(&Arrays::new(), "input_ids"), None);
    }

    #[test]
    fn work_that_fails_has_no_time() {
        assert_eq!(milliseconds(|| Err("fails")), Err("fails"));
        assert!(milliseconds(|| Ok::<_, ()>(())).is_ok_and(|time| time >= 0.0));
    }
}
