//! Times that an engine measures, with the warm-up in a call before.

use testgen_types::{Repetitions, timed_calls};

/// The times of a call that `time` repeats in an engine.
pub(super) fn timed<E>(
    repetitions: Repetitions,
    time: impl Fn(Repetitions) -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    // The warm-up is a separate request, so that counters that this process reads, such as the
    // energy of the device, are read between the two.
    if repetitions.warmup > 0 {
        time(without_warmup(repetitions.warmup))?;
    }
    timed_calls(|| time(without_warmup(repetitions.iterations)))
}

/// Calls that are timed from the first one on.
pub(super) fn without_warmup(iterations: u32) -> Repetitions {
    Repetitions {
        warmup: 0,
        iterations,
    }
}

#[cfg(test)]
mod tests {
    use super::{Repetitions, timed};
    use std::{
        cell::{Cell, RefCell},
        rc::Rc,
    };
    use testgen_types::with_timed_ends;

    #[test]
    fn the_warm_up_is_before_the_timed_calls() {
        let requests = RefCell::new(Vec::new());
        let time = |warmup| {
            let repetitions = Repetitions {
                warmup,
                iterations: 3,
            };
            timed(repetitions, |request| {
                requests
                    .borrow_mut()
                    .push((request.warmup, request.iterations));
                Ok::<_, ()>(vec![1.0; request.iterations as usize])
            })
        };
        let ends = Rc::new(Cell::new(0));
        let counted = Rc::clone(&ends);
        let times = with_timed_ends(move |_| counted.set(counted.get() + 1), || time(2));
        assert_eq!((times, ends.get()), (Ok(vec![1.0; 3]), 2));
        assert_eq!(time(0), Ok(vec![1.0; 3]));
        assert_eq!(*requests.borrow(), [(0, 2), (0, 3), (0, 3)]);
    }
}
