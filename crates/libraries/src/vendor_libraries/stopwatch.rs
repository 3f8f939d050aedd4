//! The time of a call of a library.

use crate::{gpu::LibraryGpu, library_error::LibraryError};
use std::time::{Duration, Instant};

/// Calls are repeated until their time is long beside the clock and the wait for the device.
const LEAST_TIME: Duration = Duration::from_millis(2);
const MOST_CALLS: u32 = 100;
/// Measurements, of which the median is taken.
const MEASUREMENTS: usize = 5;

/// The median time in microseconds of what `start` starts on the device. An error is one of the
/// call or of the device.
pub(super) fn median_microseconds(
    gpu: &dyn LibraryGpu,
    start: impl Fn() -> Result<(), LibraryError>,
) -> Result<f64, LibraryError> {
    let timed = |calls: u32| -> Result<Duration, LibraryError> {
        let from = Instant::now();
        for _ in 0..calls {
            start()?;
        }
        gpu.synchronise()?;
        Ok(from.elapsed())
    };
    // The clock may not have advanced, and the time is divided by.
    let once = timed(1)?.as_secs_f64().max(1e-9);
    let calls = ((LEAST_TIME.as_secs_f64() / once) as u32).clamp(1, MOST_CALLS);
    let mut times = Vec::with_capacity(MEASUREMENTS);
    for _ in 0..MEASUREMENTS {
        times.push(timed(calls)?.as_secs_f64() / f64::from(calls) * 1e6);
    }
    times.sort_by(f64::total_cmp);
    // Nanoseconds: further digits are noise, and make lines longer.
    Ok((times[MEASUREMENTS / 2] * 1e3).round() / 1e3)
}
