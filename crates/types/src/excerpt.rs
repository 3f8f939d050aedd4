//! The beginning of a text for a message, so that no message repeats a large input.

use std::borrow::Cow;

/// The number of characters of an input that a message repeats.
const LENGTH: usize = 200;

/// `text`, or its first characters and `...`: at most 200 characters.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LENGTH).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().take(LENGTH - 3).chain("...".chars()).collect())
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(excerpt(&"é".repeat(201)), format!("{}...", "é".repeat(197)));
    }
}
