//! Times that an engine measures, with the warm-up in a call before.

use testgen_types::{Repetitions, timed_calls};

/// The times of a call that `time` repeats in an engine.
pub(super) fn timed<E>(
    repetitions: Repetitions,
    time: impl Fn(Repetitions) -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    // The warm-up is a separate request, so that counters that this process reads, such as the
    // energy of the device, are read between the two.
    let request = |iterations| Repetitions {
        warmup: 0,
        iterations,
        ..repetitions
    };
    if repetitions.has_warmup() {
        time(request(repetitions.warmup))?;
    }
    timed_calls(|| time(request(repetitions.iterations)))
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
        let time = |warmup, min_time_ms| {
            let repetitions = Repetitions {
                warmup,
                iterations: 3,
                min_time_ms,
            };
            timed(repetitions, |request| {
                requests.borrow_mut().push((
                    request.warmup,
                    request.iterations,
                    request.min_time_ms,
                ));
                Ok::<_, ()>(vec![1.0; request.iterations as usize])
            })
        };
        let ends = Rc::new(Cell::new(0));
        let counted = Rc::clone(&ends);
        let times = with_timed_ends(move |_| counted.set(counted.get() + 1), || time(2, 0));
        assert_eq!((times, ends.get()), (Ok(vec![1.0; 3]), 2));
        assert_eq!(time(0, 0), Ok(vec![1.0; 3]));
        // A warm-up for a time needs no number.
        assert_eq!(time(0, 300), Ok(vec![1.0; 3]));
        let by_number = [(0, 2, 0), (0, 3, 0), (0, 3, 0)];
        let for_a_time = [(0, 0, 300), (0, 3, 300)];
        assert_eq!(
            *requests.borrow(),
            [by_number.as_slice(), &for_a_time].concat()
        );
    }
}
