//! The bounded queue of an endpoint.

use super::{batch, ticket::Ticket};
use crate::task::Request;
use std::collections::VecDeque;

/// Requests that may wait.
pub(super) const CAPACITY: usize = 32;

/// The queue takes no more.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{CAPACITY} requests wait already; call `process` first")]
pub struct QueueFull {
    /// The request that was not taken.
    pub request: Box<Request>,
}

/// Requests that wait for `process`.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Ticket, Request)>,
    submitted: u64,
}

impl Queue {
    pub(super) fn push(&mut self, request: Request) -> Result<Ticket, QueueFull> {
        if self.waiting.len() >= CAPACITY {
            return Err(QueueFull {
                request: Box::new(request),
            });
        }
        let ticket = Ticket(self.submitted);
        self.submitted += 1;
        self.waiting.push_back((ticket, request));
        Ok(ticket)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The oldest request and the later ones that can be computed with it, at most `inputs` inputs
    /// together. A single larger request is a separate batch.
    pub(super) fn next_batch(&mut self, inputs: usize) -> Option<Vec<(Ticket, Request)>> {
        let mut batch = vec![self.waiting.pop_front()?];
        let mut held = batch[0].1.len();
        // Only neighbours: taking later requests first would change the order of the answers.
        while let Some((_, next)) = self.waiting.front() {
            if held + next.len() > inputs || !batch::fits(&batch[0].1, next) {
                break;
            }
            held += next.len();
            batch.extend(self.waiting.pop_front());
        }
        Some(batch)
    }
}
