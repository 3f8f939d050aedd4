//! The interface that model code implements, generic over the backend, and the eraser that hides the backend again.

use super::{
    forward::{Forward, ForwardError, Placement, Session},
    stepper::Stepper,
};
use crate::{Array, Arrays, backend::Ops, layer::Routing};
use burn::tensor::{DType, Int, Tensor, TensorData};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_contract::Precision;

/// A model in one backend's tensors.
pub(crate) trait Network<B: Ops>: Send {
    /// Computes every output of the transformers class and hands each to `pass`.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError>;

    /// The argument that grows token by token when the model generates.
    fn growing_input(&self) -> &'static str {
        "input_ids"
    }

    /// The number of layers that keep keys and values; none for a model that does not generate.
    fn cached_layers(&self) -> Option<usize> {
        None
    }

    /// The longest sequence that the model has positions for; none when there is no limit of its own.
    fn max_positions(&self) -> Option<usize> {
        None
    }

    /// The longest sequence for which steps with a cache must equal the whole sequence at once; none for any length.
    fn cacheable_length(&self) -> Option<usize> {
        None
    }

    /// The length beyond which every key must be computed anew, once; none when keys stay as they are.
    fn recomputed_beyond(&self) -> Option<usize> {
        None
    }

    /// Whether a token sees only those before it.
    fn causal(&self) -> bool {
        self.cached_layers().is_some()
    }

    /// Which token the pooled outputs of a text are read at.
    fn pooling(&self) -> Pooling {
        Pooling::Fixed
    }
}

/// Which token the pooled outputs of a text are read at, which decides what padding may do to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The first, or the last that is no padding: padding changes nothing.
    Fixed,
    /// One that is found by its id: padding behind it changes nothing.
    EndToken,
    /// The last column, padding or not.
    LastColumn,
}

/// The arguments of one call, ready to be put on the device.
pub(crate) struct Inputs<'a, B: Ops> {
    arrays: &'a Arrays,
    device: &'a B::Device,
    /// The type that the model computes in.
    pub(crate) dtype: DType,
}

