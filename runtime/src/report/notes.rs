//! What harnesses say on the way (probe, memory, visibility, failures): kept during a check, shown when it fails.
//!
//! Outside a check, and with `TESTGEN_VERBOSE`, it goes to stderr at once.

use std::cell::RefCell;

/// The variable that shows everything at once.
pub(crate) const VERBOSE_VARIABLE: &str = "TESTGEN_VERBOSE";

thread_local! {
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Says `text`: kept while this thread runs a check, else printed.
pub(crate) fn tell(text: &str) {
    let printed = KEPT.with_borrow_mut(|kept| match kept {
        Some(kept) => {
            kept.push(text.to_owned());
            is_verbose()
        }
        None => true,
    });
    if printed {
        eprintln!("{text}");
    }
}

/// Runs `work` and gives what it said, beside its result. A check within a check says to the outer one.
pub(crate) fn keeping<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = KEPT.replace(Some(Vec::new()));
    let result = work();
    let kept = KEPT.replace(outer).unwrap_or_default();
    (result, kept)
}

fn is_verbose() -> bool {
    std::env::var_os(VERBOSE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_keeps_what_is_said() {
        let (result, kept) = keeping(|| {
            tell("one");
            let ((), inner) = keeping(|| tell("inner"));
            tell("two");
            inner
        });
        assert_eq!(result, ["inner"]);
        assert_eq!(kept, ["one", "two"]);
    }
}
