//! The description of a call: its lengths, each with the places that have it.

use crate::calls::{Call, Element};

/// A length, and every place that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub(crate) length: usize,
    pub(crate) places: Vec<DimensionSlot>,
}

/// A place of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DimensionSlot {
    /// A dimension of an input, whose length is `outer` * length * `inner`.
    Input {
        input: usize,
        dim: usize,
        outer: usize,
        inner: usize,
    },
    /// An entry of the shape among the attributes.
    Shape(usize),
    /// An entry of the window among the attributes.
    Kernel(usize),
    /// The number of groups.
    Groups,
    /// The part that a slice selects from, from its start to its end.
    Range,
}

/// The description of a call.
#[derive(Debug)]
pub(crate) struct Dimensions<'c> {
    call: &'c Call,
    pub(crate) all: Vec<Dimension>,
    /// The number of elements of the result.
    pub(crate) result: usize,
}

/// The difference from a call of the operator.
pub(crate) type Problem = String;

/// A dimension of an input, whole.
pub(crate) fn input(input: usize, dim: usize) -> DimensionSlot {
    DimensionSlot::Input {
        input,
        dim,
        outer: 1,
        inner: 1,
    }
}

/// The product of lengths, or `None` if it is larger than any tensor.
pub(crate) fn product(lengths: &[usize]) -> Option<usize> {
    let elements = lengths
        .iter()
        .try_fold(1_usize, |product, length| product.checked_mul(*length));
    // Terabytes in every type; below it, no later product of a length and a stride overflows.
    elements.filter(|elements| *elements < 1 << 40)
}

impl<'c> Dimensions<'c> {
    /// A description without any length, of a call whose inputs have as many elements as their
    /// shapes say.
    pub(super) fn of_filled(call: &'c Call) -> Result<Self, Problem> {
        let dimensions = Self {
            call,
            all: Vec::new(),
            result: 0,
        };
        dimensions.all_inputs_are_filled()?;
        Ok(dimensions)
    }

    pub(crate) fn call(&self) -> &'c Call {
        self.call
    }

    /// The shape of an input; with a rank, of that rank.
    pub(crate) fn shape(&self, index: usize, rank: Option<usize>) -> Result<&'c [usize], Problem> {
        let tensor = self
            .call
            .tensor(index)
            .ok_or_else(|| format!("input {index} is missing"))?;
        match rank {
            Some(rank) if tensor.shape.len() != rank => Err(format!(
                "input {index} has shape {:?}, expected {rank} dimensions",
                tensor.shape
            )),
            _ => Ok(&tensor.shape),
        }
    }

    /// At most `count` inputs.
    pub(crate) fn at_most(&self, count: usize) -> Result<(), Problem> {
        let given = self.call.inputs.len();
        if given > count {
            Err(format!("it has {given} inputs, expected {count}"))
        } else {
            Ok(())
        }
    }

    /// A number of the attributes that must be less than `limit`.
    pub(crate) fn dim(&self, limit: usize) -> Result<usize, Problem> {
        let dim = self.call.attributes.dim.ok_or("the dimension is missing")?;
        if dim < limit {
            Ok(dim)
        } else {
            Err(format!("dimension {dim} does not exist"))
        }
    }

    /// Adds a length, and verifies that every place has it.
    pub(crate) fn tie(&mut self, length: usize, places: Vec<DimensionSlot>) -> Result<(), Problem> {
        for place in &places {
            let found = self.length(*place);
            if found != Some(length) {
                return Err(format!(
                    "{} has length {}, expected {length}",
                    place.name(),
                    found.unwrap_or_default()
                ));
            }
        }
        self.all.push(Dimension { length, places });
        Ok(())
    }

    /// The indices of an input are whole and less than `limit`.
    pub(crate) fn indices(&self, index: usize, limit: usize) -> Result<(), Problem> {
        let tensor = self
            .call
            .tensor(index)
            .ok_or_else(|| format!("input {index} is missing"))?;
        // Numbers of I32 are whole: tensors are rounded to their type when they are made or read.
        match tensor.element == Element::I32
            && tensor
                .values
                .iter()
                .all(|value| *value >= 0.0 && *value < limit as f64)
        {
            true => Ok(()),
            false => Err(format!("input {index} is not of indices below {limit}")),
        }
    }

    fn length(&self, place: DimensionSlot) -> Option<usize> {
        let attributes = &self.call.attributes;
        match place {
            DimensionSlot::Input {
                input,
                dim,
                outer,
                inner,
            } => {
                let whole = *self.call.tensor(input)?.shape.get(dim)?;
                // A damaged file can have attributes that divide by zero, or a product beyond 64
                // bits.
                let blocks = outer.checked_mul(inner).filter(|blocks| *blocks > 0)?;
                whole.is_multiple_of(blocks).then_some(whole / blocks)
            }
            DimensionSlot::Shape(index) => attributes.shape.get(index).copied(),
            DimensionSlot::Kernel(index) => attributes.kernel.get(index).copied(),
            DimensionSlot::Groups => Some(attributes.groups),
            DimensionSlot::Range => attributes.range[1].checked_sub(attributes.range[0]),
        }
    }

    fn all_inputs_are_filled(&self) -> Result<(), Problem> {
        if self.call.inputs.is_empty() {
            return Err("it has no inputs".to_owned());
        }
        match self
            .call
            .inputs
            .iter()
            .map(|input| &input.tensor)
            .find(|tensor| product(&tensor.shape) != Some(tensor.values.len()))
        {
            Some(tensor) => Err(format!(
                "a tensor of shape {:?} has {} elements",
                tensor.shape,
                tensor.len()
            )),
            None => Ok(()),
        }
    }
}

impl DimensionSlot {
    fn name(self) -> String {
        match self {
            Self::Input {
                input,
                dim,
                outer: 1,
                inner: 1,
            } => format!("dimension {dim} of input {input}"),
            Self::Input { input, dim, .. } => format!("a part of dimension {dim} of input {input}"),
            Self::Shape(index) => format!("entry {index} of `shape`"),
            Self::Kernel(index) => format!("entry {index} of `kernel`"),
            Self::Groups => "`groups`".to_owned(),
            Self::Range => "`range`".to_owned(),
        }
    }
}
