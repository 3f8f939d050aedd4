//! A record of the kernels that each thread launched.
//!
//! Two runs that tested the same kernels have the same fingerprint. It is made from their names and
//! parameters, so it is the same on every machine for which the same kernels are chosen. Where a
//! result is stored is not part of it.

use cubecl::stream_id::StreamId;
use cubecl_runtime::id::KernelId;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first eight bytes of the SHA-256 of a kernel's description.
type KernelDigest = [u8; 8];

#[derive(Default)]
struct LaunchCounters {
    /// Describing a kernel is slow, and most are launched many times.
    digests: HashMap<KernelId, KernelDigest>,
    /// Since the last call of [`take_fingerprint`] on the thread of the stream.
    launched: HashMap<StreamId, BTreeSet<KernelDigest>>,
}

static LAUNCHES: Mutex<Option<LaunchCounters>> = Mutex::new(None);

fn launches() -> MutexGuard<'static, Option<LaunchCounters>> {
    LAUNCHES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn record(stream: StreamId, kernel: KernelId) {
    let mut guard = launches();
    let LaunchCounters { digests, launched } = guard.get_or_insert_default();
    let digest = *digests.entry(kernel).or_insert_with_key(digest);
    launched.entry(stream).or_default().insert(digest);
}

/// A number that is the same in every process, for dividing kernels among processes.
pub(crate) fn number(kernel: &KernelId) -> u64 {
    u64::from_le_bytes(digest(kernel))
}

fn digest(kernel: &KernelId) -> KernelDigest {
    first_bytes(&Sha256::digest(without_aliases(&kernel.stable_format())))
}

/// The text before the number of the input that a result is written over, in a description.
const ALIAS: &str = "inplace: Some(";

/// The description of a kernel that writes no result over an input.
fn without_aliases(kernel: &str) -> String {
    // burn-cubecl 0.21 writes an elementwise result over an input that nothing else holds. Whether
    // something does depends on how far the thread of the device has got with earlier launches, so
    // that equal runs differ in it; the computation is the same.
    let mut parts = kernel.split(ALIAS);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let after = part.split_once(')').map_or(part, |(_, after)| after);
        text + "inplace: None" + after
    })
}

/// The digest of a kernel, 16 hexadecimal digits.
pub(crate) fn hexadecimal(kernel: &KernelId) -> String {
    as_text(digest(kernel))
}

fn as_text(bytes: KernelDigest) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn first_bytes(hash: &[u8]) -> KernelDigest {
    let mut bytes = KernelDigest::default();
    bytes.copy_from_slice(&hash[..8]);
    bytes
}

/// The fingerprint of the kernels that the calling thread launched since its last call, 16
/// hexadecimal digits; `None` if it launched none. Every thread has its own stream.
pub fn take_fingerprint() -> Option<String> {
    let launched = launches().as_mut()?.launched.remove(&StreamId::current())?;
    let mut hasher = Sha256::new();
    // In the order of the set, so that the order of the launches does not count.
    launched.iter().for_each(|kernel| hasher.update(kernel));
    Some(as_text(first_bytes(&hasher.finalize())))
}

#[cfg(test)]
mod tests {
    use super::{record, take_fingerprint};
    use cubecl::stream_id::StreamId;
    use cubecl_runtime::id::KernelId;

    struct Product;

    fn fingerprint(parameters: &[&'static str]) -> Option<String> {
        for parameter in parameters {
            record(
                StreamId::current(),
                KernelId::new::<Product>().info(*parameter),
            );
        }
        take_fingerprint()
    }

    #[test]
    fn the_order_and_number_of_launches_have_no_effect() {
        let once = fingerprint(&["a", "b"]);
        assert!(once.is_some());
        assert_eq!(fingerprint(&["b", "a", "a"]), once);
    }

    #[test]
    fn another_kernel_has_another_fingerprint() {
        assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["a", "c"]));
        assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["a"]));
    }

    #[test]
    fn the_place_of_a_result_has_no_effect() {
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        struct Argument {
            inplace: Option<usize>,
            size: usize,
        }
        let with = |inplace: [Option<usize>; 2], size| {
            let arguments = inplace.map(|inplace| Argument { inplace, size });
            super::digest(&KernelId::new::<Product>().info(arguments))
        };
        let plain = with([None, None], 4);
        assert_eq!(with([Some(0), None], 4), plain);
        assert_eq!(with([None, Some(12)], 4), plain);
        assert_ne!(with([None, None], 8), plain);
    }

    #[test]
    fn a_thread_reads_its_own_launches_once() {
        assert!(fingerprint(&["a"]).is_some());
        assert_eq!(take_fingerprint(), None);
        record(StreamId::current(), KernelId::new::<Product>());
        assert_eq!(
            std::thread::spawn(take_fingerprint)
                .join()
                .expect("it does not panic"),
            None
        );
        assert!(take_fingerprint().is_some());
    }
}
