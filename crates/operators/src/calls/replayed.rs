//! The result of computing a failed call again, as the process that computes passes it to the
//! command line.

use crate::calls::failed_call::{FailedCall, LaunchedKernel, Repetition};
use serde::{Deserialize, Serialize};

/// The end of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOutcome {
    /// The call was computed.
    Replayed(Box<Replayed>),
    /// The file has a call that cannot be computed; the reason.
    Refused(String),
    /// The device is absent or unusable; the reason.
    NoDevice(String),
}

/// A call that was computed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// The device.
    pub device_name: String,
    /// Whether it is simulated.
    pub simulated: bool,
    /// The result compared with the result in the file.
    pub repetition: Repetition,
    /// The run with blocking launches compared with the result in the file, or `None` if nothing is
    /// launched on a GPU.
    pub blocking: Option<Repetition>,
    /// Why the result is wrong, or `None` if it is correct.
    pub failure: Option<String>,
    /// The number of elements of the result whose bits differ from the bits in the file, or `None`
    /// if either has none.
    pub differing: Option<usize>,
    /// The number of elements of the result.
    pub elements: usize,
    /// The element with the least headroom, or `None` if nothing was computed.
    pub worst: Option<WorstOf>,
    /// The kernels that ran.
    pub kernels: Vec<LaunchedKernel>,
    /// The smallest call that was found to fail, or `None` if it was not searched for, or nothing
    /// fails.
    pub reduced: Option<Reduced>,
}

/// One element. The numbers are texts, as Rust writes them: JSON has no NaN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstOf {
    /// Its index in each dimension.
    pub index: Vec<usize>,
    /// The reference.
    pub expected: String,
    /// The largest absolute error.
    pub bound: String,
    /// The element of the file, or `None` if the file has no result.
    pub recorded: Option<String>,
    /// The element of this run.
    pub got: String,
}

/// A smaller call that fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// The call with its reference and its result.
    pub failed: FailedCall,
    /// The number of calls that were computed.
    pub runs: usize,
    /// Whether the search ended before every size was tried.
    pub incomplete: bool,
}
