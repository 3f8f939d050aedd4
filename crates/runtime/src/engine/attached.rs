//! An engine process on a device, verified.

use super::{
    attach_error::AttachError,
    witness::{MemoryWitness, bytes_of, class, in_use},
};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};
use testgen_device::{Device, process_memory};
use testgen_engine::{
    AlgorithmsReply, ComputeOperation, DeviceClass, DeviceRequest, Engine, EngineCommand,
    EngineError, EngineName, LoadReply, MemoryReply, StartedEngine, Tensor, Tensors,
    device_mismatch, time_limit,
};
use testgen_types::{DeviceKind, Operator, Precision};

/// How often an engine is started that seems to use no memory of its device.
const STARTS: u32 = 3;

/// Held while an engine opens its device.
static OPENING: Mutex<()> = Mutex::new(());

/// An engine on a device.
#[derive(Debug)]
pub(crate) struct AttachedEngine {
    engine: Engine,
    device: Device,
    fallback: Option<String>,
    memory: Option<MemoryWitness>,
}

impl AttachedEngine {
    /// Starts `name` on `device`, and compares the device that it reports with that one.
    pub(super) fn start(name: &EngineName, device: &Device) -> Result<Self, AttachError> {
        // The driver counts the memory of all processes. Where another one frees some while this
        // engine opens the device, nothing seems to be in use by the engine, so it is started
        // again.
        first_accepted(
            STARTS,
            || Self::start_once(name, device),
            // Without a witness there is nothing that a second start could show.
            |started: &Self| started.memory.is_none_or(MemoryWitness::has_grown),
        )
    }

    fn start_once(name: &EngineName, device: &Device) -> Result<Self, AttachError> {
        let request = DeviceRequest {
            kind: class(device.kind),
            index: device.index,
            uuid: device.uuid.clone(),
            pci_address: device.pci_address.clone(),
        };
        let started = StartedEngine::start(
            // Started before the lock: the start takes seconds and does not open the device.
            EngineCommand::for_engine(name).map_err(EngineError::from)?,
            name,
            time_limit(),
        )?;
        // One at a time, so that what another engine takes when it opens the device is not counted
        // as this one's.
        let opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, right before the device is opened, because other engines change it.
        let before = in_use(device);
        let engine = started.open(request.clone())?;
        // ONNX Runtime, for instance, goes on with its CPU provider if the GPU's does not load.
        let on_cpu = device.kind != DeviceKind::Cpu && engine.device().kind == DeviceClass::Cpu;
        let memory = if on_cpu {
            None
        } else {
            MemoryWitness::new(device, before)
        };
        drop(opening);
        let fallback = on_cpu.then(|| {
            engine
                .why_another_device()
                .unwrap_or("it reports no reason")
                .to_owned()
        });
        // A fallback is on another device by definition, and is reported as one.
        if !on_cpu && let Some(problem) = device_mismatch(&request, engine.device()) {
            return Err(AttachError::Failed(format!(
                "engine {name} does not run on {}: {problem}",
                device.label()
            )));
        }
        Ok(Self {
            engine,
            device: device.clone(),
            fallback,
            memory,
        })
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Why it computes on the CPU in place of the GPU that was asked for.
    pub(crate) fn fallback(&self) -> Option<String> {
        self.fallback
            .as_ref()
            .map(|why| format!("engine {} computes on the CPU: {why}", self.engine.name()))
    }

    /// Whether f32 products may be computed in TF32: an option of the engine.
    pub(crate) fn tf32(&self) -> bool {
        // The option has an effect on NVIDIA GPUs only.
        self.engine.name().tf32() && self.fallback.is_none() && self.device.kind == DeviceKind::Cuda
    }

    /// Whether it computes nothing but operators.
    pub(crate) fn only_operators(&self) -> bool {
        self.engine.only_operators()
    }

    /// The results of every algorithm that it offers for its own lists of `operators`, or `None`
    /// for an engine without such lists.
    pub(crate) fn algorithms(
        &self,
        operators: Vec<Operator>,
        precision: Precision,
    ) -> Result<Option<AlgorithmsReply>, String> {
        self.engine
            // A simulated device computes on the host, so that only a part of the list is computed
            // there.
            .algorithms(operators, precision, self.device.simulated)
            .map_err(|error| error.to_string())
    }

    /// Its name and the versions of its libraries.
    pub(super) fn versions(&self) -> String {
        self.engine.describe_versions()
    }

    /// Whether the process has not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.engine.process().is_running()
    }

