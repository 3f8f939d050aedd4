//! A loaded model with its handler, and its status.
//!
//! Owns: status, label, the facts of the device, and the queue. Does not own: loading (harness) and
//! answering (task). A mock holds no model, so nothing can mistake it for one.

mod batch;
mod queue;
mod status;
mod ticket;

pub use queue::QueueFull;
pub use status::Status;
pub use ticket::{Answered, Ticket};

use crate::{
    label::Label,
    load_target::{LoadedModel, MemoryAroundLoad},
    log::log_warning,
    open::OpenDevice,
    subject::LoadedSubject,
    task::{Handler, HandlerError, Request, Response},
};
use queue::Queue;
use std::{error::Error, fmt};
use testgen_device::{DetectionPath, Device, DeviceUnavailable};
use testgen_models::Model;
use testgen_nn::{forward::Unsupported, weights::Residency};
use testgen_types::{DeviceKind, LoadMemory, Precision};

/// Where requests for a model go.
pub struct Endpoint {
    label: Label,
    status: Status,
    served: Option<Served>,
    memory: Option<MemoryAroundLoad>,
    queue: Queue,
    /// The feature that the engine does not have, if its lack is the reason for the mock.
    pub(crate) unsupported: Option<String>,
}

/// The handler of an endpoint that is not a mock.
struct Served {
    device: OpenDevice,
    loaded: LoadedSubject,
    handler: Handler,
}

impl Endpoint {
    /// An endpoint that answers with the loaded model. If its device is not of `kind`, it is a mock
    /// with that reason.
    pub fn real(kind: DeviceKind, loaded: LoadedModel, handler: Handler) -> Self {
        let LoadedModel {
            label,
            device,
            loaded,
            memory,
        } = loaded;
        let serving = |label, status, device| {
            let served = Some(Served {
                device,
                loaded,
                handler,
            });
            Self {
                label,
                status,
                served,
                memory,
                queue: Queue::default(),
                unsupported: None,
            }
        };
        // First: the facts of such a device are the CPU's already, and would read like a wrong
        // harness.
        if let Some((from, why)) = device.fallback.clone().filter(|(from, _)| *from == kind) {
            let (to, label) = (device.facts.kind, label.on(device.facts.kind));
            log_warning(
                &label,
                format_args!("falls back from {from} to {to}: {why}"),
            );
            return serving(label, Status::Fallback { from, to, why }, device);
        }
        if device.facts.kind != kind {
            let found = &device.facts;
            let why = format!(
                "the harness opened {} (`{}`) where `{kind}` was asked for",
                found.label(),
                found.name
            );
            return Self::without_model(&label, why);
        }
        serving(label, Status::Real, device)
    }

