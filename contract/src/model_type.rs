//! The registry: every supported `model_type` of Hugging Face's `config.json`, and its architecture.
//!
//! A type enters when its numbers agree with transformers. There is no other list: the generator reads it, the runtime
//! matches it exhaustively to choose the model code.

use crate::{Architecture, word::words};

words! {
    /// Exactly the `model_type` string of `config.json`; anything else is an error, never a guess.
    ModelType: "model_type" {
        /// `transformers.models.albert`
        Albert = "albert",
        /// `diffusers.AutoencoderKL`, by its `_class_name`: models of diffusers have no `model_type`
        AutoencoderKl = "AutoencoderKL",
        /// `transformers.models.bert`
        Bert = "bert",
        /// `transformers.models.clip`
        Clip = "clip",
        /// `transformers.models.convnext`
        ConvNext = "convnext",
        /// `transformers.models.deit`
        Deit = "deit",
        /// `transformers.models.dinov2`
        Dinov2 = "dinov2",
        /// `transformers.models.distilbert`
        DistilBert = "distilbert",
        /// `transformers.models.electra`
        Electra = "electra",
        /// `transformers.models.gpt2`
        Gpt2 = "gpt2",
        /// `transformers.models.gpt_neox`
        GptNeoX = "gpt_neox",
        /// `transformers.models.llama`
        Llama = "llama",
        /// `transformers.models.llava`
        Llava = "llava",
        /// `transformers.models.mistral`
        Mistral = "mistral",
        /// `transformers.models.patchtst`
        PatchTst = "patchtst",
        /// `transformers.models.mpnet`
        Mpnet = "mpnet",
        /// `transformers.models.phi3`
        Phi3 = "phi3",
        /// `transformers.models.qwen2`
        Qwen2 = "qwen2",
        /// `transformers.models.qwen3`
        Qwen3 = "qwen3",
        /// `transformers.models.resnet`
        ResNet = "resnet",
        /// `transformers.models.roberta`
        Roberta = "roberta",
        /// `transformers.models.siglip`
        Siglip = "siglip",
        /// `transformers.models.swin`
        Swin = "swin",
        /// `diffusers.UNet2DConditionModel`, by its `_class_name`
        Unet = "UNet2DConditionModel",
        /// `transformers.models.vit`
        Vit = "vit",
    }
}

impl ModelType {
    /// The family whose template, tasks and checks this type takes.
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Gpt2 | Self::GptNeoX | Self::Llama | Self::Mistral | Self::Phi3 | Self::Qwen2 | Self::Qwen3 => {
                Architecture::DecoderOnly
            }
            Self::Albert | Self::Bert | Self::DistilBert | Self::Electra | Self::Mpnet | Self::Roberta => {
                Architecture::EncoderOnly
            }
            Self::ConvNext | Self::Deit | Self::Dinov2 | Self::ResNet | Self::Swin | Self::Vit => Architecture::Vision,
            Self::Clip | Self::Siglip => Architecture::VisionText,
            Self::AutoencoderKl | Self::Unet => Architecture::Diffusion,
            Self::Llava => Architecture::Multimodal,
            Self::PatchTst => Architecture::TimeSeries,
        }
    }
}