impl<'a, B: Ops> Inputs<'a, B> {
    /// The argument as it was given, for what is decided on the host.
    pub(crate) fn host(&self, name: &str) -> Option<&'a Array> {
        self.arrays.get(name)
    }

    /// Other arguments for a part of the model.
    pub(crate) fn with<'b>(&self, arrays: &'b Arrays) -> Inputs<'b, B>
    where
        'a: 'b,
    {
        Inputs { arrays, device: self.device, dtype: self.dtype }
    }

    /// The device that the model lives on.
    pub(crate) fn device(&self) -> &'a B::Device {
        self.device
    }

    /// Integers [batch, seq] that must be there, all in `0..limit`.
    pub(crate) fn indices(&self, name: &'static str, limit: usize) -> Result<Tensor<B, 2, Int>, ForwardError> {
        self.optional_indices(name, limit)?.ok_or(ForwardError::MissingInput { name })
    }

    /// Integers [batch, seq] that may be there, all in `0..limit`.
    pub(crate) fn optional_indices(
        &self,
        name: &'static str,
        limit: usize,
    ) -> Result<Option<Tensor<B, 2, Int>>, ForwardError> {
        let Some(array) = self.arrays.get(name) else { return Ok(None) };
        let wrong = || ForwardError::WrongInput {
            name: name.to_owned(),
            found: format!("a tensor of shape {:?}", array.shape()),
            expected: "integers of shape [batch, seq]".to_owned(),
        };
        let values = array.as_integers().ok_or_else(wrong)?;
        let shape: [usize; 2] = array.shape().try_into().map_err(|_| wrong())?;
        self.checked_indices(name, values.to_vec(), shape, limit).map(Some)
    }

    /// Integers that were read or computed on the host, all in `0..limit`, on the device.
    pub(crate) fn checked_indices<const D: usize>(
        &self,
        name: &'static str,
        values: Vec<i64>,
        shape: [usize; D],
        limit: usize,
    ) -> Result<Tensor<B, D, Int>, ForwardError> {
        match values.iter().find(|value| **value < 0 || **value >= limit as i64) {
            Some(&value) => Err(ForwardError::OutOfRange { name, value, limit }),
            None => Ok(self.put_indices(values, shape)),
        }
    }

    /// Integers that the model computed on the host, on the device.
    pub(crate) fn put_indices<const D: usize>(&self, values: Vec<i64>, shape: [usize; D]) -> Tensor<B, D, Int> {
        let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
        Tensor::from_data(TensorData::new(values, shape), (self.device, DType::I32))
    }

    /// Floats that the model computed on the host, on the device, in the model's type.
    pub(crate) fn put_floats<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<B, D> {
        put_floats(values, shape, self.device, self.dtype)
    }

    /// Images [batch, channels, height, width] that must be there, of exactly the model's size.
    pub(crate) fn image(&self, name: &'static str, size: [usize; 3]) -> Result<Tensor<B, 4>, ForwardError> {
        self.checked_image(name, |shape| shape == size, format!("floats of shape [batch, {size:?}]"))
    }

    /// Images [batch, channels, height, width] that must be there, of any height and width.
    pub(crate) fn image_of_channels(&self, name: &'static str, channels: usize) -> Result<Tensor<B, 4>, ForwardError> {
        let expected = format!("floats of shape [batch, {channels}, height, width]");
        self.checked_image(name, |shape| shape[0] == channels, expected)
    }

    fn checked_image(
        &self,
        name: &'static str,
        fits: impl FnOnce(&[usize]) -> bool,
        expected: String,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let image = self.floats::<4>(name)?;
        if fits(&image.dims()[1..]) {
            return Ok(image);
        }
        let found = format!("a tensor of shape {:?}", image.dims());
        Err(ForwardError::WrongInput { name: name.to_owned(), found, expected })
    }

    /// Floats of `D` dimensions that must be there, in the model's type.
    pub(crate) fn floats<const D: usize>(&self, name: &'static str) -> Result<Tensor<B, D>, ForwardError> {
        let array = self.arrays.get(name).ok_or(ForwardError::MissingInput { name })?;
        let wrong = || ForwardError::WrongInput {
            name: name.to_owned(),
            found: format!("a tensor of shape {:?}", array.shape()),
            expected: format!("floats of {D} dimensions"),
        };
        let values = array.as_floats().ok_or_else(wrong)?;
        let shape: [usize; D] = array.shape().try_into().map_err(|_| wrong())?;
        Ok(self.put_floats(values.to_vec(), shape))
    }
}

/// Host floats on `device`, as `dtype`, rounded to nearest even.
pub(crate) fn put_floats<B: Ops, const D: usize>(
    values: Vec<f32>,
    shape: [usize; D],
    device: &B::Device,
    dtype: DType,
) -> Tensor<B, D> {
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (device, dtype))
}

/// What a session keeps: the keys and values of every layer, each [batch, key_value_heads, seq, head_dim].
pub(crate) struct Cache<B: Ops> {
    layers: Vec<Option<KeyValue<B>>>,
    /// Those of cross-attention, made once of what the encoder gave.
    memory: Vec<Option<KeyValue<B>>>,
    /// What layers keep that have a state instead: that of the convolution and that of the scan.
    states: Vec<Option<[Tensor<B, 3>; 2]>>,
    /// Arguments of the first step that later ones need, too.
    kept: Option<Arrays>,
    length: usize,
}

/// Keys and values of one attention.
pub(crate) type KeyValue<B> = (Tensor<B, 4>, Tensor<B, 4>);

impl<B: Ops> Cache<B> {
    pub(super) fn new(layers: usize) -> Self {
        let (memory, states) = (vec![None; layers], vec![None; layers]);
        Self { layers: vec![None; layers], memory, states, kept: None, length: 0 }
    }

    /// The number of layers.
    pub(super) fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The number of tokens whose keys and values are here, before the current call.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Counts `new` tokens that were read.
    pub(super) fn advance(&mut self, new: usize) {
        self.length += new;
    }

