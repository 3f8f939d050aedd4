//! The registry: every supported `model_type` of Hugging Face's `config.json`, and its architecture.
//!
//! A type enters when its numbers agree with transformers. There is no other list: the generator reads it, the runtime
//! matches it exhaustively to choose the model code.

use crate::{Architecture, word::words};

words! {
    /// Exactly the `model_type` string of `config.json`; anything else is an error, never a guess.
    ModelType: "model_type" {
        /// `transformers.models.bert`
        Bert = "bert",
        /// `transformers.models.bloom`
        Bloom = "bloom",
        /// `transformers.models.distilbert`
        DistilBert = "distilbert",
        /// `transformers.models.falcon`
        Falcon = "falcon",
        /// `transformers.models.gemma2`
        Gemma2 = "gemma2",
        /// `transformers.models.gpt2`
        Gpt2 = "gpt2",
        /// `transformers.models.gpt_neox`
        GptNeoX = "gpt_neox",
        /// `transformers.models.llama`
        Llama = "llama",
        /// `transformers.models.mamba`
        Mamba = "mamba",
        /// `transformers.models.mamba2`
        Mamba2 = "mamba2",
        /// `transformers.models.mistral`
        Mistral = "mistral",
        /// `transformers.models.mixtral`
        Mixtral = "mixtral",
        /// `transformers.models.olmoe`
        Olmoe = "olmoe",
        /// `transformers.models.opt`
        Opt = "opt",
        /// `transformers.models.phi3`
        Phi3 = "phi3",
        /// `transformers.models.qwen2`
        Qwen2 = "qwen2",
        /// `transformers.models.qwen3`
        Qwen3 = "qwen3",
        /// `transformers.models.qwen3_moe`
        Qwen3Moe = "qwen3_moe",
        /// `transformers.models.resnet`
        ResNet = "resnet",
        /// `transformers.models.roberta`
        Roberta = "roberta",
        /// `transformers.models.vit`
        Vit = "vit",
    }
}

impl ModelType {
    /// The family whose template, tasks and checks this type takes.
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Bert | Self::DistilBert | Self::Roberta => Architecture::EncoderOnly,
            Self::Bloom
            | Self::Falcon
            | Self::Gemma2
            | Self::Gpt2
            | Self::GptNeoX
            | Self::Llama
            | Self::Mistral
            | Self::Opt
            | Self::Phi3
            | Self::Qwen2
            | Self::Qwen3 => Architecture::DecoderOnly,
            Self::Mixtral | Self::Olmoe | Self::Qwen3Moe => Architecture::Moe,
            Self::Mamba | Self::Mamba2 => Architecture::Ssm,
            Self::ResNet | Self::Vit => Architecture::Vision,
        }
    }
}
