//! A model in an engine, in the place of a network.

use super::{
    arrays::{forward, tensors},
    attached::AttachedEngine,
    check_engine::CheckEngine,
    timed::timed,
};
use std::{collections::BTreeMap, path::Path, sync::Arc};
use testgen_engine::{Engine, EngineError, Feature, LoadRequest, Tensors};
use testgen_models::{Capabilities, Checkpoint, ErasedModel, LoadError, Model};
use testgen_nn::{
    array::Arrays,
    forward::{Forward, ForwardError, Session, Unsupported},
    timing::{CallTimes, TimedCall, step_after},
};
use testgen_types::{ModelType, Precision, Repetitions};

/// A model that an engine has loaded.
struct EngineModel {
    process: Arc<AttachedEngine>,
    engine: CheckEngine,
    model: u64,
    capabilities: Capabilities,
}

/// Loads the checkpoint in an engine. Returns the model, and the features that it does not have
/// with the reasons.
pub(crate) fn load(
    model_type: ModelType,
    checkpoint: &Checkpoint,
    process: &Arc<AttachedEngine>,
    engine: &CheckEngine,
    precision: Precision,
) -> Result<(Model, BTreeMap<Feature, String>), LoadError> {
    // Without a replaced configuration: what testgen reads must not change with what the engine is
    // asked to compute.
    let own = Checkpoint::at(checkpoint.directory());
    // Everything that is not computed (configuration, capabilities, processors) is read by testgen
    // from the checkpoint's own configuration; a replaced configuration is the engine's alone.
    // Neither a network is built nor weights are read, so that an engine can have types, values of
    // the configuration, and sizes that the native one does not have.
    let description = testgen_models::describe(model_type, &own)?;
    let directory = checkpoint.complete_directory()?;
    let config = checkpoint.config()?;
    let request = LoadRequest {
        directory: absolute(&directory),
        // Only a configuration that differs, so that an engine otherwise reads the file as
        // transformers does.
        config: (config != *description.config()).then_some(config),
        model_type: model_type.as_str().to_owned(),
        class: description.class().to_owned(),
        dtype: precision,
        implementation: engine.implementation.clone(),
    };
    let replaced = request.config.is_some();
    // Right before the load, because other processes change the memory of the device.
    let before = process.memory_of_device();
    let loaded = process
        .engine()
        .load(request)
        .map_err(|error| match error {
            // With another configuration an engine may lack what the checkpoint does not need.
            EngineError::Unsupported { message } if !replaced => Unsupported(message).into(),
            other => LoadError::Engine {
                message: other.to_string(),
            },
        })?;
    // From here on the engine's copy is dropped with the model.
    let (process, engine, capabilities) = (
        Arc::clone(process),
        engine.clone(),
        description.capabilities(),
    );
    let model = EngineModel {
        process,
        engine,
        model: loaded.model,
        capabilities,
    };
    // Built before it is confirmed, so that an error unloads it.
    model
        .process
        .confirm_memory(before, &directory, &loaded, precision)
        .map_err(|message| LoadError::Engine { message })?;
    let tensors = [loaded.tensors.read, loaded.tensors.unused];
    Ok((
        Model::of_engine(description, Box::new(model), precision, tensors),
        loaded.lacks,
    ))
}

/// The engine has another working directory.
fn absolute(directory: &Path) -> String {
    std::path::absolute(directory)
        .unwrap_or_else(|_| directory.to_owned())
        .to_string_lossy()
        .into_owned()
}

