//! The rules, one file each; [`crate::rule_id`] names them.

pub(crate) mod detection_paths;
pub(crate) mod fallback_marked;
pub(crate) mod forbidden;
pub(crate) mod handlers;
pub(crate) mod harness_static;
pub(crate) mod header;
pub(crate) mod imports;
pub(crate) mod init_functions;
pub(crate) mod memory_reported;
pub(crate) mod mock_marked;
pub(crate) mod parses;
pub(crate) mod precision_from_probe;
pub(crate) mod readable;
pub(crate) mod request_modality;
pub(crate) mod skipped_checks;
pub(crate) mod spec_static;
pub(crate) mod tolerances;
pub(crate) mod visibility_reported;
