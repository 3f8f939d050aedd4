//! A digest of a checkpoint's configuration: two reports with different ones are about different
//! models.

use testgen_models::Checkpoint;
use testgen_types::stable_digest;

/// The digest of the configuration, or `None` if it cannot be read.
pub(super) fn of_checkpoint(checkpoint: &Checkpoint) -> Option<String> {
    // Keys are sorted, so that the order of a file does not matter.
    checkpoint
        .config()
        .ok()
        .map(|config| stable_digest(config.to_string()))
}
