//! One call of a network: its sizes, its cache and the outputs that it keeps.

use crate::{
    attention::{KeyValueTensors, RotationTensors},
    config::CompleteConfig,
    error::EstimateError,
    tensor::{AllocatedTensor, ElementType, Machine, empty, weight},
};
use std::rc::Rc;
use testgen_types::{Head, ModelType};

/// One call of a network that reads `batch` inputs of `tokens` tokens, or of images.
#[derive(Debug)]
pub(crate) struct NetworkCall<'a> {
    pub(crate) machine: Rc<Machine>,
    pub(crate) model_type: ModelType,
    pub(crate) config: &'a CompleteConfig,
    pub(crate) head: Head,
    pub(crate) labels: u64,
    pub(crate) batch: u64,
    pub(crate) tokens: u64,
    /// Height and width of the images, of types that read images of any size, or as they were asked
    /// for; else zeros.
    pub(crate) images: [u64; 2],
    /// The number of tensors of the checkpoint: no model has more layers.
    pub(crate) limit: u64,
    /// The passages of the index beside the checkpoint, of types that search one.
    pub(crate) passages: u64,
    kept: Vec<AllocatedTensor>,
}

impl<'a> NetworkCall<'a> {
    pub(crate) fn new(
        machine: Rc<Machine>,
        (model_type, config, head): (ModelType, &'a CompleteConfig, Head),
        [labels, batch, tokens, limit]: [u64; 4],
        images: [u64; 2],
    ) -> Self {
        Self {
            machine,
            model_type,
            config,
            head,
            labels,
            batch,
            tokens,
            images,
            limit,
            passages: 0,
            kept: Vec::new(),
        }
    }

    /// A tensor in the type that the model computes in.
    pub(crate) fn empty(&self, dims: &[u64]) -> AllocatedTensor {
        empty(&self.machine, dims, self.machine.element)
    }

    /// A tensor in f32, as biases of scores are.
    pub(crate) fn single(&self, dims: &[u64]) -> AllocatedTensor {
        empty(&self.machine, dims, ElementType::F32)
    }

    /// A tensor of the model.
    pub(crate) fn weight(&self, dims: &[u64]) -> AllocatedTensor {
        weight(&self.machine, dims, self.machine.element)
    }

    /// Floats from the host, which come in f32.
    pub(crate) fn floats(&self, dims: &[u64]) -> AllocatedTensor {
        let floats = self.empty(dims);
        // For a GPU they are converted on the host before they are copied, so that it never has
        // them in f32.
        if !self.machine.is_gpu() && self.machine.element != ElementType::F32 {
            drop(self.single(dims));
        }
        floats
    }

    /// Keeps a tensor for later steps.
    pub(crate) fn keep(&mut self, tensor: &AllocatedTensor) {
        tensor.keep();
        self.kept.push(tensor.clone());
    }

    /// Keeps what a part of the network has kept.
    pub(crate) fn keep_from(&mut self, part: NetworkCall<'_>) {
        self.kept.extend(part.kept);
    }

    /// Keeps keys and values for later steps.
    pub(crate) fn with_past(&mut self, new: KeyValueTensors) -> KeyValueTensors {
        for tensor in [&new.key, &new.value] {
            self.keep(tensor);
        }
        new
    }

    /// Reads an output, which is kept on the host until the call ends.
    pub(crate) fn output(&mut self, tensor: AllocatedTensor) {
        self.kept.extend(tensor.read());
    }

    /// The number of layers in a field.
    pub(crate) fn layers(&self, field: &str) -> Result<u64, EstimateError> {
        self.layers_of(self.config, field)
    }

    /// As [`NetworkCall::layers`], of a part's configuration.
    pub(crate) fn layers_of(
        &self,
        config: &CompleteConfig,
        field: &str,
    ) -> Result<u64, EstimateError> {
        let layers = config.size(field)?;
        // Every layer is walked through: a damaged number would take forever.
        if layers > self.limit {
            return Err(config.wrong(field, "at most the number of tensors of the checkpoint"));
        }
        Ok(layers)
    }

    /// Height and width of latents: as they were asked for, else of the configuration.
    pub(crate) fn latents(&self) -> Result<[u64; 2], EstimateError> {
        match self.images {
            [0, 0] => self.config.followed_sides("sample_size"),
            images => Ok(images),
        }
    }

    /// An error when there are more tokens than positions.
    pub(crate) fn within(&self, limit: u64) -> Result<(), EstimateError> {
        match self.tokens > limit {
            true => Err(EstimateError::TooLong {
                tokens: self.tokens,
                limit,
            }),
            false => Ok(()),
        }
    }

    /// The bias of causal attention, [1, 1, seq, seq], or `None` for a single token, which sees
    /// every key.
    pub(crate) fn causal_bias(&self, seq: u64) -> Option<AllocatedTensor> {
        (seq > 1).then(|| self.single(&[1, 1, seq, seq]))
    }

    /// The rotation of all tokens; `width` elements of a head are rotated.
    pub(crate) fn rotation(&self, seq: u64, width: u64) -> RotationTensors {
        RotationTensors {
            cos: self.empty(&[1, 1, seq, width]),
            sin: self.empty(&[1, 1, seq, width]),
        }
    }
}
