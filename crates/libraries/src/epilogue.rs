//! The steps between a product and its result, which cuBLASLt and hipBLASLt compute in the same
//! kernel.

use std::fmt;
use testgen_operators::cases::{Arithmetic as Bounds, BoundedNumber, activated};
use testgen_types::Operator;

/// A bias is added to the product and C, then an activation is applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epilogue {
    /// Whether a number for each row of D is added, the same for all columns and all products of a
    /// batch.
    pub bias: bool,
    /// The activation.
    pub activation: EpilogueActivation,
}

/// The activation of an [`Epilogue`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EpilogueActivation {
    /// The number itself.
    #[default]
    Identity,
    /// Negative numbers become 0.
    Relu,
    /// GELU in the form with tanh. The headers say only GELU; PyTorch uses it for this form.
    Gelu,
}

impl Epilogue {
    /// A product as it is.
    pub const NONE: Self = Self {
        bias: false,
        activation: EpilogueActivation::Identity,
    };

    /// Every epilogue except [`Epilogue::NONE`].
    pub const ALL: [Self; 5] = {
        use EpilogueActivation::{Gelu, Identity, Relu};
        const fn new(bias: bool, activation: EpilogueActivation) -> Epilogue {
            Epilogue { bias, activation }
        }
        [
            new(true, Identity),
            new(false, Relu),
            new(true, Relu),
            new(false, Gelu),
            new(true, Gelu),
        ]
    };

    /// Its number in both libraries: a bit for each step, or 1 without any.
    pub const fn number(self) -> u32 {
        let activation = match self.activation {
            EpilogueActivation::Identity => 0,
            EpilogueActivation::Relu => 2,
            EpilogueActivation::Gelu => 32,
        };
        match (activation, self.bias) {
            (0, false) => 1,
            (activation, bias) => activation + 4 * bias as u32,
        }
    }

    /// The result of `number` with its bound; `bias` is the number of its row.
    pub(crate) fn apply(self, bounds: Bounds, number: BoundedNumber, bias: f64) -> BoundedNumber {
        let sum = if self.bias {
            bounds.add(number, BoundedNumber::exact(bias))
        } else {
            number
        };
        match self.activation {
            EpilogueActivation::Identity => sum,
            EpilogueActivation::Relu => activated(bounds, Operator::Relu, false, sum),
            EpilogueActivation::Gelu => activated(bounds, Operator::Gelu, true, sum),
        }
    }
}

impl fmt::Display for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let activation = match self.activation {
            EpilogueActivation::Identity => None,
            EpilogueActivation::Relu => Some("relu"),
            EpilogueActivation::Gelu => Some("gelu"),
        };
        match (self.bias, activation) {
            (false, None) => f.write_str("none"),
            (true, None) => f.write_str("bias"),
            (false, Some(activation)) => f.write_str(activation),
            (true, Some(activation)) => write!(f, "bias {activation}"),
        }
    }
}
