//! A mixture of experts in which two experts are equally likely for one token, so that the choice
//! may depend on the shape of a call.

use testgen_models::{Capabilities, ErasedModel};
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError, Session},
};

/// The position of the token in every row.
pub(super) const TOKEN: usize = 5;
/// The longest sequence, for a short sweep.
const LONGEST: usize = 33;
/// The rows of the largest batch of the sweep.
const LARGEST: usize = 5;

/// The network. A batch chooses another expert than the largest one of its length, and a sequence
/// another one than the longest.
pub(super) struct CloseChoice(pub(super) Box<dyn ErasedModel>);

impl ErasedModel for CloseChoice {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let mut forward = self.0.forward(inputs, traced)?;
        let [rows, columns] = inputs["input_ids"].shape().try_into().unwrap();
        let place = |name: &str| forward.trace.iter().position(|(found, _)| found == name);
        let (Some(router), Some(routing), true) =
            (place("router.1"), place("routing.1"), columns > TOKEN)
        else {
            return Ok(forward);
        };
        let [mut probabilities, mut weights] =
            [router, routing].map(|place| forward.trace[place].1.as_floats().unwrap().to_vec());
        let experts = weights.len() / (rows * columns);
        // So calls that differ in one of the two choose differently.
        let other = (rows == LARGEST) != (columns == LONGEST);
        for row in 0..rows {
            let first = (row * columns + TOKEN) * experts;
            let token = first..first + experts;
            tie(
                &mut probabilities[token.clone()],
                &mut weights[token],
                other,
            );
        }
        let shape = [rows, columns, experts];
        forward.trace[router].1 = Array::floats(shape, probabilities);
        forward.trace[routing].1 = Array::floats(shape, weights);
        Ok(forward)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        self.0.session()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: Some(LONGEST),
            ..self.0.capabilities()
        }
    }
}

/// Makes the last chosen expert as likely as the next one, and chooses that if `other`.
fn tie(probabilities: &mut [f32], weights: &mut [f32], other: bool) {
    let by_probability =
        |one: &usize, two: &usize| probabilities[*one].total_cmp(&probabilities[*two]);
    let is_chosen = |expert: &usize| weights[*expert] != 0.0;
    let last = (0..weights.len())
        .filter(is_chosen)
        .min_by(by_probability)
        .unwrap();
    let next = (0..weights.len())
        .filter(|expert| !is_chosen(expert))
        .max_by(by_probability)
        .unwrap();
    let equal = f32::midpoint(probabilities[last], probabilities[next]);
    probabilities[last] = equal;
    // One bit more, because a margin of zero is only below an error that is not.
    probabilities[next] = if other { equal.next_up() } else { equal };
    if other {
        weights.swap(last, next);
    }
}
