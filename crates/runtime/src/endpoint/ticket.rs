//! Receipts of submitted requests, and their answers.

use crate::task::{HandlerError, Response};

/// The receipt of a submitted request, counted from 0 for each endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The answer to a submitted request.
#[derive(Debug)]
pub struct Answered {
    /// The receipt.
    pub ticket: Ticket,
    /// The answer.
    pub response: Result<Response, HandlerError>,
}
