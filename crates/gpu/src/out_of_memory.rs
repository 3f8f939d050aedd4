//! Memory that a device does not have: how a failed allocation is recognised, and the message that
//! names it.
//!
//! cubecl allocates in its device thread, where a failure is a panic. Its message has no size on
//! ROCm, and the size alone on CUDA.

use crate::device::GpuDevice;
use cubecl::MemoryUsage;
use std::{
    cell::Cell,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use testgen_types::panic_text;

/// The start of the message of every panic for lack of memory.
pub const OUT_OF_MEMORY: &str = "out of memory: ";

/// The variable that limits the memory that the tensors of one thread may hold, in MiB; fractions
/// are permitted. For tests.
const LIMIT_VARIABLE: &str = "TESTGEN_GPU_MEMORY";

/// cubecl-cuda's error for memory that the driver does not have.
const REFUSED_BY_CUDA: &str = "can't allocate buffer of size";
/// cubecl-hip's error for every failed allocation.
// It prints neither the status nor the size.
const REFUSED_BY_HIP: &str = "`Err` value: Unknown error happened during execution";

/// The error of an allocation that the limit forbids.
pub(crate) const BEYOND_LIMIT: &str = "can't allocate buffer of size: beyond TESTGEN_GPU_MEMORY";

const REMEDY: &str = "use a precision of 16 bits, fewer or shorter inputs or a device with more memory, or end other programs on this one";

/// Returns the free and the total memory of a device in bytes, where its driver reports them.
type MemoryQuery = Arc<dyn Fn() -> Option<(u64, u64)> + Send + Sync>;

static QUERIES: Mutex<Option<HashMap<GpuDevice, MemoryQuery>>> = Mutex::new(None);

impl GpuDevice {
    /// Sets how free and total memory of the device are read for messages about memory that it does
    /// not have.
    pub fn report_memory_with(
        self,
        query: impl Fn() -> Option<(u64, u64)> + Send + Sync + 'static,
    ) {
        let mut queries = QUERIES.lock().unwrap_or_else(PoisonError::into_inner);
        queries
            .get_or_insert_default()
            .insert(self, Arc::new(query));
    }

    fn free_and_total(self) -> Option<(u64, u64)> {
        // Not under the lock: it calls the driver.
        let query = QUERIES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()?
            .get(&self)
            .cloned();
        query?()
    }
}

/// The limit of `TESTGEN_GPU_MEMORY` in bytes, or `None` if it is not set.
///
/// # Errors
///
/// The value is not a positive number of MiB.
pub fn memory_limit() -> Result<Option<u64>, String> {
    parse_limit(std::env::var(LIMIT_VARIABLE).ok().as_deref())
}

fn parse_limit(value: Option<&str>) -> Result<Option<u64>, String> {
    // An empty variable counts as absent, because a job of a CI system can clear a variable but not
    // remove it.
    let Some(text) = value.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let mebibytes = text
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number > 0.0);
    let mebibytes = mebibytes
        .ok_or_else(|| format!("{LIMIT_VARIABLE} is `{text}`, not a positive number of MiB"))?;
    Ok(Some((mebibytes * f64::from(1 << 20)) as u64))
}

/// The limit, read once.
fn limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    // A value that cannot be parsed was reported when the device was opened.
    *LIMIT.get_or_init(|| memory_limit().ok().flatten())
}

/// Whether tensors that hold `in_use` bytes may get `size` more.
pub(crate) fn within_limit(in_use: impl FnOnce() -> u64, size: u64) -> bool {
    limit().is_none_or(|limit| in_use().saturating_add(size) <= limit)
}