    /// Bytes that its tensors use, and have used at most since the last load. Both are `None` if it
    /// does not count them, or does not answer.
    pub(crate) fn memory(&self) -> MemoryReply {
        // The calls of the check itself report an engine that does not answer.
        self.engine.memory().unwrap_or_default()
    }

    /// Bytes of its GPU that the driver has given to its process, or `None` if the driver does not
    /// report them.
    pub(crate) fn driver_memory(&self) -> Option<u64> {
        // In place of a GPU, the engine computes on the host processor.
        let pid = self.engine.process().id().filter(|_| self.is_on_gpu())?;
        process_memory(&self.device, pid)
    }

    /// Whether it computes on a GPU.
    pub(super) fn is_on_gpu(&self) -> bool {
        self.device.kind != DeviceKind::Cpu && self.fallback.is_none()
    }

    /// The result of an operation on vectors, or of a product of [rows, inner] and [inner,
    /// columns], computed in `precision`.
    pub(crate) fn compute(
        &self,
        operation: ComputeOperation,
        operands: [Option<FloatTensor>; 2],
        precision: Precision,
        result: Precision,
    ) -> Result<Vec<f32>, String> {
        let named = ["left", "right"].into_iter().zip(operands);
        let tensors: Tensors = named
            .filter_map(|(name, operand)| {
                let FloatTensor { shape, values } = operand?;
                Some((
                    name.to_owned(),
                    Tensor {
                        shape,
                        data: testgen_engine::TensorData::F32(values),
                    },
                ))
            })
            .collect();
        self.engine
            .compute(operation, tensors, precision, result)
            .map_err(|error| error.to_string())
    }

    /// Bytes in use on its GPU by all processes, or `None` if nothing is known about them.
    pub(super) fn memory_of_device(&self) -> Option<u64> {
        self.memory.and_then(|_| in_use(&self.device))
    }

    /// Confirms that the weights of a loaded model can be on the device, whose memory in use was
    /// `before` the load.
    pub(super) fn confirm_memory(
        &self,
        before: Option<u64>,
        directory: &Path,
        loaded: &LoadReply,
        precision: Precision,
    ) -> Result<(), String> {
        let (Some(memory), Some(before)) = (self.memory, before) else {
            return Ok(());
        };
        memory.confirm(
            &self.device,
            before,
            bytes_of(directory, &loaded.tensors.read, precision),
        )
    }

    /// The kind of device in the terms of checks.
    pub(super) fn kind_of(class: DeviceClass) -> DeviceKind {
        match class {
            DeviceClass::Cpu => DeviceKind::Cpu,
            DeviceClass::Cuda => DeviceKind::Cuda,
            DeviceClass::Rocm => DeviceKind::Rocm,
        }
    }
}

/// The first result that is accepted, else the last one: the check that loads a model reports an
/// engine that still uses no memory.
fn first_accepted<T, E>(
    attempts: u32,
    mut attempt: impl FnMut() -> Result<T, E>,
    accepted: impl Fn(&T) -> bool,
) -> Result<T, E> {
    for _ in 1..attempts {
        // A result that is not accepted is dropped, and its process ended, before the next one
        // starts.
        let result = attempt()?;
        if accepted(&result) {
            return Ok(result);
        }
    }
    attempt()
}

/// A tensor of f32.
#[derive(Debug, Clone)]
pub(crate) struct FloatTensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

#[cfg(test)]
mod tests {
    use super::first_accepted;

    #[test]
    fn an_engine_is_started_again_until_it_uses_memory() {
        let starts = |needed: u32| {
            let mut count = 0;
            let mut start = || {
                count += 1;
                Ok::<u32, ()>(count)
            };
            let accepted = first_accepted(3, &mut start, |start| *start >= needed);
            (accepted, count)
        };
        assert_eq!(
            [1, 2, 3, 9].map(starts),
            [(Ok(1), 1), (Ok(2), 2), (Ok(3), 3), (Ok(3), 3)]
        );
        assert_eq!(
            first_accepted(3, || Err::<(), &str>("does not start"), |()| true),
            Err("does not start")
        );
    }
}
