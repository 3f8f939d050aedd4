//! From a checkpoint directory to a model on a device.

use crate::{
    bound_model::{BoundModel, guard},
    checkpoint::Checkpoint,
    class::Head,
    config::{self, Config, ConfigError, Parsed},
    decoder_only::{
        bloom::Bloom, falcon::Falcon, gemma2::Gemma2, gpt_neox::GptNeoX, gpt2::Gpt2, llama::LlamaConfig,
        mistral::MistralConfig, olmo2::Olmo2Config, opt::Opt, phi3::Phi3Config, qwen2::Qwen2Config, qwen3::Qwen3Config,
    },
    diffusion::{autoencoder_kl::AutoencoderKl, unet::Unet},
    encoder_decoder::{bart::Bart, marian::Marian, t5::T5},
    encoder_only::{
        albert::Albert,
        bert::{Bert, Roberta},
        deberta_v2::DebertaV2,
        distilbert::DistilBert,
        electra::Electra,
        modernbert::ModernBert,
        mpnet::Mpnet,
    },
    erased_model::ErasedModel,
    family::Family,
    graph::graphormer::Graphormer,
    loaded::{Model, TensorAccount},
    moe::{mixtral::MixtralConfig, olmoe::OlmoeConfig, qwen3_moe::Qwen3MoeConfig},
    multimodal::llava::Llava,
    object_detection::{detr::Detr, yolos::Yolos},
    rag::Rag,
    speech::{
        wav2vec2::{Hubert, Wav2Vec2},
        whisper::Whisper,
    },
    ssm::{mamba::Mamba, mamba2::Mamba2},
    time_series::patchtst::PatchTst,
    vision::{
        convnext::ConvNext,
        dinov2::Dinov2,
        resnet::ResNet,
        swin::Swin,
        vit::{Deit, Vit},
    },
    vision_text::{clip::Clip, siglip::Siglip},
};
use burn::tensor::DType;
use serde_json::Value;
use std::path::Path;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_nn::backend::Gpu;
use testgen_nn::{
    backend::{Cpu, Ops},
    device::BackendDevice,
    weights::{self, Weights, WeightsError},
};
use testgen_processing::{error::PreprocessError, processor::Processor};
use testgen_types::{ModelType, Precision};

/// Why a checkpoint could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// `config.json` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The tensors cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The transformers class is not one that this model type has here.
    #[error("`{class}` is not a supported class of `{model_type}`; supported: {supported}")]
    UnsupportedClass {
        /// The class that the golden or `architectures` names.
        class: String,
        /// The type in `config.json`.
        model_type: ModelType,
        /// The classes that are supported.
        supported: String,
    },
    /// The checkpoint is of another type than the spec.
    #[error("config.json says model_type `{found}`, the spec says `{expected}`")]
    WrongModelType {
        /// In `config.json`.
        found: String,
        /// In the spec.
        expected: ModelType,
    },
    /// The tokenizer or the image processor cannot be used.
    #[error(transparent)]
    Preprocess(#[from] PreprocessError),
    /// The device failed while tensors were put on it.
    #[error("the device failed during the load: {message}")]
    Device {
        /// What the backend said.
        message: String,
    },
}

