//! Log lines of a run: printed to standard error, and captured for the check that runs.

use std::{cell::RefCell, fmt::Display};

/// The variable that turns verbose lines on; any value but an empty one and `0`.
const VERBOSE_VARIABLE: &str = "TESTGEN_VERBOSE";

thread_local! {
    /// The lines of the check that runs on this thread; `None` outside a check.
    static CAPTURED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Logs `label: text`. The line is printed only with `TESTGEN_VERBOSE`.
pub(crate) fn log_verbose(label: impl Display, text: impl Display) {
    log(&label.to_string(), &text.to_string(), is_verbose());
}

/// Logs `label: text`. The line is printed, unless a check captures it: a failing check prints its
/// lines with its reason.
pub(crate) fn log_warning(label: impl Display, text: impl Display) {
    log(
        &label.to_string(),
        &text.to_string(),
        is_verbose() || !is_captured(),
    );
}

/// Runs `work` and returns its result with the lines that it logged on this thread. Captures nest:
/// the inner one gets its lines alone.
pub(crate) fn capture_log<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    // Replaced and put back, because a check can run another one in its own capture.
    let outer = CAPTURED.replace(Some(Vec::new()));
    let result = work();
    let lines = CAPTURED.replace(outer).unwrap_or_default();
    (result, lines)
}

/// Whether `TESTGEN_VERBOSE` is set.
pub(crate) fn is_verbose() -> bool {
    is_on(std::env::var_os(VERBOSE_VARIABLE).as_deref())
}

fn is_captured() -> bool {
    CAPTURED.with_borrow(Option::is_some)
}

fn log(label: &str, text: &str, print: bool) {
    let line = line(label, text);
    if print {
        eprintln!("{line}");
    }
    CAPTURED.with_borrow_mut(|captured| {
        captured
            .iter_mut()
            .for_each(|lines| lines.push(line.clone()))
    });
}

fn is_on(value: Option<&std::ffi::OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// A label and a text in one line; line breaks become `; `.
fn line(label: &str, text: &str) -> String {
    let parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    // On one line, so that logs can be filtered by label.
    format!("{label}: {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{capture_log, is_on, line, log_verbose, log_warning};

    #[test]
    fn only_a_value_turns_verbose_lines_on() {
        assert!(is_on(Some("1".as_ref())));
        for off in [None, Some("".as_ref()), Some("0".as_ref())] {
            assert!(!is_on(off), "{off:?}");
        }
    }

    #[test]
    fn a_line_has_no_line_breaks() {
        assert_eq!(
            line("rocm:0", "first\n  second\n\n"),
            "rocm:0: first; second"
        );
    }

    #[test]
    fn captures_nest() {
        let (inner, outer) = capture_log(|| {
            log_verbose("a", "one");
            let ((), inner) = capture_log(|| log_warning("b", "inner"));
            log_verbose("a", "two");
            inner
        });
        assert_eq!(inner, ["b: inner"]);
        assert_eq!(outer, ["a: one", "a: two"]);
    }
}