thread_local! {
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread tries an allocation. A panic in it is not yet a failure: it is tried
/// again, or reported by another panic.
pub fn tries_allocation() -> bool {
    TRYING.get()
}

/// Runs an allocation; a panic becomes its message.
pub(crate) fn tried(allocate: impl FnOnce()) -> Result<(), String> {
    TRYING.set(true);
    let result = catch_unwind(AssertUnwindSafe(allocate));
    TRYING.set(false);
    result.map_err(|payload| panic_text(payload.as_ref()).to_owned())
}

/// Whether a message of cubecl is about an allocation that failed.
pub(crate) fn is_refused(message: &str) -> bool {
    // By text, because cubecl fails in a panic, which has nothing but a message.
    message.contains(REFUSED_BY_CUDA) || message.contains(REFUSED_BY_HIP)
}

/// The message about `requested` bytes that `device` does not have.
pub(crate) fn message(
    device: GpuDevice,
    requested: Option<u64>,
    usage: Option<MemoryUsage>,
) -> String {
    // Without a number for the arguments of a kernel.
    Shortage {
        requested,
        usage,
        limit: limit(),
        driver: device.free_and_total(),
    }
    .message()
}

/// The memory at the time of a failed allocation, in bytes.
struct Shortage {
    requested: Option<u64>,
    usage: Option<MemoryUsage>,
    limit: Option<u64>,
    /// Free and total memory of the device.
    driver: Option<(u64, u64)>,
}

impl Shortage {
    fn message(&self) -> String {
        let requested = self.requested.map_or_else(
            || "the arguments of a kernel were".to_owned(),
            |size| format!("{} were", mebibytes(size)),
        );
        let free = match self.driver {
            Some((free, total)) => format!(
                "{} of {} are free on the device",
                mebibytes(free),
                mebibytes(total)
            ),
            None => "the driver does not report free memory".to_owned(),
        };
        let in_use = self.usage.as_ref().map_or_else(String::new, |usage| {
            format!(
                ", the tensors of this check hold {}",
                mebibytes(usage.bytes_in_use)
            )
        });
        let limit = self.limit.map_or_else(String::new, |limit| {
            format!(", {LIMIT_VARIABLE} is {}", mebibytes(limit))
        });
        format!(
            "{OUT_OF_MEMORY}{requested} requested; {free}{in_use}{limit}; {}; {REMEDY}",
            self.fitting()
        )
    }

    /// The size that could be allocated.
    fn fitting(&self) -> String {
        let held = self.usage.as_ref().map_or(0, |usage| usage.bytes_in_use);
        let below_limit = self.limit.map(|limit| limit.saturating_sub(held));
        // The smaller one decides: the limit of a test can be below the memory of the device, and
        // above it.
        let fits = [below_limit, self.driver.map(|(free, _)| free)]
            .into_iter()
            .flatten()
            .min();
        match (fits, self.requested) {
            (None, _) => "the size that would fit is not known".to_owned(),
            // A smaller model would not help then, so that the message names the two causes that
            // remain.
            (Some(fits), Some(requested)) if fits >= requested => {
                "that would fit, so the memory is fragmented, or an earlier fault disabled the device".to_owned()
            }
            (Some(fits), _) => format!("at most {} would fit", mebibytes(fits)),
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    let number = bytes as f64 / f64::from(1 << 20);
    if bytes < 1 << 20 {
        format!("{:.1} KiB", number * 1024.0)
    } else {
        format!("{number:.1} MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryUsage, Shortage, is_refused, parse_limit, tried, tries_allocation};

    const MIB: u64 = 1 << 20;

    fn shortage(requested: Option<u64>, driver: Option<(u64, u64)>, limit: Option<u64>) -> String {
        let usage = MemoryUsage {
            number_allocs: 1,
            bytes_in_use: 3 * MIB,
            bytes_padding: 0,
            bytes_reserved: 4 * MIB,
        };
        Shortage {
            requested,
            usage: Some(usage),
            limit,
            driver,
        }
        .message()
    }

    #[test]
    fn a_message_has_what_was_requested_what_is_free_and_what_fits() {
        let plain = shortage(Some(12 * MIB), Some((2 * MIB, 64 * MIB)), None);
        assert!(
            plain.starts_with(
                "out of memory: 12.0 MiB were requested; 2.0 MiB of 64.0 MiB are free on the device, the tensors of this \
                 check hold 3.0 MiB; at most 2.0 MiB would fit; use a precision of 16 bits"
            ),
            "{plain}"
        );
        let limited = shortage(Some(12 * MIB), Some((60 * MIB, 64 * MIB)), Some(4 * MIB));
        assert!(
            limited.contains("TESTGEN_GPU_MEMORY is 4.0 MiB; at most 1.0 MiB would fit"),
            "{limited}"
        );
        let fragmented = shortage(Some(MIB), Some((2 * MIB, 64 * MIB)), None);
        assert!(
            fragmented.contains("that would fit, so the memory is fragmented"),
            "{fragmented}"
        );
        let arguments = shortage(None, None, None);
        assert!(
            arguments
                .contains("the arguments of a kernel were requested; the driver does not report"),
            "{arguments}"
        );
    }

    #[test]
    fn other_panics_are_not_about_memory() {
        assert!(is_refused(
            "called `Result::unwrap()` on an `Err` value: can't allocate buffer of size: 4096\n"
        ));
        assert!(is_refused(
            "called `Result::unwrap()` on an `Err` value: Unknown error happened during execution\n"
        ));
        assert!(!is_refused("Should send data to device") && !is_refused("Resource to exist."));
    }

    #[test]
    fn a_panic_of_an_attempt_is_returned_and_marked() {
        let mut marked = false;
        assert_eq!(tried(|| marked = tries_allocation()), Ok(()));
        assert!(marked && !tries_allocation());
        assert_eq!(
            tried(|| panic!("can't allocate")),
            Err("can't allocate".to_owned())
        );
        assert!(!tries_allocation());
    }

    #[test]
    fn a_limit_is_a_positive_number_of_mebibytes() {
        assert_eq!(parse_limit(Some(" 0.5 ")), Ok(Some(MIB / 2)));
        assert_eq!(
            (parse_limit(None), parse_limit(Some(""))),
            (Ok(None), Ok(None))
        );
        for invalid in ["-1", "0", "4 GiB", "NaN", "inf"] {
            assert!(
                parse_limit(Some(invalid)).is_err_and(|error| error.contains(invalid)),
                "{invalid}"
            );
        }
    }
}
