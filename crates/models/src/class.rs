//! The heads that transformers puts on a base model, by the end of the class name.

/// What a class computes from the hidden states of its base model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// `...Model`: the hidden states, and the pooled one where the type has a pooler.
    Base,
    /// `...ForCausalLM`, `GPT2LMHeadModel`: scores of the next token.
    CausalLm,
    /// `...ForMaskedLM`: scores of the token at each position.
    MaskedLm,
    /// `BertForPreTraining`: masked language model and next sentence.
    PreTraining,
    /// `BertForNextSentencePrediction`.
    NextSentence,
    /// `...ForConditionalGeneration`, `MarianMTModel`: scores of the decoder's next token.
    ConditionalGeneration,
    /// `T5EncoderModel`: the hidden states of the encoder, without a decoder.
    Encoder,
    /// `...ForSequenceClassification`.
    SequenceClassification,
    /// `...ForTokenClassification`.
    TokenClassification,
    /// `...ForQuestionAnswering`.
    QuestionAnswering,
    /// `...ForCTC`: scores of the token of each frame of a recording.
    Ctc,
    /// `WhisperForAudioClassification`.
    AudioClassification,
    /// `...ForImageClassification`.
    ImageClassification,
    /// `...ForPrediction`, of series.
    Prediction,
    /// `...ForClassification`, of series.
    Classification,
    /// `...ForRegression`, of series.
    Regression,
    /// `...ForGraphClassification`.
    GraphClassification,
    /// `...ForObjectDetection`: a label and a box for each query.
    ObjectDetection,
    /// `RagTokenForGeneration`: scores of the next token, each of which may come from another passage.
    TokenGeneration,
    /// `RagSequenceForGeneration`: scores of the next token for each passage.
    SequenceGeneration,
    /// `DeiTForImageClassificationWithTeacher`: a class for each of two tokens, and their mean.
    ImageClassificationWithTeacher,
}

impl Head {
    /// The head of `class`, a transformers class whose name starts with `family`.
    pub(crate) fn of(class: &str, family: &str) -> Option<Self> {
        match class.strip_prefix(family)? {
            // A class of diffusers can be named as its family.
            "Model" | "" => Some(Self::Base),
            "ForCausalLM" | "LMHeadModel" => Some(Self::CausalLm),
            "ForConditionalGeneration" | "MTModel" => Some(Self::ConditionalGeneration),
            "ForMaskedLM" => Some(Self::MaskedLm),
            "ForPreTraining" => Some(Self::PreTraining),
            "ForNextSentencePrediction" => Some(Self::NextSentence),
            "EncoderModel" => Some(Self::Encoder),
            "ForSequenceClassification" => Some(Self::SequenceClassification),
            "ForTokenClassification" => Some(Self::TokenClassification),
            "ForQuestionAnswering" => Some(Self::QuestionAnswering),
            "ForCTC" => Some(Self::Ctc),
            "ForAudioClassification" => Some(Self::AudioClassification),
            "ForImageClassification" => Some(Self::ImageClassification),
            "ForPrediction" => Some(Self::Prediction),
            "ForClassification" => Some(Self::Classification),
            "ForRegression" => Some(Self::Regression),
            "ForGraphClassification" => Some(Self::GraphClassification),
            "ForObjectDetection" => Some(Self::ObjectDetection),
            "TokenForGeneration" => Some(Self::TokenGeneration),
            "SequenceForGeneration" => Some(Self::SequenceGeneration),
            "ForImageClassificationWithTeacher" => Some(Self::ImageClassificationWithTeacher),
            _ => None,
        }
    }

    /// The end of the class name, for messages.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Base => "Model",
            Self::CausalLm => "ForCausalLM",
            Self::ConditionalGeneration => "ForConditionalGeneration",
            Self::MaskedLm => "ForMaskedLM",
            Self::PreTraining => "ForPreTraining",
            Self::NextSentence => "ForNextSentencePrediction",
            Self::Encoder => "EncoderModel",
            Self::SequenceClassification => "ForSequenceClassification",
            Self::TokenClassification => "ForTokenClassification",
            Self::QuestionAnswering => "ForQuestionAnswering",
            Self::Ctc => "ForCTC",
            Self::AudioClassification => "ForAudioClassification",
            Self::ImageClassification => "ForImageClassification",
            Self::Prediction => "ForPrediction",
            Self::Classification => "ForClassification",
            Self::Regression => "ForRegression",
            Self::GraphClassification => "ForGraphClassification",
            Self::ObjectDetection => "ForObjectDetection",
            Self::TokenGeneration => "TokenForGeneration",
            Self::SequenceGeneration => "SequenceForGeneration",
            Self::ImageClassificationWithTeacher => "ForImageClassificationWithTeacher",
        }
    }
}
