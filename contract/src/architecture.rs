//! The families of models; one template each.

use crate::{Task, word::words};

words! {
    /// A family of models that share a harness template, tasks and checks.
    Architecture: "architecture" {
        /// Bidirectional text encoders (BERT and its relatives).
        EncoderOnly = "encoder_only",
        /// Causal language models (GPT-2, Llama and their relatives).
        DecoderOnly = "decoder_only",
        /// Causal language models whose perceptrons are mixtures of experts (Mixtral and its relatives).
        Moe = "moe",
        /// Causal language models with a state in place of keys and values (Mamba and its relatives).
        Ssm = "ssm",
        /// Image encoders and classifiers (ViT, ResNet and their relatives).
        Vision = "vision",
    }
}

impl Architecture {
    /// The tasks that a spec of this architecture may name; the first is the default.
    pub const fn tasks(self) -> &'static [Task] {
        match self {
            Self::EncoderOnly => &[
                Task::TextEmbedding,
                Task::FillMask,
                Task::TextClassification,
                Task::TokenClassification,
                Task::QuestionAnswering,
            ],
            Self::DecoderOnly | Self::Moe => &[
                Task::TextGeneration,
                Task::TextEmbedding,
                Task::TextClassification,
                Task::TokenClassification,
                Task::QuestionAnswering,
            ],
            Self::Ssm => &[Task::TextGeneration, Task::TextEmbedding],
            Self::Vision => &[Task::ImageClassification, Task::ImageEmbedding],
        }
    }

    /// Whether models of this family produce tokens one after another, with a cache.
    pub const fn generates(self) -> bool {
        match self {
            Self::DecoderOnly | Self::Moe | Self::Ssm => true,
            Self::EncoderOnly | Self::Vision => false,
        }
    }

    /// Whether the models read text (`input_ids` with an `attention_mask`).
    pub const fn reads_text(self) -> bool {
        match self {
            Self::EncoderOnly | Self::DecoderOnly | Self::Moe | Self::Ssm => true,
            Self::Vision => false,
        }
    }
}
