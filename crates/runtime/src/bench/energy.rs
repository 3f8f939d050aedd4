//! The energy of timed calls, by the counter of their device.
//!
//! The counter is read right before the first and right after the last timed call, so that neither
//! the warm-up nor the clock of a call contains it.

use super::row::BenchRow;
use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, Instant},
};
use testgen_device::{Device, EnergyCounter, EnergyReading};
use testgen_types::{BenchTimes, TimedEnd, with_timed_ends};

/// An NVIDIA H100 advances its counter every 100 ms, which was measured.
// Over a second the difference of two readings is at most a tenth off.
const SHORTEST: Duration = Duration::from_secs(1);

/// The part of the time between the readings that must have been timed.
// The energy of other work, such as sending inputs to an engine, is not the energy of the calls.
const TIMED: f64 = 0.9;

/// Measures the energy of rows on one device.
pub(super) struct EnergyMeter {
    counter: Option<Rc<EnergyCounter>>,
}

/// A reading of the counter, and the time right after the first reading or right before the last.
type TimedReading = (Option<EnergyReading>, Instant);

impl EnergyMeter {
    /// The meter of a device, which measures nothing if the device has no counter.
    pub(super) fn new(device: Option<&Device>) -> Self {
        let counter = device.and_then(EnergyCounter::open);
        Self {
            counter: counter.map(Rc::new),
        }
    }

    /// The row that `measure` returns, with the energy of its calls if it is known.
    pub(super) fn measured(&self, measure: impl FnOnce() -> BenchRow) -> BenchRow {
        let Some(counter) = &self.counter else {
            return measure();
        };
        let readings: Rc<RefCell<Vec<TimedReading>>> = Rc::default();
        let (source, kept) = (Rc::clone(counter), Rc::clone(&readings));
        let row = with_timed_ends(
            move |end| kept.borrow_mut().push(timed_reading(&source, end)),
            measure,
        );
        let span = EnergySpan::new(counter, &readings.borrow());
        let energy_joules = row
            .times
            .as_ref()
            .zip(span)
            .and_then(|(times, span)| span.per_call(times));
        BenchRow {
            energy_joules,
            ..row
        }
    }
}

/// A reading whose own time is outside of the two ends.
fn timed_reading(counter: &EnergyCounter, end: TimedEnd) -> TimedReading {
    match end {
        TimedEnd::First => {
            let reading = counter.read();
            (reading, Instant::now())
        }
        TimedEnd::Last => {
            let now = Instant::now();
            (counter.read(), now)
        }
    }
}

/// The energy between the ends of timed calls.
#[derive(Debug, Clone, Copy)]
struct EnergySpan {
    joules: f64,
    time: Duration,
}

impl EnergySpan {
    /// `None` if there are not exactly two ends, or the counter does not count.
    fn new(counter: &EnergyCounter, readings: &[TimedReading]) -> Option<Self> {
        let [(Some(first), start), (Some(last), end)] = readings else {
            return None;
        };
        Some(Self {
            joules: counter.joules(first, last)?,
            time: end.duration_since(*start),
        })
    }

    /// The mean over the calls; `None` if they were too short, or other work was between them.
    fn per_call(self, times: &BenchTimes) -> Option<f64> {
        let calls = &times.milliseconds;
        let timed = calls.iter().sum::<f64>() / 1e3;
        let is_known = timed >= SHORTEST.as_secs_f64() && timed >= TIMED * self.time.as_secs_f64();
        is_known.then(|| self.joules / calls.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::{BenchRow, BenchTimes, Duration, EnergyMeter, EnergySpan};
    use std::cell::Cell;
    use testgen_types::Measured;

    fn per_call(seconds: f64, calls: Vec<f64>) -> Option<f64> {
        let span = EnergySpan {
            joules: 300.0,
            time: Duration::from_secs_f64(seconds),
        };
        span.per_call(&BenchTimes::new(calls).expect("there are times"))
    }

    #[test]
    fn energy_is_the_mean_over_calls_of_a_second() {
        assert_eq!(per_call(1.25, vec![400.0; 3]), Some(100.0));
        assert_eq!(per_call(1.0, vec![100.0; 9]), None, "too short");
        assert_eq!(per_call(1.5, vec![400.0; 3]), None, "other work");
    }

    #[test]
    fn a_device_without_a_counter_is_timed_without_energy() {
        let measured = Cell::new(0);
        let row = EnergyMeter { counter: None }.measured(|| {
            measured.set(measured.get() + 1);
            BenchRow::timed(Measured::Forward, Ok(vec![2000.0]))
        });
        assert_eq!((row.energy_joules, measured.get()), (None, 1));
        assert_eq!(row.times.map(|times| times.median), Some(2000.0));
    }
}
