//! Both ends of the timed calls of this thread, for counters that are read there.
//!
//! Owns: when the ends are reported. Does not own: what is read. Only [`crate::Repetitions`] and
//! engines know where a warm-up ends, and models, executors and engines are called through
//! interfaces that return milliseconds; therefore the observer belongs to the thread.

use std::cell::RefCell;

/// An end of timed calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedEnd {
    /// The warm-up is over, and nothing is timed yet.
    First,
    /// All calls were timed.
    Last,
}

type Observer = Box<dyn FnMut(TimedEnd)>;

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// Runs `work`, and calls `observer` at both ends of all timed calls of this thread in it.
pub fn with_timed_ends<T>(observer: impl FnMut(TimedEnd) + 'static, work: impl FnOnce() -> T) -> T {
    OBSERVER.set(Some(Box::new(observer)));
    let result = work();
    // Calls that are timed after this work must not reach its counters.
    OBSERVER.set(None);
    result
}

/// Runs `work`, which times calls after their warm-up.
pub fn timed_calls<T>(work: impl FnOnce() -> T) -> T {
    report(TimedEnd::First);
    let result = work();
    report(TimedEnd::Last);
    result
}

fn report(end: TimedEnd) {
    OBSERVER.with_borrow_mut(|observer| {
        if let Some(observer) = observer {
            observer(end);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{TimedEnd, timed_calls, with_timed_ends};
    use std::{cell::RefCell, rc::Rc};

    #[test]
    fn an_observer_sees_both_ends_of_the_work_that_it_is_for() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&seen);
        let result = with_timed_ends(
            move |end| kept.borrow_mut().push(end),
            || timed_calls(|| seen.borrow().clone()),
        );
        assert_eq!(result, [TimedEnd::First], "the calls are between the ends");
        timed_calls(|| ());
        assert_eq!(*seen.borrow(), [TimedEnd::First, TimedEnd::Last]);
    }
}
