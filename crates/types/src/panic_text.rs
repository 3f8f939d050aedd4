//! The text of a caught panic.

use std::any::Any;

/// The message of a panic from its payload, which is a string unless code panics with a value.
pub fn panic_text(payload: &(dyn Any + Send)) -> &str {
    // `panic!` with arguments has a `String` as its payload, with a literal alone a `&str`.
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::panic_text;
    use std::panic::{catch_unwind, panic_any};

    #[test]
    fn a_payload_of_any_type_has_a_text() {
        let text = |panics: fn()| {
            panic_text(catch_unwind(panics).expect_err("it panics").as_ref()).to_owned()
        };
        assert_eq!(text(|| panic!("literal")), "literal");
        assert_eq!(
            text(|| panic!("index {}", std::hint::black_box(7))),
            "index 7"
        );
        assert_eq!(text(|| panic_any(7)), "a panic without a message");
    }
}
