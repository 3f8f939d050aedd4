//! What a run tells on the side, one plain line each: on standard error on request, and with a check that fails.

use std::{cell::RefCell, fmt::Display};

/// The variable that turns the lines on; any value but an empty one and `0`.
const VERBOSE_VARIABLE: &str = "TESTGEN_VERBOSE";

thread_local! {
    /// The lines of the check that this thread runs; none outside a check.
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Tells `label: text`: printed when `TESTGEN_VERBOSE` asks for it, kept for the check that runs.
pub(crate) fn narrate(label: &str, text: impl Display) {
    tell(label, &text.to_string(), false);
}

/// Tells `label: text` that nobody should miss: printed at once, unless a check keeps it.
pub(crate) fn announce(label: &str, text: impl Display) {
    tell(label, &text.to_string(), true);
}

/// Runs `work` and gives what it told, beside its result. A check within a check tells the inner one alone.
pub(crate) fn keeping<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = KEPT.replace(Some(Vec::new()));
    let result = work();
    let kept = KEPT.replace(outer).unwrap_or_default();
    (result, kept)
}

fn tell(label: &str, text: &str, loud: bool) {
    let line = line(label, text);
    let kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| kept.push(line.clone())).is_some());
    if is_on() || (loud && !kept) {
        eprintln!("{line}");
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
    use super::{is_verbose, keeping, line, narrate};

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
    #[test]
    fn a_check_keeps_what_is_told() {
        let (inner, kept) = keeping(|| {
            narrate("a", "one");
            let ((), inner) = keeping(|| narrate("b", "inner"));
            narrate("a", "two");
            inner
        });
        assert_eq!(inner, ["b: inner"]);
        assert_eq!(kept, ["a: one", "a: two"]);
    }
}
