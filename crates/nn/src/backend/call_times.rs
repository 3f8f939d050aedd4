//! The matrix products and convolutions of a model, each timed in its place: with the model's own
//! shapes, layouts and values.

use crate::timing::CallsByShape;
use burn_tensor::backend::Backend;
use std::{cell::RefCell, time::Instant};

thread_local! {
    static TIMES: RefCell<Option<CallsByShape>> = const { RefCell::new(None) };
}

/// Runs `run`, and times every product and convolution that it computes on this thread. The device
/// is idle before and after each.
pub fn time_calls<T>(run: impl FnOnce() -> T) -> (T, CallsByShape) {
    TIMES.set(Some(CallsByShape::new()));
    // A panic leaves the times to the next call, which replaces them.
    let result = run();
    (result, TIMES.take().unwrap_or_default())
}

/// Computes a product or a convolution, which is timed within [`time_calls`].
pub(crate) fn timed_call<B: Backend, T>(
    device: &B::Device,
    name: impl FnOnce() -> String,
    compute: impl FnOnce() -> T,
) -> T {
    // Taken meanwhile: a convolution may be composed of products, which are not calls of the model.
    let Some(mut times) = TIMES.take() else {
        return compute();
    };
    wait::<B>(device);
    let start = Instant::now();
    let result = compute();
    wait::<B>(device);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    times.entry(name()).or_default().push(milliseconds);
    TIMES.set(Some(times));
    result
}

fn wait<B: Backend>(device: &B::Device) {
    // As every other operation of burn does if the device has failed.
    B::sync(device).unwrap_or_else(|error| panic!("waiting for the device failed: {error:?}"));
}

#[cfg(test)]
mod tests {
    use super::{time_calls, timed_call};
    use crate::backend::Cpu;

    fn call<T>(name: &str, compute: impl FnOnce() -> T) -> T {
        timed_call::<Cpu, _>(&Default::default(), || name.to_owned(), compute)
    }

    #[test]
    fn calls_are_counted_by_name_and_not_what_they_are_composed_of() {
        let (sum, times) = time_calls(|| {
            let convolution = || call("conv1d", || call("linear", || 1));
            convolution() + convolution() + call("linear", || 1)
        });
        assert_eq!(sum, 3);
        let counts: Vec<_> = times
            .iter()
            .map(|(name, times)| (&**name, times.len()))
            .collect();
        assert_eq!(counts, [("conv1d", 2), ("linear", 1)]);
        assert_eq!(call("linear", || 1), 1);
        assert!(time_calls(|| ()).1.is_empty());
    }
}
