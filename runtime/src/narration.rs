//! What a run tells on the side: one plain line on standard error, on request.

use std::fmt::Display;

/// The variable that turns the lines on; any value but an empty one and `0`.
const VERBOSE_VARIABLE: &str = "TESTGEN_VERBOSE";

/// Prints `label: text` when `TESTGEN_VERBOSE` asks for it.
pub(crate) fn narrate(label: &str, text: impl Display) {
    if is_on() {
        eprintln!("{}", line(label, &text.to_string()));
    }
}

/// Whether `TESTGEN_VERBOSE` asks for the lines.
pub(crate) fn is_on() -> bool {
    is_verbose(std::env::var_os(VERBOSE_VARIABLE).as_deref())
}

fn is_verbose(value: Option<&std::ffi::OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// A label and a text in one line: what breaks a line becomes `; `.
fn line(label: &str, text: &str) -> String {
    let parts: Vec<&str> = text.lines().map(str::trim).filter(|part| !part.is_empty()).collect();
    format!("{label}: {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{is_verbose, line};

    #[test]
    fn only_a_value_turns_it_on() {
        assert!(is_verbose(Some("1".as_ref())));
        for off in [None, Some("".as_ref()), Some("0".as_ref())] {
            assert!(!is_verbose(off), "{off:?}");
        }
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(line("rocm:0", "first\n  second\n\n"), "rocm:0: first; second");
    }
}
