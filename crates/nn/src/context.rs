//! The state of one call of a network.

use crate::{
    array::{Array, Arrays},
    backend::Ops,
    cache::{Cache, KeyValue, LayerState},
    forward::{Forward, ForwardError, Placement},
    routing::Routing,
    timing::LayerTimes,
};
use burn_tensor::{DType, Tensor};
use half::{bf16, f16, slice::HalfFloatSliceExt};
use testgen_types::Precision;

/// The state of one call of a network: the cache that it may use and the results that layers store.
pub struct ForwardContext<'a, B: Ops> {
    cache: Option<&'a mut Cache<B>>,
    traced: bool,
    /// Whether outputs stay on the device.
    on_device: bool,
    /// The prefix of traces.
    prefix: &'static str,
    /// Whether streamed layers are loaded and computed by turns.
    computes_apart: bool,
    layer_times: LayerTimes,
    result: Forward,
}

/// One layer within a call.
pub struct LayerSlot<'c, 'a, B: Ops> {
    /// The layer's place in the network and in the cache.
    pub index: usize,
    /// The call.
    pub context: &'c mut ForwardContext<'a, B>,
}

impl<B: Ops> LayerSlot<'_, '_, B> {
    /// All keys and values of this layer's self-attention: in a step of a session the new ones
    /// follow the keys and values of earlier steps.
    pub fn with_past(&mut self, new: KeyValue<B>) -> KeyValue<B> {
        self.context.with_past(self.index, new)
    }
}

impl<'a, B: Ops> ForwardContext<'a, B> {
    /// The context of one call: of a step of a session with its cache, with the hidden states if
    /// `traced`.
    pub fn new(cache: Option<&'a mut Cache<B>>, traced: bool) -> Self {
        Self {
            cache,
            traced,
            on_device: false,
            prefix: "",
            computes_apart: false,
            layer_times: LayerTimes::default(),
            result: Forward::default(),
        }
    }

    /// The context of a call whose outputs are computed and not copied to the host, so that its
    /// result is empty.
    pub fn on_device(cache: Option<&'a mut Cache<B>>) -> Self {
        Self {
            on_device: true,
            ..Self::new(cache, false)
        }
    }

    /// The context of a call as in [`ForwardContext::on_device`], which loads and computes streamed
    /// layers by turns, to measure both.
    pub fn apart() -> Self {
        Self {
            computes_apart: true,
            ..Self::on_device(None)
        }
    }

    pub(crate) fn computes_apart(&self) -> bool {
        self.computes_apart
    }

    pub(crate) fn add_layer_times(&mut self, times: LayerTimes) {
        self.layer_times += times;
    }

    /// The time that streamed layers took.
    pub fn layer_times(&self) -> LayerTimes {
        self.layer_times
    }

    /// The result of the call.
    pub fn into_result(self) -> Forward {
        self.result
    }

    /// All keys and values of `layer`: in a step of a session the new ones follow the keys and
    /// values of earlier steps.
    pub fn with_past(&mut self, layer: usize, new: KeyValue<B>) -> KeyValue<B> {
        match self.cache.as_deref_mut() {
            Some(cache) => cache.extend(layer, new),
            None => new,
        }
    }

