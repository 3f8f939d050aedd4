//! The architectures (families of models), one harness template each, and the kinds of subjects.

use crate::{closed_enum::closed_enum, task::Task};

closed_enum! {
    /// A family of models that share a harness template, tasks and checks.
    Architecture: "architecture" {
        /// Bidirectional text encoders (BERT and its relatives).
        EncoderOnly = "encoder_only",
        /// Causal language models (GPT-2, Llama and their relatives).
        DecoderOnly = "decoder_only",
        /// Text encoders with a decoder that attends to their output (T5, BART, Marian and their
        /// relatives).
        EncoderDecoder = "encoder_decoder",
        /// Causal language models whose MLPs are mixtures of experts (Mixtral and its relatives).
        Moe = "moe",
        /// Speech models: with a text decoder (Whisper), or a head over frames (wav2vec 2.0,
        /// HuBERT).
        Speech = "speech",
        /// State space models: causal language models with a recurrent state instead of keys and
        /// values (Mamba).
        Ssm = "ssm",
        /// Image encoders and classifiers (ViT, ResNet and their relatives).
        Vision = "vision",
        /// Dual encoders that embed images and texts in one space (CLIP and its relatives).
        VisionText = "vision_text",
        /// Forecasting, classification and regression of time series (PatchTST and its relatives).
        TimeSeries = "time_series",
        /// Object detectors (DETR, YOLOS and their relatives).
        ObjectDetection = "object_detection",
        /// Text decoders whose prompts contain images (LLaVA and its relatives).
        Multimodal = "multimodal",
        /// Denoisers and autoencoders of image latents (Stable Diffusion and its relatives).
        Diffusion = "diffusion",
        /// Retrieval-augmented generation: answers a question from retrieved passages (RAG).
        Rag = "rag",
        /// Graph transformers (Graphormer).
        Graph = "graph",
        /// Single operators of the backend, without a checkpoint.
        Operators = "operators",
    }
}

closed_enum! {
    /// A kind of subject. It decides the keys of a spec, and what a harness loads.
    SubjectKind: "subject" {
        /// A model with its checkpoint.
        Model = "model",
        /// Operators with their shapes, which have no checkpoint.
        Operators = "operators",
    }
}

impl SubjectKind {
    /// The features of the runtime for this kind: whatever computes it, and with burn. `None` if
    /// its features are named after architectures.
    pub const fn features(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Model => None,
            Self::Operators => Some(["operators", "executor"]),
        }
    }
}

impl Architecture {
    /// The kind of subject that has this architecture.
    pub const fn subject(self) -> SubjectKind {
        match self {
            Self::EncoderOnly
            | Self::DecoderOnly
            | Self::EncoderDecoder
            | Self::Moe
            | Self::Speech
            | Self::Ssm
            | Self::Vision
            | Self::VisionText
            | Self::TimeSeries
            | Self::ObjectDetection
            | Self::Multimodal
            | Self::Diffusion
            | Self::Rag
            | Self::Graph => SubjectKind::Model,
            Self::Operators => SubjectKind::Operators,
        }
    }

    /// The tasks that a spec of this architecture may name; the first is the default.
    pub const fn tasks(self) -> &'static [Task] {
        match self {
            Self::EncoderOnly => &[
                Task::TextEmbedding,
                Task::FillMask,
                Task::TextClassification,
                Task::TokenClassification,
                Task::QuestionAnswering,
                Task::DocumentQuestionAnswering,
                Task::MultipleChoice,
                Task::TextToSpeech,
            ],
            // A mixture of experts replaces the MLPs alone, so both have the same heads.
            Self::DecoderOnly | Self::Moe => &[
                Task::TextGeneration,
                Task::TextEmbedding,
                Task::TextClassification,
                Task::TokenClassification,
                Task::QuestionAnswering,
            ],
            Self::EncoderDecoder => &[
                Task::Text2TextGeneration,
                Task::TextEmbedding,
                Task::TextClassification,
                Task::QuestionAnswering,
            ],
            Self::Speech => &[
                Task::SpeechRecognition,
                Task::AudioClassification,
                Task::AudioEmbedding,
            ],
            Self::Ssm => &[Task::TextGeneration, Task::TextEmbedding],
            Self::Vision => &[
                Task::ImageClassification,
                Task::ImageEmbedding,
                Task::ImageSegmentation,
                Task::DepthEstimation,
                Task::VideoClassification,
                Task::KeypointDetection,
            ],
            Self::ObjectDetection => &[Task::ObjectDetection, Task::ImageEmbedding],
            Self::VisionText => &[Task::ImageTextSimilarity, Task::ImageTextEmbedding],
            Self::Diffusion => &[Task::ImageDenoising, Task::ImageDecoding],
            Self::Multimodal => &[Task::ImageTextToText],
            Self::Rag => &[Task::RetrievalAugmentedGeneration],
            Self::Graph => &[Task::GraphClassification, Task::GraphEmbedding],
            Self::Operators => &[Task::OperatorEvaluation],
            Self::TimeSeries => &[
                Task::TimeSeriesForecasting,
                Task::TimeSeriesClassification,
                Task::TimeSeriesRegression,
            ],
        }
    }

    /// Whether models of this family generate token by token, with a cache.
    pub const fn generates(self) -> bool {
        // Without `_`: a new family is a compile error here, and not a family without these checks.
        match self {
            Self::DecoderOnly
            | Self::EncoderDecoder
            | Self::Moe
            | Self::Speech
            | Self::Multimodal
            | Self::Ssm
            | Self::Rag => true,
            Self::EncoderOnly
            | Self::Vision
            | Self::VisionText
            | Self::TimeSeries
            | Self::ObjectDetection
            | Self::Diffusion
            | Self::Graph
            | Self::Operators => false,
        }
    }

    /// Whether the models read text (`input_ids` with an `attention_mask`).
    pub const fn reads_text(self) -> bool {
        // The text of speech models is `decoder_input_ids`, of denoisers `encoder_hidden_states`.
        match self {
            Self::EncoderOnly
            | Self::DecoderOnly
            | Self::EncoderDecoder
            | Self::VisionText
            | Self::Moe
            | Self::Multimodal
            | Self::Ssm
            | Self::Rag => true,
            Self::Vision
            | Self::TimeSeries
            | Self::ObjectDetection
            | Self::Speech
            | Self::Diffusion
            | Self::Graph
            | Self::Operators => false,
        }
    }

    /// Whether a request of the architecture has the files of images.
    pub const fn reads_image_files(self) -> bool {
        match self {
            Self::Multimodal | Self::ObjectDetection | Self::Vision | Self::VisionText => true,
            Self::DecoderOnly
            | Self::Diffusion
            | Self::EncoderDecoder
            | Self::EncoderOnly
            | Self::Graph
            | Self::Moe
            | Self::Operators
            | Self::Rag
            | Self::Speech
            | Self::Ssm
            | Self::TimeSeries => false,
        }
    }
}
