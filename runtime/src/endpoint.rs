//! A loaded model with its handler, and the truth about what it is.

/// stub
#[derive(Debug)]
pub struct Endpoint;
