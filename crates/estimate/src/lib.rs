//! The memory that a model will use, before it is loaded: weights, cache, activations and
//! workspace.
//!
//! Owns: reading `config.json` and the headers of safetensors files, and the sequence of
//! allocations of each model type on each backend. Does not own: the models. They are in
//! `testgen-models`, whose layers the code here follows: a change of what a layer allocates is made
//! in both, and `crates/models/tests/memory` compares them by measurement. Nothing here links
//! burn.

mod allocation_family;
mod attention;
mod audio_classifier;
mod autoencoder;
mod call;
mod checkpoint;
mod config;
mod convnext;
mod convolution;
mod deberta;
mod decoder;
mod decoder_config;
mod detection;
mod diffusion;
mod elementwise;
mod encoder;
mod encoder_decoder;
mod error;
mod gpu_layout;
mod gpu_product;
mod graphormer;
mod image_size;
mod layers;
mod ledger;
mod llava;
mod matrix_product;
mod normalisation;
mod patchtst;
mod pooling;
mod product;
mod rag;
mod resnet;
mod sequence_convolution;
mod ssm;
mod swin;
mod tensor;
#[cfg(test)]
mod tests;
mod text_head;
mod unet;
mod vision;
mod vision_text;
mod wav2vec2;
mod weights;
mod whisper;

use allocation_family::AllocationFamily;
use call::NetworkCall;
pub use config::complete_fields;
use config::{CompleteConfig, TIED};
pub use error::EstimateError;
pub use matrix_product::MatrixProduct;
use std::{collections::BTreeMap, path::Path, rc::Rc};
pub use tensor::Backend;
use tensor::{ElementType, Machine};
use testgen_types::{Head, ModelType, Precision};
use weights::{CheckpointSize, PASSAGES};

/// The golden file, which names the class that the checks compute.
const GOLDEN: &str = "golden.safetensors";

/// The sizes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSizes {
    /// Inputs that are computed together.
    pub batch: u64,
    /// Tokens of each; of an encoder-decoder the tokens of the source and of the target. Frames of
    /// a recording, tokens of the text beside an image, nodes of a graph. Has no effect on types
    /// that read images or series alone.
    pub tokens: u64,
}

/// Bytes of a model on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Tensors of the checkpoint, in the precision.
    pub weights: u64,
    /// Keys and values of all tokens, of types that generate text.
    pub cache: u64,
    /// The part of the cache that is filled at the time of the peak.
    pub cache_at_peak: u64,
    /// Hidden states, scores, masks and outputs at the time of the peak.
    pub activations: u64,
    /// Copies within an operation at the time of the peak.
    pub workspace: u64,
    /// Copies while the weights are loaded, on GPUs, whose peak is counted from the load on: of a
    /// large matrix, which is turned, and of the matrices of a layer's experts, which are joined.
    pub load: u64,
}

impl Estimate {
    /// The peak, of the call or of the load.
    pub fn total(&self) -> u64 {
        self.weights.saturating_add(self.call().max(self.load))
    }

    /// The most that the call needs beside the weights.
    pub fn call(&self) -> u64 {
        [self.activations, self.workspace]
            .into_iter()
            .fold(self.cache_at_peak, u64::saturating_add)
    }
}

/// A checkpoint whose configuration and headers were read.
#[derive(Debug)]
pub struct CheckpointHeaders {
    config: CompleteConfig,
    model_type: ModelType,
    class: String,
    weights: CheckpointSize,
    images: [u64; 2],
    /// The number of passages that are searched, and the bytes of their texts.
    passages: [u64; 2],
}

impl CheckpointHeaders {
    /// Reads `config.json` and the headers of the weights in `directory`.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, when the weights are quantized, or when the type is not known.
    pub fn read(directory: &Path) -> Result<Self, EstimateError> {
        let mut config = CompleteConfig::read(directory)?;
        if let Some(quantized) = testgen_types::QuantizedCheckpoint::in_directory(directory) {
            return Err(EstimateError::Quantized(quantized));
        }
        let model_type = config.model_type()?;
        // The checks compute the class of the golden, as the loader does.
        let golden = directory.join(GOLDEN);
        let recorded = checkpoint::metadata(&golden, "model_class");
        let class = recorded.unwrap_or_else(|| config.saved_class(model_type));
        let t5 = model_type == ModelType::T5;
        let family = AllocationFamily::find(model_type);
        let has_stacks = family.is_some_and(AllocationFamily::has_stacks);
        let stacks = has_stacks && !class.ends_with("EncoderModel");
        let mut tensors = checkpoint::tensors(directory)?;
        if t5 {
            // Like the loader: transformers 5 writes true for files with and without a head.
            config.set_flag(TIED, !tensors.contains_key("lm_head.weight"));
        }
        let (mut passages, mut tied) = ([0; 2], config.flag(TIED));
        if model_type == ModelType::Rag {
            // The head is the generator's.
            tied = config
                .part("generator", ModelType::Bart.as_str())
                .flag(TIED);
            if let Some(stored) = checkpoint::passages(directory) {
                let count = stored.embeddings.shape.first().copied();
                passages = [count.unwrap_or(0), stored.text];
                tensors.insert(PASSAGES.to_owned(), stored.embeddings);
            }
        }
        let weights = CheckpointSize::new(tensors, tied, [t5, stacks]);
        let images = match family.is_some_and(AllocationFamily::reads_any_image_size) {
            true => image_size::image_size(directory, &golden, &config, model_type)?,
            false => [0; 2],
        };
        Ok(Self {
            config,
            model_type,
            class,
            weights,
            images,
            passages,
        })
    }

