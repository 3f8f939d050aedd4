//! The threads that write, read, and read the errors of an engine, so that none of them can block a
//! caller.

use super::last_output::LastOutput;
use crate::frame::{self, Frame, FrameError};
use std::{
    io::BufWriter,
    process::Child,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    thread,
    time::Duration,
};

/// Messages that wait to be received.
// An engine that sends more than it was asked for is not read on.
const WAITING: usize = 2;

/// Both directions of a connection.
#[derive(Debug)]
pub(super) struct Pipes {
    requests: Option<Sender<Frame>>,
    responses: Receiver<Result<Frame, FrameError>>,
}

impl Pipes {
    /// Takes the pipes of `child`. The threads end when the pipes are closed.
    pub(super) fn new(child: &mut Child, output: &LastOutput) -> Self {
        // Without a limit, so that `send` never waits for an engine that does not read.
        let (requests, to_write) = channel::<Frame>();
        let (read, responses) = sync_channel(WAITING);
        if let Some(pipe) = child.stdin.take() {
            thread::spawn(move || {
                let mut pipe = BufWriter::new(pipe);
                // A pipe that cannot be written belongs to a process that ends, which the reader
                // reports.
                for frame in to_write {
                    if frame::write(&mut pipe, &frame).is_err() {
                        break;
                    }
                }
            });
        }
        if let Some(mut pipe) = child.stdout.take() {
            thread::spawn(move || receive_all(&mut pipe, &read));
        }
        if let Some(mut pipe) = child.stderr.take() {
            let output = output.clone();
            thread::spawn(move || output.read_all(&mut pipe));
        }
        Self {
            requests: Some(requests),
            responses,
        }
    }

    /// Hands a message to the thread that writes; it may never be read.
    pub(super) fn send(&self, frame: Frame) {
        if let Some(requests) = &self.requests {
            // The writing thread has ended when the pipe was closed, which `receive` reports.
            let _ = requests.send(frame);
        }
    }

    /// The next message.
    pub(super) fn receive(
        &self,
        limit: Duration,
    ) -> Result<Result<Frame, FrameError>, RecvTimeoutError> {
        self.responses.recv_timeout(limit)
    }

    /// Closes the pipe to the process when everything is written.
    pub(super) fn close(&mut self) {
        self.requests = None;
    }
}

fn receive_all(pipe: &mut impl std::io::Read, read: &SyncSender<Result<Frame, FrameError>>) {
    loop {
        // An invalid message ends the reading: there is no place at which the next one would begin.
        let frame = frame::read(pipe);
        let last = frame.is_err();
        if read.send(frame).is_err() || last {
            return;
        }
    }
}