    /// An endpoint without a model, because of `error`, which is printed on stderr.
    pub fn mock(label: &Label, kind: DeviceKind, error: &(dyn Error + 'static)) -> Self {
        let endpoint = Self::without_model(label, format!("no model on {kind}: {}", chain(error)));
        Self {
            unsupported: unsupported(error),
            ..endpoint
        }
    }

    fn without_model(label: &Label, why: String) -> Self {
        log_warning(label, format_args!("{why}; the endpoint is a mock"));
        let status = Status::Mock {
            why,
            fallback: None,
        };
        Self {
            label: label.clone(),
            status,
            served: None,
            memory: None,
            queue: Queue::default(),
            unsupported: None,
        }
    }

    /// Marks the endpoint as a fallback for one on `from`, which is absent for the reason in
    /// `absence`.
    #[must_use]
    pub fn into_fallback(mut self, from: DeviceKind, absence: &DeviceUnavailable) -> Self {
        // Harnesses only fall back to the CPU; a mock has no device to ask.
        let to = self
            .served
            .as_ref()
            .map_or(DeviceKind::Cpu, |served| served.device.facts.kind);
        log_warning(
            &self.label,
            format_args!("falls back from {from} to {to}: {absence}"),
        );
        self.status = self.status.into_fallback(from, to, absence.to_string());
        self
    }

    /// The status of the endpoint.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The model or the operators: `None` unless the status is [`Status::Real`].
    pub fn loaded(&self) -> Option<&LoadedSubject> {
        match self.status {
            Status::Real => self.served.as_ref().map(|served| &served.loaded),
            // A fallback has a model, but a check that got it would pass on another device than the
            // one it names.
            Status::Fallback { .. } | Status::Mock { .. } => None,
        }
    }

    /// The model, or `None` for operators, and unless the status is [`Status::Real`].
    pub fn model(&self) -> Option<&Model> {
        self.loaded().and_then(LoadedSubject::model)
    }

    /// The name that the endpoint was asked for by; a fallback's names the device that it fell back
    /// to.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The device that answers, also for a fallback, or `None` for a mock.
    pub fn device(&self) -> Option<&Device> {
        self.served.as_ref().map(|served| &served.device.facts)
    }

    /// Whether f32 products may be computed in TF32 here.
    pub fn tf32(&self) -> bool {
        self.served
            .as_ref()
            .is_some_and(|served| served.device.tf32)
    }

    /// The type that the model computes in, or `None` for a mock.
    pub fn precision(&self) -> Option<Precision> {
        self.served.as_ref().map(|served| served.loaded.precision())
    }

    /// The kind that the backend calls the device's tensors: for a compatibility layer that is
    /// CUDA.
    pub(crate) fn tensor_kind(&self) -> Option<DeviceKind> {
        let device = self.device()?;
        Some(match device.path {
            DetectionPath::CudaCompatibility => DeviceKind::Cuda,
            DetectionPath::HostProcessor
            | DetectionPath::HipRuntime
            | DetectionPath::Engine
            | DetectionPath::CudaDriver => device.kind,
        })
    }

    /// The opened device, for questions about its memory.
    pub(crate) fn open_device(&self) -> Option<&OpenDevice> {
        self.served.as_ref().map(|served| &served.device)
    }

    /// Where the layers of the model are; operators have none.
    fn residency(&self) -> Option<Residency> {
        match self.loaded()? {
            LoadedSubject::Model { residency, .. } => Some(*residency),
            LoadedSubject::Operators(_) => None,
        }
    }

    /// Memory around the load, as a report has it.
    pub fn memory(&self) -> Option<LoadMemory> {
        let MemoryAroundLoad { before, after } = self.memory?;
        Some(LoadMemory {
            total: before.total,
            free: before.free,
            in_use_before: before.in_use,
            in_use_after: after.in_use,
            peak: after.peak.filter(|_| self.peak_is_of_load()),
            driver: after.driver,
            estimated_weights: None,
            streamed: self.residency() == Some(Residency::Streamed),
            devices: match self.residency() {
                Some(Residency::Split(devices)) => Some(devices),
                _ => None,
            },
        })
    }

    /// Whether the peak of memory began with this load.
    fn peak_is_of_load(&self) -> bool {
        // An engine counts from its last load of a model, so that before the first call of
        // operators its peak is an earlier model's.
        let is_model = matches!(self.loaded(), Some(LoadedSubject::Model { .. }));
        is_model
            || self
                .open_device()
                .is_none_or(|device| device.process().is_none())
    }

    /// How many inputs are computed together.
    pub fn batch_size(&self) -> usize {
        match self.device().map(|device| device.kind) {
            Some(DeviceKind::Cuda | DeviceKind::Rocm) => 32,
            Some(DeviceKind::Cpu) | None => 8,
        }
    }

    /// Puts a request into the queue.
    ///
    /// # Errors
    ///
    /// When 32 requests wait already; the request comes back.
    pub fn submit(&mut self, request: Request) -> Result<Ticket, QueueFull> {
        self.queue.push(request)
    }

    /// The number of requests that wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Answers every waiting request, several together where they are of one kind, in the order of
    /// submission.
    pub fn process(&mut self) -> Vec<Answered> {
        let mut answered = Vec::new();
        // Until the queue is empty, because a batch ends at a request of another kind.
        while let Some(batch) = self.queue.next_batch(self.batch_size()) {
            answered.extend(batch::answer(batch, &|request| self.handle(request)));
        }
        answered
    }

    /// Answers one request at once; a mock says that it is one.
    ///
    /// # Errors
    ///
    /// When the handler cannot answer.
    pub fn handle(&self, request: Request) -> Result<Response, HandlerError> {
        match (&self.served, &self.status) {
            // A fallback answers, too: only a check must not take its model for one on the device.
            (Some(served), _) => (served.handler)(&served.loaded, request),
            (None, status) => Ok(Response::Mock {
                why: status.why().unwrap_or("it has no model").to_owned(),
            }),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("label", &self.label)
            .field("status", &self.status)
            .field("device", &self.device().map(Device::label))
            .finish_non_exhaustive()
    }
}

/// An error with everything that caused it.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Many messages already include the message of their source.
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// The feature that an engine does not have, if that is the cause of an error.
pub(crate) fn unsupported(error: &(dyn Error + 'static)) -> Option<String> {
    // By type and not by text, because the reason of the feature is written by the engine.
    let mut causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes
        .find_map(|cause| cause.downcast_ref())
        .map(|Unsupported(feature)| feature.clone())
}

#[cfg(test)]
mod tests;