    /// The model type of `config.json`.
    pub fn model_type(&self) -> ModelType {
        self.model_type
    }

    /// The transformers class that is computed.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// Height and width of the images that an estimate is for, of types that read images of any
    /// size, or as they were asked for; else zeros.
    pub fn image_size(&self) -> [u64; 2] {
        self.images
    }

    /// The same checkpoint for images, or latents, of another height and width.
    ///
    /// # Errors
    ///
    /// When the type does not read images of any size, or none with such a side.
    pub fn with_image_size(self, images: [u64; 2]) -> Result<Self, EstimateError> {
        let family = self.family()?;
        if !family.reads_any_image_size() && !family.reads_latents() {
            return Err(EstimateError::OneImageSize(self.model_type));
        }
        image_size::within_limit(images, family)?;
        Ok(Self { images, ..self })
    }

    /// The bytes of the weights in `precision`: on the CPU in memory or mapped, with the texts of
    /// passages; on a GPU with the gaps between aligned rows.
    pub fn weights(&self, backend: Backend, precision: Precision) -> u64 {
        let texts = match backend {
            Backend::Host => self.passages[1],
            Backend::Gpu => 0,
        };
        let tensors = self.weights.bytes(element(precision), backend);
        tensors.saturating_add(texts)
    }

    /// The memory of one call that reads `sizes`, with a cache if the type has one.
    ///
    /// # Errors
    ///
    /// When the type or the class has no estimate, when a field of `config.json` cannot be used, or
    /// when there are more tokens than positions.
    pub fn estimate(
        &self,
        backend: Backend,
        precision: Precision,
        sizes: CallSizes,
    ) -> Result<Estimate, EstimateError> {
        let element = element(precision);
        let mapped =
            backend == Backend::Host && element == ElementType::F32 && self.weights.is_single();
        let machine = Machine::new(backend, element, mapped);
        let family = self.family()?;
        if machine.is_gpu() {
            machine.copy_while_loading(self.weights.largest_turned(element));
        }
        let mut call = self.call(&machine, sizes)?;
        family.forward(&mut call)?;
        // Read first: dropping the call frees the cache.
        let (peak, cache) = (machine.ledger.peak(), machine.ledger.now().cache);
        drop(call);
        Ok(Estimate {
            weights: self.weights(backend, precision),
            cache,
            cache_at_peak: peak.cache,
            activations: peak.activations,
            workspace: peak.workspace,
            load: machine.load.get(),
        })
    }

    /// The matrix products of one call that reads `sizes`, with their numbers: of projections, of
    /// attention, and of convolutions whose windows do not overlap, which are computed as products.
    ///
    /// # Errors
    ///
    /// As [`CheckpointHeaders::estimate`].
    pub fn products(
        &self,
        sizes: CallSizes,
    ) -> Result<BTreeMap<MatrixProduct, u64>, EstimateError> {
        // They are the same on every backend and in every precision.
        let machine = Machine::new(Backend::Gpu, ElementType::F32, false);
        let family = self.family()?;
        let mut call = self.call(&machine, sizes)?;
        family.forward(&mut call)?;
        Ok(machine.products.take())
    }

    fn call(
        &self,
        machine: &Rc<Machine>,
        sizes: CallSizes,
    ) -> Result<NetworkCall<'_>, EstimateError> {
        let counts = [
            self.config.labels(),
            sizes.batch,
            sizes.tokens,
            self.weights.count(),
        ];
        let mut call = NetworkCall::new(
            machine.clone(),
            (self.model_type, &self.config, self.head()?),
            counts,
            self.images,
        );
        call.passages = self.passages[0];
        Ok(call)
    }

    fn head(&self) -> Result<Head, EstimateError> {
        self.model_type
            .head(&self.class)
            .ok_or_else(|| EstimateError::NoClass(self.class.clone()))
    }

    fn family(&self) -> Result<AllocationFamily, EstimateError> {
        AllocationFamily::find(self.model_type).ok_or(EstimateError::NoEstimate(self.model_type))
    }

    /// The name of what [`CallSizes::tokens`] counts.
    pub fn token_unit(&self) -> &'static str {
        match self.model_type {
            ModelType::Graphormer => "nodes",
            _ => "tokens",
        }
    }

    /// Whether the number of tokens counts, and not only the size of images or series.
    pub fn reads_tokens(&self) -> bool {
        AllocationFamily::find(self.model_type).is_none_or(AllocationFamily::reads_tokens)
    }
}

fn element(precision: Precision) -> ElementType {
    match precision {
        Precision::F32 | Precision::Tf32 => ElementType::F32,
        Precision::F16 => ElementType::F16,
        Precision::Bf16 => ElementType::Bf16,
    }
}
