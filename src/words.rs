//! The closed words of the contract, seen alike: all of one kind, and the text of each.

use std::{fmt::Display, str::FromStr};
use testgen_contract::{Architecture, Check, DeviceKind, ModelType, Precision, Task, UnknownWord};

/// A closed enum of the contract.
pub(crate) trait Word: Copy + PartialEq + Display + FromStr<Err = UnknownWord> + 'static {
    /// Every word, in declaration order.
    fn all() -> &'static [Self];

    /// The written form.
    fn text(self) -> &'static str;
}

macro_rules! word {
    ($($name:ident),+) => {
        $(impl Word for $name {
            fn all() -> &'static [Self] {
                Self::ALL
            }

            fn text(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

word!(Architecture, Check, DeviceKind, ModelType, Precision, Task);
