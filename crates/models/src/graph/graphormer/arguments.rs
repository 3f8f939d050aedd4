//! The collator's output on the host: the arguments of a call, with their shapes checked against
//! each other.

use testgen_nn::{array::Array, backend::Ops, forward::ForwardError, inputs::Inputs};

/// The number of graphs, of the nodes of the largest, and of what is known of a node.
pub(super) fn size<B: Ops>(inputs: &Inputs<'_, B>) -> Result<[usize; 3], ForwardError> {
    Ok(integers::<B, 3>(inputs, "input_nodes", &[])?.1)
}

/// Integers of `D` dimensions, the first of which are `leading`, and their shape.
pub(super) fn integers<'a, B: Ops, const D: usize>(
    inputs: &Inputs<'a, B>,
    name: &'static str,
    leading: &[usize],
) -> Result<(&'a [i64], [usize; D]), ForwardError> {
    let (array, shape) = argument(inputs, name, leading, "integers")?;
    array
        .as_integers()
        .map(|values| (values, shape))
        .ok_or_else(|| wrong::<D>(name, array, leading, "integers"))
}

/// Floats of `D` dimensions, the first of which are `leading`.
pub(super) fn floats<'a, B: Ops, const D: usize>(
    inputs: &Inputs<'a, B>,
    name: &'static str,
    leading: &[usize],
) -> Result<&'a [f32], ForwardError> {
    let (array, _) = argument::<B, D>(inputs, name, leading, "floats")?;
    array
        .as_floats()
        .ok_or_else(|| wrong::<D>(name, array, leading, "floats"))
}

/// The mask of the real nodes in [batch, nodes].
pub(super) fn real_nodes<B: Ops>(inputs: &Inputs<'_, B>) -> Result<Vec<bool>, ForwardError> {
    let (values, [_, _, features]) = integers::<B, 3>(inputs, "input_nodes", &[])?;
    Ok(values
        .iter()
        // `step_by` panics at 0, which `argument` has refused.
        .step_by(features.max(1))
        // The first number of padding is 0.
        .map(|first| *first != 0)
        .collect())
}

fn argument<'a, B: Ops, const D: usize>(
    inputs: &Inputs<'a, B>,
    name: &'static str,
    leading: &[usize],
    kind: &str,
) -> Result<(&'a Array, [usize; D]), ForwardError> {
    let array = inputs
        .host(name)
        .ok_or(ForwardError::MissingInput { name })?;
    let fits = array.shape().starts_with(leading) && !array.shape().contains(&0);
    let shape = array.shape().try_into().ok().filter(|_| fits);
    Ok((
        array,
        shape.ok_or_else(|| wrong::<D>(name, array, leading, kind))?,
    ))
}

fn wrong<const D: usize>(name: &str, array: &Array, leading: &[usize], kind: &str) -> ForwardError {
    ForwardError::WrongInput {
        name: name.to_owned(),
        found: format!("a tensor of shape {:?}", array.shape()),
        expected: format!(
            "{kind} of {D} dimensions, none of them empty, the first of which are {leading:?}"
        ),
    }
}