    /// Appends the new keys and values of `layer` and gives all of them.
    pub(crate) fn extend(
        &mut self,
        layer: usize,
        key: Tensor<B, 4>,
        value: Tensor<B, 4>,
    ) -> (Tensor<B, 4>, Tensor<B, 4>) {
        let (key, value) = match self.layers[layer].take() {
            Some((keys, values)) => (Tensor::cat(vec![keys, key], 2), Tensor::cat(vec![values, value], 2)),
            None => (key, value),
        };
        self.layers[layer] = Some((key.clone(), value.clone()));
        (key, value)
    }
}

/// One call on its way through a network: the cache it may use and the results it leaves.
pub(crate) struct Pass<'a, B: Ops> {
    cache: Option<&'a mut Cache<B>>,
    traced: bool,
    stack: &'static str,
    result: Forward,
}

impl<B: Ops> Pass<'_, B> {
    /// All keys and values of `layer`: the new ones, behind those of earlier steps when the call is a step of a session.
    pub(crate) fn with_past(
        &mut self,
        layer: usize,
        key: Tensor<B, 4>,
        value: Tensor<B, 4>,
    ) -> (Tensor<B, 4>, Tensor<B, 4>) {
        match self.cache.as_deref_mut() {
            Some(cache) => cache.extend(layer, key, value),
            None => (key, value),
        }
    }

    /// The keys and values of `layer`'s cross-attention: those of the first step when the call is a later step of a
    /// session, else what `make` gives; none when it gives none.
    pub(crate) fn with_memory(
        &mut self,
        layer: usize,
        make: impl FnOnce() -> Option<KeyValue<B>>,
    ) -> Result<KeyValue<B>, ForwardError> {
        let known = self.cache.as_ref().and_then(|cache| cache.memory[layer].clone());
        let memory = known.or_else(make).ok_or(ForwardError::NotEncoded)?;
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.memory[layer] = Some(memory.clone());
        }
        Ok(memory)
    }

    /// The number of positions that cross-attention sees in a later step; none in a first one.
    pub(crate) fn memory_length(&self) -> Option<usize> {
        let (key, _) = self.cache.as_ref()?.memory.first()?.as_ref()?;
        Some(key.dims()[2])
    }

    /// Names the stack whose traces follow, as `encoder.`.
    pub(crate) fn enter(&mut self, stack: &'static str) {
        self.stack = stack;
    }

    /// What `layer` kept in the step before; none at the beginning, and when the call is no step of a session.
    pub(crate) fn state(&self, layer: usize) -> Option<[Tensor<B, 3>; 2]> {
        self.cache.as_deref().and_then(|cache| cache.states[layer].clone())
    }

    /// Keeps the state of `layer` for the next step, when the call is a step of a session.
    pub(crate) fn keep_state(&mut self, layer: usize, state: [Tensor<B, 3>; 2]) {
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.states[layer] = Some(state);
        }
    }

    /// What the first step of a session kept; none in a first step.
    pub(crate) fn kept(&self) -> Option<&Arrays> {
        self.cache.as_deref()?.kept.as_ref()
    }

    /// Keeps arguments for the later steps, when the call is a step of a session.
    pub(crate) fn keep(&mut self, arrays: Arrays) {
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.kept = Some(arrays);
        }
    }

    /// Leaves what was decided on the host.
    pub(crate) fn decide(&mut self, name: &str, array: Array) {
        self.result.decisions.insert(name.to_owned(), array);
    }

    /// The number of tokens before this call.
    pub(crate) fn past(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.length())
    }

    /// Leaves an output, by its name in transformers.
    pub(crate) fn output<const D: usize>(&mut self, name: &str, tensor: Tensor<B, D>) -> Result<(), ForwardError> {
        self.output_to_host(name, tensor).map(drop)
    }

    /// As [`Pass::output`], and gives it back as the host has it.
    pub(crate) fn output_to_host<const D: usize>(
        &mut self,
        name: &str,
        tensor: Tensor<B, D>,
    ) -> Result<Array, ForwardError> {
        let array = self.read(name, tensor)?;
        self.result.outputs.insert(name.to_owned(), array.clone());
        Ok(array)
    }

    /// Leaves the output of the embeddings, when a trace was asked for.
    pub(crate) fn trace_embed<const D: usize>(&mut self, tensor: &Tensor<B, D>) -> Result<(), ForwardError> {
        self.trace(format!("{}embed", self.stack), tensor)
    }

    /// Leaves the hidden state behind layer `index`, when a trace was asked for. As transformers returns hidden states,
    /// the one behind the last layer is taken after the model's final norm.
    pub(crate) fn trace_layer<const D: usize>(
        &mut self,
        index: usize,
        tensor: &Tensor<B, D>,
    ) -> Result<(), ForwardError> {
        self.trace(format!("{}layer.{index}", self.stack), tensor)
    }

    /// Leaves what the router of layer `index` decided, when a trace was asked for.
    pub(crate) fn trace_routing(&mut self, index: usize, routing: &Routing<B>) -> Result<(), ForwardError> {
        self.trace(format!("router.{index}"), &routing.probabilities)?;
        self.trace(format!("routing.{index}"), &routing.weights)
    }

    fn trace<const D: usize>(&mut self, name: String, tensor: &Tensor<B, D>) -> Result<(), ForwardError> {
        if self.traced {
            let array = self.read(&name, tensor.clone())?;
            self.result.trace.push((name, array));
        }
        Ok(())
    }

    fn read<const D: usize>(&mut self, name: &str, tensor: Tensor<B, D>) -> Result<Array, ForwardError> {
        let placement = Placement { device: B::kind(&tensor.device()), precision: precision_of(tensor.dtype())? };
        self.result.placements.push((name.to_owned(), placement));
        array_of(tensor)
    }
}

