//! The heads that transformers puts on a base model, by the end of the class name.

use crate::{closed_enum::closed_enum, task::Task};

closed_enum! {
    /// The output of a class, computed from the hidden states of its base model and named by the
    /// suffix of the class name.
    Head: "head" {
        /// The hidden states, and the pooled one if the type has a pooler.
        Base = "Model",
        /// Scores of the next token.
        CausalLm = "ForCausalLM",
        /// Scores of the token at each position.
        MaskedLm = "ForMaskedLM",
        /// `BertForPreTraining`: masked language model and next sentence.
        PreTraining = "ForPreTraining",
        /// Whether the second sentence follows the first.
        NextSentence = "ForNextSentencePrediction",
        /// Scores of the decoder's next token.
        ConditionalGeneration = "ForConditionalGeneration",
        /// `T5EncoderModel`: the hidden states of the encoder, without a decoder.
        Encoder = "EncoderModel",
        /// One score per label for a text or a recording.
        SequenceClassification = "ForSequenceClassification",
        /// One score per label for each token.
        TokenClassification = "ForTokenClassification",
        /// Scores of the first and of the last token of the answer.
        QuestionAnswering = "ForQuestionAnswering",
        /// As [`Head::QuestionAnswering`], of words with their places on a page:
        /// `LayoutLMForQuestionAnswering` and its successors, which transformers lists separately.
        DocumentQuestionAnswering = "ForDocumentQuestionAnswering",
        /// One score for each choice of a text.
        MultipleChoice = "ForMultipleChoice",
        /// `VitsModel`: the samples of a sound.
        TextToWaveform = "ForTextToWaveform",
        /// Scores of the token of each frame of a recording.
        Ctc = "ForCTC",
        /// One score per label for a recording.
        AudioClassification = "ForAudioClassification",
        /// One score per label for an image.
        ImageClassification = "ForImageClassification",
        /// DeiT: a class for each of two tokens, and their mean.
        ImageClassificationWithTeacher = "ForImageClassificationWithTeacher",
        /// The next values of a series.
        Prediction = "ForPrediction",
        /// One score per label for a series.
        Classification = "ForClassification",
        /// Numbers computed from a series.
        Regression = "ForRegression",
        /// One score per label for a graph, or a number.
        GraphClassification = "ForGraphClassification",
        /// A label and a box for each query.
        ObjectDetection = "ForObjectDetection",
        /// One score per label for each place of an image.
        SemanticSegmentation = "ForSemanticSegmentation",
        /// A label and a mask for each query: `Mask2FormerForUniversalSegmentation`.
        UniversalSegmentation = "ForUniversalSegmentation",
        /// As [`Head::UniversalSegmentation`]: `MaskFormerForInstanceSegmentation`.
        InstanceSegmentation = "ForInstanceSegmentation",
        /// The depth at each place of an image.
        DepthEstimation = "ForDepthEstimation",
        /// One score per label for a video.
        VideoClassification = "ForVideoClassification",
        /// Points of an image with scores and descriptors.
        KeypointDetection = "ForKeypointDetection",
        /// `RagTokenForGeneration`: scores of the next token, each of which may come from another
        /// passage.
        TokenGeneration = "TokenForGeneration",
        /// `RagSequenceForGeneration`: scores of the next token for each passage.
        SequenceGeneration = "SequenceForGeneration",
        /// `AutoencoderKL`: images to latents and back.
        Autoencoder = "KL",
    }
}

impl Head {
    /// The tasks that the head can serve; which one, the architecture decides.
    pub const fn tasks(self) -> &'static [Task] {
        match self {
            // A class whose name ends in `Model` also serves tasks that other types have a head
            // for: `CLIPModel` scores pairs, `UNet2DConditionModel` of diffusers removes noise.
            Self::Base => &[
                Task::TextEmbedding,
                Task::AudioEmbedding,
                Task::ImageEmbedding,
                Task::ImageTextSimilarity,
                Task::GraphEmbedding,
                Task::ImageDenoising,
            ],
            Self::CausalLm => &[Task::TextGeneration],
            Self::MaskedLm => &[Task::FillMask],
            // transformers has no pipeline for their outputs.
            Self::PreTraining | Self::NextSentence => &[],
            Self::ConditionalGeneration => &[
                Task::Text2TextGeneration,
                Task::SpeechRecognition,
                Task::ImageTextToText,
            ],
            Self::Encoder => &[Task::TextEmbedding],
            Self::SequenceClassification => &[Task::TextClassification, Task::AudioClassification],
            Self::TokenClassification => &[Task::TokenClassification],
            Self::QuestionAnswering => &[Task::QuestionAnswering],
            Self::DocumentQuestionAnswering => &[Task::DocumentQuestionAnswering],
            Self::MultipleChoice => &[Task::MultipleChoice],
            Self::TextToWaveform => &[Task::TextToSpeech],
            Self::Ctc => &[Task::SpeechRecognition],
            Self::AudioClassification => &[Task::AudioClassification],
            Self::ImageClassification | Self::ImageClassificationWithTeacher => {
                &[Task::ImageClassification]
            }
            Self::Prediction => &[Task::TimeSeriesForecasting],
            Self::Classification => &[Task::TimeSeriesClassification],
            Self::Regression => &[Task::TimeSeriesRegression],
            Self::GraphClassification => &[Task::GraphClassification],
            Self::ObjectDetection => &[Task::ObjectDetection],
            Self::SemanticSegmentation
            | Self::UniversalSegmentation
            | Self::InstanceSegmentation => &[Task::ImageSegmentation],
            Self::VideoClassification => &[Task::VideoClassification],
            Self::DepthEstimation => &[Task::DepthEstimation],
            Self::KeypointDetection => &[Task::KeypointDetection],
            Self::TokenGeneration | Self::SequenceGeneration => {
                &[Task::RetrievalAugmentedGeneration]
            }
            Self::Autoencoder => &[Task::ImageDecoding],
        }
    }
}
