//! Calls of the `tokenizers` crate: it panics on some damaged files, which are errors here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_types::panic_text;

/// The result of `call`, or the message of its error or panic. Nothing that it changed is used
/// after a panic.
pub(super) fn guarded<T>(call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(payload) => Err(format!(
            "the `tokenizers` crate cannot use `tokenizer.json`: {}",
            panic_text(&*payload)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error() {
        let error = guarded::<()>(|| panic!("index {}", 7)).expect_err("it panics");
        assert_eq!(
            error,
            "the `tokenizers` crate cannot use `tokenizer.json`: index 7"
        );
        assert_eq!(guarded(|| Ok(3)), Ok(3));
        assert_eq!(guarded::<()>(|| Err("no".into())), Err("no".to_owned()));
    }
}
