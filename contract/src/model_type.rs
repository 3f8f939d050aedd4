//! The registry: every supported `model_type` of Hugging Face's `config.json`, and its architecture.
//!
//! A type enters when its numbers agree with transformers. There is no other list: the generator reads it, the runtime
//! matches it exhaustively to choose the model code.

use crate::{Architecture, word::words};

words! {
    /// Exactly the `model_type` string of `config.json`; anything else is an error, never a guess.
    ModelType: "model_type" {
        /// `diffusers.AutoencoderKL`, by its `_class_name`: models of diffusers have no `model_type`
        AutoencoderKl = "AutoencoderKL",
        /// `diffusers.UNet2DConditionModel`, by its `_class_name`
        Unet = "UNet2DConditionModel",
        /// `transformers.models.albert`
        Albert = "albert",
        /// `transformers.models.bart`
        Bart = "bart",
        /// `transformers.models.bert`
        Bert = "bert",
        /// `transformers.models.bloom`
        Bloom = "bloom",
        /// `transformers.models.clip`
        Clip = "clip",
        /// `transformers.models.convnext`
        ConvNext = "convnext",
        /// `transformers.models.deberta_v2`
        DebertaV2 = "deberta-v2",
        /// `transformers.models.deit`
        Deit = "deit",
        /// `transformers.models.detr`
        Detr = "detr",
        /// `transformers.models.dinov2`
        Dinov2 = "dinov2",
        /// `transformers.models.distilbert`
        DistilBert = "distilbert",
        /// `transformers.models.electra`
        Electra = "electra",
        /// `transformers.models.falcon`
        Falcon = "falcon",
        /// `transformers.models.gemma2`
        Gemma2 = "gemma2",
        /// `transformers.models.gpt2`
        Gpt2 = "gpt2",
        /// `transformers.models.gpt_neox`
        GptNeoX = "gpt_neox",
        /// `transformers.models.deprecated.graphormer`, which transformers 5 no longer has
        Graphormer = "graphormer",
        /// `transformers.models.hubert`
        Hubert = "hubert",
        /// `transformers.models.llama`
        Llama = "llama",
        /// `transformers.models.llava`
        Llava = "llava",
        /// `transformers.models.mamba`
        Mamba = "mamba",
        /// `transformers.models.mamba2`
        Mamba2 = "mamba2",
        /// `transformers.models.marian`
        Marian = "marian",
        /// `transformers.models.mistral`
        Mistral = "mistral",
        /// `transformers.models.mixtral`
        Mixtral = "mixtral",
        /// `transformers.models.modernbert`
        ModernBert = "modernbert",
        /// `transformers.models.mpnet`
        Mpnet = "mpnet",
        /// `transformers.models.olmo2`
        Olmo2 = "olmo2",
        /// `transformers.models.olmoe`
        Olmoe = "olmoe",
        /// `transformers.models.opt`
        Opt = "opt",
        /// `transformers.models.patchtst`
        PatchTst = "patchtst",
        /// `transformers.models.phi3`
        Phi3 = "phi3",
        /// `transformers.models.qwen2`
        Qwen2 = "qwen2",
        /// `transformers.models.qwen3`
        Qwen3 = "qwen3",
        /// `transformers.models.qwen3_moe`
        Qwen3Moe = "qwen3_moe",
        /// `transformers.models.rag`, with `transformers.models.dpr` for the questions
        Rag = "rag",
        /// `transformers.models.resnet`
        ResNet = "resnet",
        /// `transformers.models.roberta`
        Roberta = "roberta",
        /// `transformers.models.siglip`
        Siglip = "siglip",
        /// `transformers.models.swin`
        Swin = "swin",
        /// `transformers.models.t5`
        T5 = "t5",
        /// `transformers.models.vit`
        Vit = "vit",
        /// `transformers.models.wav2vec2`
        Wav2Vec2 = "wav2vec2",
        /// `transformers.models.whisper`
        Whisper = "whisper",
        /// `transformers.models.yolos`
        Yolos = "yolos",
    }
}

impl ModelType {
    /// The family whose template, tasks and checks this type takes.
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Bloom
            | Self::Falcon
            | Self::Gemma2
            | Self::Gpt2
            | Self::GptNeoX
            | Self::Llama
            | Self::Mistral
            | Self::Olmo2
            | Self::Opt
            | Self::Phi3
            | Self::Qwen2
            | Self::Qwen3 => Architecture::DecoderOnly,
            Self::AutoencoderKl | Self::Unet => Architecture::Diffusion,
            Self::Bart | Self::Marian | Self::T5 => Architecture::EncoderDecoder,
            Self::Albert
            | Self::Bert
            | Self::DebertaV2
            | Self::DistilBert
            | Self::Electra
            | Self::ModernBert
            | Self::Mpnet
            | Self::Roberta => Architecture::EncoderOnly,
            Self::Graphormer => Architecture::Graph,
            Self::Mixtral | Self::Olmoe | Self::Qwen3Moe => Architecture::Moe,
            Self::Llava => Architecture::Multimodal,
            Self::Detr | Self::Yolos => Architecture::ObjectDetection,
            Self::Rag => Architecture::Rag,
            Self::Hubert | Self::Wav2Vec2 | Self::Whisper => Architecture::Speech,
            Self::Mamba | Self::Mamba2 => Architecture::Ssm,
            Self::PatchTst => Architecture::TimeSeries,
            Self::ConvNext | Self::Deit | Self::Dinov2 | Self::ResNet | Self::Swin | Self::Vit => Architecture::Vision,
            Self::Clip | Self::Siglip => Architecture::VisionText,
        }
    }
}
