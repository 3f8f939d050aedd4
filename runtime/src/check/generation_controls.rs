//! `generation_controls`: end token, length limits, seed, and temperature towards zero do what they say.

use super::{Examination, Found, Stop};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let _ = exam;
    Err(Stop::Fail("generation is not there yet".to_owned()))
}
