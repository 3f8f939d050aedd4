//! The facts about the host that a report has.

use crate::machine::host_processor;
use std::{num::NonZero, path::Path, thread};
use testgen_types::{BenchHost, bounded_file::read_text};

/// The host, with its load before the first measurement.
pub(crate) fn host() -> BenchHost {
    BenchHost {
        processor: host_processor().name,
        processors: thread::available_parallelism().ok().map(NonZero::get),
        load: read_text(Path::new("/proc/loadavg"), 4096)
            .ok()
            .and_then(|text| load(&text)),
    }
}

/// The load of the last minute in the text of `/proc/loadavg`.
fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::load;

    #[test]
    fn the_load_is_that_of_the_last_minute() {
        assert_eq!(load("0.52 1.04 2.11 3/512 4711\n"), Some(0.52));
        assert_eq!(load(""), None);
        assert_eq!(load("unknown"), None);
    }
}
