//! The features that checks need of an engine's model besides its outputs. A model without them has
//! nothing to compare, which is not an agreement.

use super::outcome::Abort;
use crate::subject::LoadedSubject;
use testgen_engine::Feature;
use testgen_types::{Check, for_each_check};

/// Ends `check` as ignored if the engine's model lacks what it needs.
pub(in crate::check) fn confirm(check: Check, loaded: Option<&LoadedSubject>) -> Result<(), Abort> {
    match needed(check).and_then(|feature| loaded?.lacks(feature)) {
        Some(reason) => Err(Abort::Skip(format!(
            "the engine does not support it: {reason}"
        ))),
        None => Ok(()),
    }
}

macro_rules! define_needed {
    ($(
        $(#[$property:meta])+
        $check:ident $name:literal
        [$($subjects:tt)+] $(needs($feature:ident))?
        { $($facts:tt)* }
    )+) => {
        fn needed(check: Check) -> Option<Feature> {
            match check {
                $($(Check::$check => Some(Feature::$feature),)?)+
                _ => None,
            }
        }
    };
}

for_each_check!(define_needed);
