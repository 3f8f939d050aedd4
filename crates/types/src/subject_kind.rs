//! The kinds of subjects: what a spec can test.

use crate::closed_enum::closed_enum;

closed_enum! {
    /// A kind of subject. It decides the keys of a spec, and what a harness loads.
    SubjectKind: "subject" {
        /// A model with its checkpoint.
        Model = "model",
        /// Operators with their shapes, which have no checkpoint.
        Operators = "operators",
    }
}
