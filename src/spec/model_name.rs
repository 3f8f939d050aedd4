//! Names of models, and the Rust module that each becomes.

use serde::Serialize;
use std::fmt;

/// The longest name allowed; it becomes part of file names and of test names.
pub const MAX_NAME_LENGTH: usize = 64;

/// A model's name: letters, digits, `_`, `-` and `.` of ASCII, the first a letter or a digit.
///
/// Such a name is a valid path component on every system, never `.` or `..`, and needs no quotes in
/// a shell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ModelName(String);

/// Why a string is not a valid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// It has more than [`MAX_NAME_LENGTH`] bytes.
    #[error("a name has at most {MAX_NAME_LENGTH} characters")]
    TooLong,
    /// It begins with a sign.
    #[error("a name begins with a letter or a digit, not with `{}`", .0.escape_debug())]
    BadStart(char),
    /// It contains another character.
    #[error("a name has letters, digits, `_`, `-` and `.` of ASCII only, not `{}`", .0.escape_debug())]
    BadCharacter(char),
}

impl ModelName {
    /// Checks a name.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let first = text.chars().next().ok_or(NameError::Empty)?;
        if !first.is_ascii_alphanumeric() {
            return Err(NameError::BadStart(first));
        }
        if let Some(bad) = text
            .chars()
            .find(|&c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        {
            return Err(NameError::BadCharacter(bad));
        }
        // All characters are ASCII here, so that bytes are characters.
        if text.len() > MAX_NAME_LENGTH {
            return Err(NameError::TooLong);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as the spec writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Rust module: snake case, `_` for signs, `_` before a digit, `_` after a keyword.
    pub fn module(&self) -> String {
        let mut module = String::with_capacity(self.0.len() + 1);
        let mut previous = ' ';
        for c in self.0.chars() {
            let starts_word = c.is_ascii_uppercase() && previous.is_ascii_lowercase();
            let separates = !c.is_ascii_alphanumeric();
            // The compiler warns of `__` in a name, as of upper case.
            if (starts_word || separates) && !module.ends_with('_') {
                module.push('_');
            }
            if !separates {
                module.push(c.to_ascii_lowercase());
            }
            previous = c;
        }
        let module = module.trim_end_matches('_');
        match module.as_bytes() {
            [first, ..] if first.is_ascii_digit() => format!("_{module}"),
            _ if is_keyword(module) => format!("{module}_"),
            _ => module.to_owned(),
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `write_str` would ignore the width that a table asks for.
        f.pad(&self.0)
    }
}

/// Whether `word` cannot name a module.
pub(crate) fn is_keyword(word: &str) -> bool {
    // syn rejects all keywords as identifiers except `gen`, which edition 2024 added.
    word == "gen" || syn::parse_str::<syn::Ident>(word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_snake_case_identifiers() {
        let cases = [
            ("bert", "bert"),
            ("bert-base-uncased", "bert_base_uncased"),
            ("Qwen2.5-0.5B", "qwen2_5_0_5b"),
            ("BertBase", "bert_base"),
            ("a--b__c..d", "a_b_c_d"),
            ("7b", "_7b"),
            ("match", "match_"),
            ("self", "self_"),
            ("mod", "mod_"),
            ("gen", "gen_"),
            ("x_", "x"),
        ];
        for (name, module) in cases {
            let name = ModelName::new(name).expect("a good name");
            assert_eq!(name.module(), module);
            assert!(!is_keyword(&name.module()));
        }
    }

    #[test]
    fn hostile_names_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "*/",
            "é",
            "a b",
            "-x",
            "\"",
            "_x",
        ] {
            assert!(ModelName::new(name).is_err(), "{name:?}");
        }
        assert_eq!(ModelName::new(&"x".repeat(65)), Err(NameError::TooLong));
        assert!(ModelName::new(&"x".repeat(64)).is_ok());
    }
}
