//! The cache of a decode session.

use crate::{array::Arrays, backend::Ops};
use burn_tensor::Tensor;

/// The cache: the keys and values of every layer, each [batch, key_value_heads, seq, head_dim].
pub struct Cache<B: Ops> {
    layers: Vec<Option<KeyValue<B>>>,
    /// Keys and values of cross-attention, computed once from the encoder's output.
    memory: Vec<Option<KeyValue<B>>>,
    /// The states of layers without attention.
    states: Vec<Option<LayerState<B>>>,
    /// Arguments of the first step that later ones need, too.
    kept: Option<Arrays>,
    length: usize,
}

/// Keys and values of one attention, each [batch, key_value_heads, seq, head_dim].
#[derive(Debug, Clone)]
pub struct KeyValue<B: Ops> {
    /// The keys.
    pub key: Tensor<B, 4>,
    /// The values.
    pub value: Tensor<B, 4>,
}

/// The state that a layer of a state space model (Mamba) keeps from step to step.
#[derive(Debug, Clone)]
pub struct LayerState<B: Ops> {
    /// The last inputs of the causal convolution: [batch, kernel - 1, channels].
    pub convolution: Tensor<B, 3>,
    /// The state of the selective scan: [batch, channels, state].
    pub scan: Tensor<B, 3>,
}

impl<B: Ops> Cache<B> {
    /// An empty cache of a network with `layers` layers.
    pub fn new(layers: usize) -> Self {
        let (memory, states) = (vec![None; layers], vec![None; layers]);
        Self {
            layers: vec![None; layers],
            memory,
            states,
            kept: None,
            length: 0,
        }
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The number of cached tokens, without the tokens of the current call.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Counts `new` tokens that were read.
    pub fn advance(&mut self, new: usize) {
        // Once for a call, although `extend` runs in every layer.
        self.length += new;
    }

    /// Appends the new keys and values of `layer` and returns all of them.
    pub fn extend(&mut self, layer: usize, new: KeyValue<B>) -> KeyValue<B> {
        // Taken and not cloned, so that the old keys are freed when they have been copied.
        let all = match self.layers[layer].take() {
            Some(past) => KeyValue {
                key: Tensor::cat(vec![past.key, new.key], 2),
                value: Tensor::cat(vec![past.value, new.value], 2),
            },
            None => new,
        };
        // The clone shares the memory of the tensors.
        self.layers[layer] = Some(all.clone());
        all
    }

    /// The keys and values of `layer`'s cross-attention.
    pub fn memory(&self, layer: usize) -> Option<&KeyValue<B>> {
        self.memory.get(layer)?.as_ref()
    }

    /// Keeps the keys and values of `layer`'s cross-attention.
    pub fn keep_memory(&mut self, layer: usize, memory: KeyValue<B>) {
        self.memory[layer] = Some(memory);
    }

    /// The keys and values that the first step stored.
    pub fn kept(&self) -> Option<&Arrays> {
        self.kept.as_ref()
    }

    /// Keeps arguments for the later steps.
    pub fn keep(&mut self, arrays: Arrays) {
        self.kept = Some(arrays);
    }

    /// The state of `layer`.
    pub fn state(&self, layer: usize) -> Option<LayerState<B>> {
        self.states[layer].clone()
    }

    /// Keeps the state of `layer`.
    pub fn keep_state(&mut self, layer: usize, state: LayerState<B>) {
        self.states[layer] = Some(state);
    }
}