/// Loads the checkpoint on `device`, to compute in `precision`.
///
/// The class is the one that the checkpoint's goldens name, else the first of `architectures` in `config.json`.
pub fn load(
    model_type: ModelType,
    checkpoint: &Checkpoint,
    device: &BackendDevice,
    precision: Precision,
) -> Result<Model, LoadError> {
    let config = checkpoint.config()?;
    let found = config::model_type(&config);
    if found != model_type.as_str() {
        return Err(LoadError::WrongModelType { found: found.to_owned(), expected: model_type });
    }
    let plan = Plan { model_type, checkpoint, config, device, precision };
    match model_type {
        ModelType::Albert => plan.load::<Albert>(),
        ModelType::AutoencoderKl => plan.load::<AutoencoderKl>(),
        ModelType::Bart => plan.load::<Bart>(),
        ModelType::Bert => plan.load::<Bert>(),
        ModelType::Bloom => plan.load::<Bloom>(),
        ModelType::Clip => plan.load::<Clip>(),
        ModelType::ConvNext => plan.load::<ConvNext>(),
        ModelType::DebertaV2 => plan.load::<DebertaV2>(),
        ModelType::Deit => plan.load::<Deit>(),
        ModelType::Detr => plan.load::<Detr>(),
        ModelType::Dinov2 => plan.load::<Dinov2>(),
        ModelType::DistilBert => plan.load::<DistilBert>(),
        ModelType::Electra => plan.load::<Electra>(),
        ModelType::Falcon => plan.load::<Falcon>(),
        ModelType::Gemma2 => plan.load::<Gemma2>(),
        ModelType::Gpt2 => plan.load::<Gpt2>(),
        ModelType::GptNeoX => plan.load::<GptNeoX>(),
        ModelType::Graphormer => plan.load::<Graphormer>(),
        ModelType::Hubert => plan.load::<Hubert>(),
        ModelType::Llama => plan.load::<LlamaConfig>(),
        ModelType::Llava => plan.load::<Llava>(),
        ModelType::Mamba => plan.load::<Mamba>(),
        ModelType::Mamba2 => plan.load::<Mamba2>(),
        ModelType::Marian => plan.load::<Marian>(),
        ModelType::Mistral => plan.load::<MistralConfig>(),
        ModelType::Mixtral => plan.load::<MixtralConfig>(),
        ModelType::ModernBert => plan.load::<ModernBert>(),
        ModelType::Mpnet => plan.load::<Mpnet>(),
        ModelType::Olmo2 => plan.load::<Olmo2Config>(),
        ModelType::Olmoe => plan.load::<OlmoeConfig>(),
        ModelType::Opt => plan.load::<Opt>(),
        ModelType::PatchTst => plan.load::<PatchTst>(),
        ModelType::Phi3 => plan.load::<Phi3Config>(),
        ModelType::Qwen2 => plan.load::<Qwen2Config>(),
        ModelType::Qwen3 => plan.load::<Qwen3Config>(),
        ModelType::Qwen3Moe => plan.load::<Qwen3MoeConfig>(),
        ModelType::Rag => plan.load::<Rag>(),
        ModelType::ResNet => plan.load::<ResNet>(),
        ModelType::Roberta => plan.load::<Roberta>(),
        ModelType::Siglip => plan.load::<Siglip>(),
        ModelType::Swin => plan.load::<Swin>(),
        ModelType::T5 => plan.load::<T5>(),
        ModelType::Unet => plan.load::<Unet>(),
        ModelType::Vit => plan.load::<Vit>(),
        ModelType::Wav2Vec2 => plan.load::<Wav2Vec2>(),
        ModelType::Whisper => plan.load::<Whisper>(),
        ModelType::Yolos => plan.load::<Yolos>(),
    }
}

/// Everything that a load depends on but the family.
struct Plan<'a> {
    model_type: ModelType,
    checkpoint: &'a Checkpoint,
    config: Value,
    device: &'a BackendDevice,
    precision: Precision,
}

impl Plan<'_> {
    fn load<F: Family>(self) -> Result<Model, LoadError> {
        let (class, saved) = self.class::<F>();
        let head = Head::of(&class, F::NAME).filter(|head| F::HEADS.contains(head));
        let head = head.ok_or_else(|| self.unsupported::<F>(&class))?;
        let Parsed { config, fields } = config::parse::<F::Config>(&self.config)?;
        let labels = config::label_count(&self.config);
        let directory = self.checkpoint.directory();
        let placement = Placing { config: &config, head, labels, directory, precision: self.precision };
        let (erased, tensors) = match self.device {
            BackendDevice::Cpu(device) => placement.place::<F, Cpu>(device)?,
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => placement.place::<F, Gpu>(device)?,
        };
        Ok(Model {
            erased,
            head,
            tensors: if class == saved { tensors } else { tensors.without_other_heads() },
            class,
            without_effect: config.without_effect(head),
            config: self.config,
            fields,
            precision: self.precision,
            processor: Processor::open(directory)?,
        })
    }

    /// The class to compute and the class that saved the checkpoint.
    fn class<F: Family>(&self) -> (String, String) {
        let base = || format!("{}Model", F::NAME);
        let saved = config::saved_class(&self.config).map_or_else(base, str::to_owned);
        let recorded = weights::file_metadata(&self.checkpoint.directory().join("golden.safetensors"), "model_class");
        (recorded.unwrap_or_else(|| saved.clone()), saved)
    }

    fn unsupported<F: Family>(&self, class: &str) -> LoadError {
        let supported: Vec<String> = F::HEADS.iter().map(|head| format!("{}{}", F::NAME, head.suffix())).collect();
        LoadError::UnsupportedClass {
            class: class.to_owned(),
            model_type: self.model_type,
            supported: supported.join(", "),
        }
    }
}

/// Everything that putting a network on a device depends on but the backend.
struct Placing<'a, C> {
    config: &'a C,
    head: Head,
    labels: usize,
    directory: &'a Path,
    precision: Precision,
}

impl<C> Placing<'_, C> {
    fn place<F: Family<Config = C>, B: Ops>(
        &self,
        device: &B::Device,
    ) -> Result<(Box<dyn ErasedModel>, TensorAccount), LoadError> {
        let dtype = match self.precision {
            Precision::F32 => DType::F32,
            Precision::F16 => DType::F16,
            Precision::Bf16 => DType::BF16,
        };
        let weights = Weights::<B>::open(self.directory, device, dtype)?;
        let network = guard(|| F::load(self.config, self.head, self.labels, &weights))
            .map_err(|message| LoadError::Device { message })??;
        let tensors = TensorAccount::new(weights.read_names(), weights.unread_names());
        Ok((Box::new(BoundModel::new(network, device.clone(), dtype)), tensors))
    }
}