impl ErasedModel for EngineModel {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let found = self
            .process
            .engine()
            .forward(self.model, &tensors(inputs), traced)
            .map_err(failed)?;
        self.engine.set_providers(&found.providers);
        Ok(forward(found))
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        // Known without the engine, which would answer with an error.
        if self.capabilities.cached_layers.is_none() {
            return Ok(None);
        }
        match self.process.engine().open_session(self.model) {
            Ok(session) => Ok(Some(Box::new(EngineSession {
                model: self,
                session,
                length: 0,
            }))),
            // An engine without a cache for this model has none, as a model without one.
            Err(EngineError::Failed { .. }) => Ok(None),
            // What it does not support, and a process that died or does not answer.
            Err(error) => Err(failed(error)),
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn time(
        &self,
        call: TimedCall<'_>,
        repetitions: Repetitions,
    ) -> Result<CallTimes, ForwardError> {
        let engine = self.process.engine();
        match call {
            TimedCall::Forward(inputs) => {
                let inputs = tensors(inputs);
                let calls = timed(repetitions, |repetitions| {
                    engine.time_forward(self.model, &inputs, repetitions)
                });
                Ok(CallTimes {
                    calls: calls.map_err(failed)?,
                    steps: Vec::new(),
                })
            }
            TimedCall::Decode { prompt, steps } => {
                let name = self.capabilities.token_input_name;
                let step = step_after(prompt, name).ok_or(ForwardError::MissingInput { name })?;
                let session = engine.open_session(self.model).map_err(failed)?;
                let sequence = TimedSequence {
                    session,
                    inputs: [tensors(prompt), tensors(&step)],
                    steps,
                };
                let times = sequence.time(engine, repetitions).map_err(failed);
                // It ends with its model in any case.
                let _ = engine.close_session(session);
                times
            }
        }
    }
}

/// A sequence in an engine that is timed: its prompt and its step, which is repeated.
struct TimedSequence {
    session: u64,
    inputs: [Tensors; 2],
    steps: u32,
}

impl TimedSequence {
    fn time(&self, engine: &Engine, repetitions: Repetitions) -> Result<CallTimes, EngineError> {
        let [prompt, step] = &self.inputs;
        let sequence = || {
            engine.reset_session(self.session)?;
            let time = |inputs: &Tensors, count| {
                engine.time_step(self.session, inputs, Repetitions::exactly(count))
            };
            Ok::<_, EngineError>((time(prompt, 1)?, time(step, self.steps)?))
        };
        let sequences = repetitions.measure_counted(|(_, steps)| steps.len(), sequence)?;
        let (calls, steps): (Vec<_>, Vec<_>) = sequences.into_iter().unzip();
        Ok(CallTimes {
            calls: calls.concat(),
            steps: steps.concat(),
        })
    }
}

impl Drop for EngineModel {
    fn drop(&mut self) {
        // Before the unload, after which the driver has the memory back.
        self.engine.note_memory(&self.process);
        // An engine that does not answer has ended, and its model with it.
        let _ = self.process.engine().unload(self.model);
    }
}

/// A sequence with a cache in an engine.
struct EngineSession<'a> {
    model: &'a EngineModel,
    session: u64,
    length: usize,
}

impl Session for EngineSession<'_> {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let name = self.model.capabilities.token_input_name;
        let ids = inputs
            .get(name)
            .ok_or(ForwardError::MissingInput { name })?;
        let new = ids.shape().get(1).copied().unwrap_or(0);
        match self
            .model
            .process
            .engine()
            .step(self.session, &tensors(inputs))
        {
            Ok(found) => {
                self.length += new;
                Ok(forward(found))
            }
            Err(error) => {
                // The engine has forgotten the sequence, too.
                self.length = 0;
                Err(failed(error))
            }
        }
    }

    fn reset(&mut self) {
        // If it fails, so does the next step.
        let _ = self.model.process.engine().reset_session(self.session);
        self.length = 0;
    }

    fn length(&self) -> usize {
        self.length
    }
}

impl Drop for EngineSession<'_> {
    fn drop(&mut self) {
        // It ends with its model in any case.
        let _ = self.model.process.engine().close_session(self.session);
    }
}

/// The error of a call.
fn failed(error: EngineError) -> ForwardError {
    match error {
        // An input that the model does not have ends the check as ignored, unless earlier numbers
        // were wrong.
        EngineError::Unsupported { message } => Unsupported(message).into(),
        other => ForwardError::Engine {
            message: other.to_string(),
        },
    }
}
