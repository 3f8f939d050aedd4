//! One trait over the closed enums of `testgen_types`, for code that handles all of them alike.

use std::{fmt::Display, str::FromStr};
use testgen_types::{
    Architecture, Check, DeviceKind, ModelType, Operator, OperatorGroup, Precision,
    QuantizationScheme, Task, UnknownName,
};

/// An enum whose variants have a written form.
pub trait ClosedEnum: Copy + PartialEq + Display + FromStr<Err = UnknownName> + 'static {
    /// All variants in declaration order.
    fn all() -> &'static [Self];

    /// The written form.
    fn text(self) -> &'static str;

    /// The help of an error about an unknown name.
    fn known() -> String {
        let names: Vec<String> = Self::all()
            .iter()
            .map(|variant| format!("`{variant}`"))
            .collect();
        format!("known are {}", names.join(", "))
    }
}

macro_rules! closed_enums {
    ($($name:ident),+) => {
        $(impl ClosedEnum for $name {
            fn all() -> &'static [Self] {
                Self::ALL
            }

            fn text(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

closed_enums!(
    Architecture,
    Check,
    DeviceKind,
    OperatorGroup,
    Precision,
    QuantizationScheme,
    Task
);

impl ClosedEnum for ModelType {
    fn all() -> &'static [Self] {
        Self::ALL
    }

    fn text(self) -> &'static str {
        self.as_str()
    }

    /// There are too many to print them all in a message.
    fn known() -> String {
        "`testgen show models` lists the known types".to_owned()
    }
}

impl ClosedEnum for Operator {
    fn all() -> &'static [Self] {
        Self::ALL
    }

    fn text(self) -> &'static str {
        self.as_str()
    }

    /// There are too many to print them all in a message.
    fn known() -> String {
        "docs/reference/spec.md lists the operators".to_owned()
    }
}