    /// The keys and values of `layer`'s cross-attention: the result of the first step when the call
    /// is a later step of a session, else the result of `make`, which is an error if it is none.
    pub fn with_memory(
        &mut self,
        layer: usize,
        make: impl FnOnce() -> Option<KeyValue<B>>,
    ) -> Result<KeyValue<B>, ForwardError> {
        let known = self
            .cache
            .as_ref()
            .and_then(|cache| cache.memory(layer).cloned());
        let memory = known.or_else(make).ok_or(ForwardError::NotEncoded)?;
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.keep_memory(layer, memory.clone());
        }
        Ok(memory)
    }

    /// The number of positions that cross-attention sees in a later step, or `None` in a first one.
    pub fn memory_length(&self) -> Option<usize> {
        // Any layer would do: they all attend to the same encoder output.
        let memory = self.cache.as_ref()?.memory(0)?;
        Some(memory.key.dims()[2])
    }

    /// Sets the prefix of the traces that follow, such as `encoder.`.
    pub fn enter(&mut self, prefix: &'static str) {
        self.prefix = prefix;
    }

    /// The state of `layer` after the previous step, or `None` in the first step, and in a call
    /// without a session.
    pub fn state(&self, layer: usize) -> Option<LayerState<B>> {
        self.cache.as_deref().and_then(|cache| cache.state(layer))
    }

    /// Keeps the state of `layer` for the next step, when the call is a step of a session.
    pub fn keep_state(&mut self, layer: usize, state: LayerState<B>) {
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.keep_state(layer, state);
        }
    }

    /// The keys and values that the first step of a session stored, or `None` in the first step.
    pub fn kept(&self) -> Option<&Arrays> {
        self.cache.as_deref()?.kept()
    }

    /// Keeps arguments for the later steps, when the call is a step of a session.
    pub fn keep(&mut self, arrays: Arrays) {
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.keep(arrays);
        }
    }

    /// Stores integers that were computed on the host.
    pub fn output_from_host(&mut self, name: &str, array: Array) {
        self.result.host_outputs.insert(name.to_owned(), array);
    }

    /// The number of tokens before this call.
    pub fn past(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.length())
    }

    /// Stores an output, by its name in transformers.
    pub fn output<const D: usize>(
        &mut self,
        name: &str,
        tensor: Tensor<B, D>,
    ) -> Result<(), ForwardError> {
        if !self.on_device {
            let array = self.read(name, tensor)?;
            self.result.outputs.insert(name.to_owned(), array);
        }
        Ok(())
    }

    /// As [`ForwardContext::output`], and returns a copy of it on the host.
    pub fn output_to_host<const D: usize>(
        &mut self,
        name: &str,
        tensor: Tensor<B, D>,
    ) -> Result<Array, ForwardError> {
        // Also if outputs stay on the device: the network goes on with this one on the host.
        let array = self.read(name, tensor)?;
        self.result.outputs.insert(name.to_owned(), array.clone());
        Ok(array)
    }

    /// Stores the output of the embeddings, if a trace was requested.
    pub fn trace_embed<const D: usize>(
        &mut self,
        tensor: &Tensor<B, D>,
    ) -> Result<(), ForwardError> {
        self.trace(format!("{}embed", self.prefix), tensor)
    }

    /// Stores the hidden state after layer `index`, when a trace was requested.
    pub fn trace_layer<const D: usize>(
        &mut self,
        index: usize,
        tensor: &Tensor<B, D>,
    ) -> Result<(), ForwardError> {
        self.trace(format!("{}layer.{index}", self.prefix), tensor)
    }

    /// Stores the router's decision of layer `index`, if a trace was requested.
    pub fn trace_routing(
        &mut self,
        index: usize,
        routing: &Routing<B>,
    ) -> Result<(), ForwardError> {
        self.trace(format!("router.{index}"), &routing.probabilities)?;
        self.trace(format!("routing.{index}"), &routing.weights)
    }

    fn trace<const D: usize>(
        &mut self,
        name: String,
        tensor: &Tensor<B, D>,
    ) -> Result<(), ForwardError> {
        if self.traced {
            let array = self.read(&name, tensor.clone())?;
            self.result.trace.push((name, array));
        }
        Ok(())
    }

    fn read<const D: usize>(
        &mut self,
        name: &str,
        tensor: Tensor<B, D>,
    ) -> Result<Array, ForwardError> {
        // From the tensor and not from the request: a silent fallback to another device or type
        // must show.
        let placement = Placement {
            device: B::kind(&tensor.device()),
            precision: precision_of(tensor.dtype())?,
        };
        self.result.placements.push((name.to_owned(), placement));
        array_of(tensor)
    }
}

/// A tensor on the host, as f32. burn's own conversion takes several nanoseconds for each element.
pub fn array_of<B: Ops, const D: usize>(tensor: Tensor<B, D>) -> Result<Array, ForwardError> {
    let shape = tensor.dims().to_vec();
    let data = tensor
        .try_into_data()
        .map_err(|error| ForwardError::Device {
            message: format!("{error:?}"),
        })?;
    let values = match data.dtype {
        // `half` converts slices with the processor's instructions.
        DType::F16 => data.as_slice::<f16>().map(<[f16]>::to_f32_vec),
        DType::BF16 => data.as_slice::<bf16>().map(<[bf16]>::to_f32_vec),
        _ => data.convert::<f32>().into_vec::<f32>(),
    };
    let values: Vec<f32> = values.map_err(|error| ForwardError::Device {
        message: format!("{error:?}"),
    })?;
    Ok(Array::floats(shape, values))
}

fn precision_of(dtype: DType) -> Result<Precision, ForwardError> {
    match dtype {
        DType::F32 => Ok(Precision::F32),
        DType::F16 => Ok(Precision::F16),
        DType::BF16 => Ok(Precision::Bf16),
        other => Err(ForwardError::Device {
            message: format!("an output has the type {other:?}"),
        }),
    }
}
