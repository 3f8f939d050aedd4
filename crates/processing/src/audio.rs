//! Recordings.

/// A recording with one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Audio {
    /// Samples in a second.
    pub sampling_rate: usize,
    /// The samples, usually -1 to 1.
    pub samples: Vec<f32>,
}
