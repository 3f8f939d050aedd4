//! The registry: every supported `model_type` of Hugging Face's `config.json`, and its architecture.
//!
//! A type enters when its numbers agree with transformers. There is no other list: the generator reads it, the runtime
//! matches it exhaustively to choose the model code.

use crate::{Architecture, word::words};

words! {
    /// Exactly the `model_type` string of `config.json`; anything else is an error, never a guess.
    ModelType: "model_type" {
        /// `transformers.models.bart`
        Bart = "bart",
        /// `transformers.models.bert`
        Bert = "bert",
        /// `transformers.models.distilbert`
        DistilBert = "distilbert",
        /// `transformers.models.gpt2`
        Gpt2 = "gpt2",
        /// `transformers.models.hubert`
        Hubert = "hubert",
        /// `transformers.models.llama`
        Llama = "llama",
        /// `transformers.models.marian`
        Marian = "marian",
        /// `transformers.models.mistral`
        Mistral = "mistral",
        /// `transformers.models.qwen2`
        Qwen2 = "qwen2",
        /// `transformers.models.resnet`
        ResNet = "resnet",
        /// `transformers.models.roberta`
        Roberta = "roberta",
        /// `transformers.models.t5`
        T5 = "t5",
        /// `transformers.models.vit`
        Vit = "vit",
        /// `transformers.models.wav2vec2`
        Wav2Vec2 = "wav2vec2",
        /// `transformers.models.whisper`
        Whisper = "whisper",
    }
}

impl ModelType {
    /// The family whose template, tasks and checks this type takes.
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Bert | Self::DistilBert | Self::Roberta => Architecture::EncoderOnly,
            Self::Gpt2 | Self::Llama | Self::Mistral | Self::Qwen2 => Architecture::DecoderOnly,
            Self::Bart | Self::Marian | Self::T5 => Architecture::EncoderDecoder,
            Self::Hubert | Self::Wav2Vec2 | Self::Whisper => Architecture::Speech,
            Self::ResNet | Self::Vit => Architecture::Vision,
        }
    }
}
