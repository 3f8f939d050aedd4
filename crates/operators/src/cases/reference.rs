//! The reference result of a call: exact values with a bound for each.

use crate::{
    calls::{Call, Element, HostTensor, broadcast_shape},
    cases::{arithmetic::Arithmetic, number::BoundedNumber},
};

/// The reference result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: Element,
    /// Its elements, row-major.
    pub numbers: Vec<BoundedNumber>,
    /// Whether the elements are sums of many terms, whose errors must look like independent
    /// roundings.
    pub sums: bool,
    /// Whether the sign of a zero is defined.
    pub signed_zeros: bool,
}

impl Reference {
    /// Numbers that were computed, as they are stored in the type of results.
    pub(crate) fn computed(
        arithmetic: Arithmetic,
        shape: impl Into<Vec<usize>>,
        numbers: Vec<BoundedNumber>,
    ) -> Self {
        let numbers = numbers
            .into_iter()
            .map(|number| arithmetic.stored(number))
            .collect();
        Self {
            shape: shape.into(),
            element: arithmetic.element(),
            numbers,
            sums: false,
            signed_zeros: false,
        }
    }

    /// As [`Reference::computed`], for sums of many terms.
    pub(crate) fn summed(
        arithmetic: Arithmetic,
        shape: impl Into<Vec<usize>>,
        numbers: Vec<BoundedNumber>,
    ) -> Self {
        Self {
            sums: true,
            ..Self::computed(arithmetic, shape, numbers)
        }
    }

    /// Elements of inputs, moved and not computed.
    pub(crate) fn moved(tensor: HostTensor) -> Self {
        let numbers = tensor
            .values
            .iter()
            .map(|value| BoundedNumber::exact(*value))
            .collect();
        Self {
            shape: tensor.shape,
            element: tensor.element,
            numbers,
            sums: false,
            // A copy has the same bits, also the sign of a zero.
            signed_zeros: true,
        }
    }

    /// Truth values.
    pub(crate) fn booleans(shape: impl Into<Vec<usize>>, truths: Vec<bool>) -> Self {
        let numbers = truths
            .into_iter()
            .map(|truth| BoundedNumber::exact(f64::from(u8::from(truth))))
            .collect();
        Self {
            shape: shape.into(),
            element: Element::Bool,
            numbers,
            sums: false,
            signed_zeros: false,
        }
    }

    /// The reference with the sign of zeros compared.
    #[must_use]
    pub(crate) fn with_signed_zeros(self) -> Self {
        Self {
            signed_zeros: true,
            ..self
        }
    }

    /// The values, rounded to the type of results.
    pub fn tensor(&self) -> HostTensor {
        HostTensor::new(
            self.shape.clone(),
            self.element,
            self.numbers.iter().map(|number| number.value).collect(),
        )
    }
}

/// Computes each element from the elements of all inputs at its position; inputs are broadcast.
pub(crate) fn elementwise(
    call: &Call,
    mut compute: impl FnMut(&[f64]) -> BoundedNumber,
) -> (Vec<usize>, Vec<BoundedNumber>) {
    let shape = common_shape(call);
    let inputs: Vec<HostTensor> = call
        .inputs
        .iter()
        .map(|input| input.tensor.expanded(&shape))
        .collect();
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|index| {
        let row: Vec<f64> = inputs.iter().map(|input| input.values[index]).collect();
        compute(&row)
    });
    (shape, numbers.collect())
}

/// The shape of all inputs broadcast together.
pub(crate) fn common_shape(call: &Call) -> Vec<usize> {
    let shapes: Vec<&[usize]> = call
        .inputs
        .iter()
        .map(|input| input.tensor.shape.as_slice())
        .collect();
    // The shape of the first one if they do not fit, which no case has.
    broadcast_shape(&shapes).unwrap_or_else(|| {
        shapes
            .first()
            .map(|shape| shape.to_vec())
            .unwrap_or_default()
    })
}

/// The elements of an input as exact numbers.
pub(crate) fn exact(tensor: &HostTensor) -> Vec<BoundedNumber> {
    tensor
        .values
        .iter()
        .map(|value| BoundedNumber::exact(*value))
        .collect()
}

/// The elements of `shape` as lines along dimension `dim`: for each line the flat index of its
/// elements.
pub(crate) fn lines(shape: &[usize], dim: usize) -> Vec<Vec<usize>> {
    let inner: usize = shape[dim + 1..].iter().product();
    let outer: usize = shape[..dim].iter().product();
    let starts = (0..outer).flat_map(|outer| (0..inner).map(move |place| (outer, place)));
    starts
        .map(|(outer, place)| {
            (0..shape[dim])
                .map(|index| (outer * shape[dim] + index) * inner + place)
                .collect()
        })
        .collect()
}
