//! `load_keys_exact`: every tensor of the checkpoint is read, with the shape the configuration says, and none is missing.
//!
//! A missing, renamed or transposed tensor already makes the load fail, and with it the check, by the tensor's name.

use super::{Examination, Found, Stop};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let subject = exam.subject()?;
    let account = subject.model().tensors();
    if !account.unused.is_empty() {
        let (count, names) = (account.unused.len(), account.unused.join("`, `"));
        return Err(Stop::Fail(format!("{count} tensors of the checkpoint were never read: `{names}`")));
    }
    if account.read.is_empty() {
        return Err(Stop::Fail("no tensor of the checkpoint was read".to_owned()));
    }
    Ok(Some(format!("{} tensors read", account.read.len())))
}