/// A tensor on the host, as f32.
pub(crate) fn array_of<B: Ops, const D: usize>(tensor: Tensor<B, D>) -> Result<Array, ForwardError> {
    let shape = tensor.dims().to_vec();
    let data = tensor.try_into_data().map_err(|error| ForwardError::Device { message: format!("{error:?}") })?;
    let values = data.convert::<f32>().into_vec::<f32>();
    let values = values.map_err(|error| ForwardError::Device { message: format!("{error:?}") })?;
    Ok(Array::floats(shape, values))
}

fn precision_of(dtype: DType) -> Result<Precision, ForwardError> {
    match dtype {
        DType::F32 => Ok(Precision::F32),
        DType::F16 => Ok(Precision::F16),
        DType::BF16 => Ok(Precision::Bf16),
        other => Err(ForwardError::Device { message: format!("an output has the type {other:?}") }),
    }
}

/// Runs device code; a panic of the backend becomes its message.
pub(super) fn guard<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        text.unwrap_or("the backend panicked without a message").to_owned()
    })
}

/// A loaded model with its backend hidden.
pub(crate) trait Run: Send {
    fn run(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError>;
    fn session(&self) -> Option<Box<dyn Session + '_>>;
    fn max_positions(&self) -> Option<usize>;
    fn cacheable_length(&self) -> Option<usize>;
    fn causal(&self) -> bool;
    fn pooling(&self) -> Pooling;
}

/// A network together with where and in what it computes.
pub(super) struct Placed<B: Ops> {
    pub(super) network: Box<dyn Network<B>>,
    pub(super) device: B::Device,
    pub(super) dtype: DType,
}

impl<B: Ops> Placed<B> {
    pub(super) fn call(
        &self,
        arrays: &Arrays,
        traced: bool,
        cache: Option<&mut Cache<B>>,
    ) -> Result<Forward, ForwardError> {
        let inputs = Inputs { arrays, device: &self.device, dtype: self.dtype };
        let result = Forward::default();
        let mut pass = Pass { cache, traced, stack: "", result };
        guard(|| self.network.forward(&inputs, &mut pass)).map_err(|message| ForwardError::Device { message })??;
        Ok(pass.result)
    }
}

impl<B: Ops> Run for Placed<B> {
    fn run(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        self.call(inputs, traced, None)
    }

    fn session(&self) -> Option<Box<dyn Session + '_>> {
        Some(Box::new(Stepper::new(self)?))
    }

    fn max_positions(&self) -> Option<usize> {
        self.network.max_positions()
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.network.cacheable_length()
    }

    fn causal(&self) -> bool {
        self.network.causal()
    }

    fn pooling(&self) -> Pooling {
        self.network.pooling()
    }
}
