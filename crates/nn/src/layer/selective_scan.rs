//! The selective scan of state space models (Gu and Dao 2023): every token lets a state decay and
//! adds to it.
//!
//! Within a chunk of tokens the states are combined pairwise, at distances 1, 2, 4, ...: few
//! operations on whole tensors instead of one for each token. The state is passed from chunk to
//! chunk; a decode step is a chunk of one token.

use crate::backend::Ops;
use burn_tensor::Tensor;

/// Tokens of a chunk.
// Each takes a state of channels times width numbers, and eight are combined in three rounds.
const STRETCH: usize = 8;

/// The effect of the tokens on the state, f32.
pub struct Scan<B: Ops> {
    /// The factor by which the state decays: [batch, seq, channels, state or 1].
    pub decay: Tensor<B, 4>,
    /// The summand of the state: [batch, seq, channels, state].
    pub input: Tensor<B, 4>,
    /// How it is read: [batch, seq, channels or 1, state].
    pub readout: Tensor<B, 4>,
}

/// The result of a [`Scan`].
pub struct Scanned<B: Ops> {
    /// The output: [batch, seq, channels].
    pub read: Tensor<B, 3>,
    /// The state after the last token: [batch, channels, state].
    pub state: Tensor<B, 3>,
}

impl<B: Ops> Scan<B> {
    /// Reads the tokens after `state` [batch, channels, state], zeros at the beginning.
    pub fn run(self, state: Option<Tensor<B, 3>>) -> Scanned<B> {
        let [batch, seq, channels, width] = self.input.dims();
        let options = (&self.input.device(), self.input.dtype());
        let mut state = match state {
            Some(state) => state.reshape([batch, 1, channels, width]),
            None => Tensor::zeros([batch, 1, channels, width], options),
        };
        let mut outputs = Vec::new();
        for start in (0..seq).step_by(STRETCH) {
            let length = STRETCH.min(seq - start);
            let part = |x: &Tensor<B, 4>| x.clone().narrow(1, start, length);
            let states = states(part(&self.decay), part(&self.input), state);
            state = states.clone().narrow(1, length - 1, 1);
            let read = (states * part(&self.readout)).sum_dim(3);
            outputs.push(read.reshape([batch, length, channels]));
        }
        Scanned {
            read: Tensor::cat(outputs, 1),
            state: state.reshape([batch, channels, width]),
        }
    }
}

/// ln(1 + eˣ), without overflow.
pub fn softplus<B: Ops>(x: Tensor<B, 3>) -> Tensor<B, 3> {
    // The exponent is never positive, so that it cannot overflow.
    x.clone().clamp_min(0.0) + x.abs().neg().exp().log1p()
}

/// The state after each token of a chunk.
fn states<B: Ops>(decay: Tensor<B, 4>, input: Tensor<B, 4>, before: Tensor<B, 4>) -> Tensor<B, 4> {
    let length = input.dims()[1];
    let first = input.clone().narrow(1, 0, 1) + decay.clone().narrow(1, 0, 1) * before;
    let mut states = match length {
        // A decode step has one token: there is nothing to combine.
        1 => return first,
        _ => Tensor::cat(vec![first, input.narrow(1, 1, length - 1)], 1),
    };
    let mut decay = decay;
    let mut distance = 1;
    // Each round doubles how many tokens a state includes, so that three rounds suffice for a
    // chunk.
    while distance < length {
        let kept = length - distance;
        let late = decay.clone().narrow(1, distance, kept);
        let moved = states.clone().narrow(1, distance, kept)
            + late.clone() * states.clone().narrow(1, 0, kept);
        let joined = late * decay.clone().narrow(1, 0, kept);
        states = Tensor::cat(vec![states.narrow(1, 0, distance), moved], 1);
        decay = Tensor::cat(vec![decay.narrow(1, 0, distance), joined], 1);
        distance *= 2;
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;
    use burn_tensor::TensorData;

    fn tensor(length: usize, value: impl Fn(usize) -> f32) -> Tensor<Cpu, 4> {
        let values: Vec<f32> = (0..length * 6).map(value).collect();
        Tensor::from_data(
            TensorData::new(values, [1, length, 2, 3]),
            &Default::default(),
        )
    }

    /// A scan of `length` tokens that look random.
    fn scan(length: usize) -> Scan<Cpu> {
        let wave = |step: f32| move |index: usize| (index as f32 * step).sin();
        Scan {
            decay: tensor(length, |index| 0.5 + 0.45 * wave(0.7)(index)),
            input: tensor(length, wave(1.3)),
            readout: tensor(length, wave(2.1)),
        }
    }

    #[test]
    fn scan_and_steps_are_the_same() {
        let whole = scan(70);
        let mut state = None;
        let mut stepped = Vec::new();
        for token in 0..70 {
            let at = |x: &Tensor<Cpu, 4>| x.clone().narrow(1, token, 1);
            let step = Scan {
                decay: at(&whole.decay),
                input: at(&whole.input),
                readout: at(&whole.readout),
            };
            let next = step.run(state);
            state = Some(next.state);
            stepped.push(next.read);
        }
        let Scanned { read, state: last } = whole.run(None);
        let difference = (read - Tensor::cat(stepped, 1)).abs().max().into_scalar();
        let states = (last - state.expect("a state was kept"))
            .abs()
            .max()
            .into_scalar();
        assert!(difference < 1e-6 && states < 1e-6, "{difference} {states}");
    }
}
