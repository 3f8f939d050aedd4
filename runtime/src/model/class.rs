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
    /// `...ForSequenceClassification`.
    SequenceClassification,
    /// `...ForTokenClassification`.
    TokenClassification,
    /// `...ForQuestionAnswering`.
    QuestionAnswering,
    /// `...ForImageClassification`.
    ImageClassification,
    /// `...ForConditionalGeneration`: scores of the decoder's next token.
    ConditionalGeneration,
    /// `...ForPrediction`, of series.
    Prediction,
    /// `...ForClassification`, of series.
    Classification,
    /// `...ForRegression`, of series.
    Regression,
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
            "ForMaskedLM" => Some(Self::MaskedLm),
            "ForPreTraining" => Some(Self::PreTraining),
            "ForNextSentencePrediction" => Some(Self::NextSentence),
            "ForSequenceClassification" => Some(Self::SequenceClassification),
            "ForTokenClassification" => Some(Self::TokenClassification),
            "ForQuestionAnswering" => Some(Self::QuestionAnswering),
            "ForImageClassification" => Some(Self::ImageClassification),
            "ForConditionalGeneration" => Some(Self::ConditionalGeneration),
            "ForPrediction" => Some(Self::Prediction),
            "ForClassification" => Some(Self::Classification),
            "ForRegression" => Some(Self::Regression),
            "ForImageClassificationWithTeacher" => Some(Self::ImageClassificationWithTeacher),
            _ => None,
        }
    }

    /// The end of the class name, for messages.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Base => "Model",
            Self::CausalLm => "ForCausalLM",
            Self::MaskedLm => "ForMaskedLM",
            Self::PreTraining => "ForPreTraining",
            Self::NextSentence => "ForNextSentencePrediction",
            Self::SequenceClassification => "ForSequenceClassification",
            Self::TokenClassification => "ForTokenClassification",
            Self::QuestionAnswering => "ForQuestionAnswering",
            Self::ImageClassification => "ForImageClassification",
            Self::ConditionalGeneration => "ForConditionalGeneration",
            Self::Prediction => "ForPrediction",
            Self::Classification => "ForClassification",
            Self::Regression => "ForRegression",
            Self::ImageClassificationWithTeacher => "ForImageClassificationWithTeacher",
        }
    }
}
