//! From the class that `architectures` of `config.json` names to a task.

use super::AddError;
use testgen_contract::{Architecture, Task};

/// What the ends of transformers' class names say of the head; the longest end that fits counts.
const HEADS: &[(&str, &[Task])] = &[
    ("ForMaskedLM", &[Task::FillMask]),
    ("ForSequenceClassification", &[Task::TextClassification, Task::AudioClassification]),
    ("ForAudioClassification", &[Task::AudioClassification]),
    ("ForTokenClassification", &[Task::TokenClassification]),
    ("ForQuestionAnswering", &[Task::QuestionAnswering]),
    ("ForImageClassification", &[Task::ImageClassification]),
    ("UNet2DConditionModel", &[Task::ImageDenoising]),
    ("AutoencoderKL", &[Task::ImageDecoding]),
    ("ForPrediction", &[Task::TimeSeriesForecasting]),
    ("ForClassification", &[Task::TimeSeriesClassification]),
    ("ForGraphClassification", &[Task::GraphClassification]),
    ("ForRegression", &[Task::TimeSeriesRegression]),
    ("ForImageClassificationWithTeacher", &[Task::ImageClassification]),
    ("ForObjectDetection", &[Task::ObjectDetection]),
    ("ForCausalLM", &[Task::TextGeneration]),
    ("ForConditionalGeneration", &[Task::Text2TextGeneration, Task::SpeechRecognition, Task::ImageTextToText]),
    ("ForCTC", &[Task::SpeechRecognition]),
    ("RagTokenForGeneration", &[Task::RetrievalAugmentedGeneration]),
    ("RagSequenceForGeneration", &[Task::RetrievalAugmentedGeneration]),
    ("MTModel", &[Task::Text2TextGeneration]),
    ("LMHeadModel", &[Task::TextGeneration]),
    (
        "Model",
        &[
            Task::TextEmbedding,
            Task::AudioEmbedding,
            Task::ImageEmbedding,
            Task::ImageTextSimilarity,
            Task::GraphEmbedding,
        ],
    ),
];

/// The task: the one asked for when the architecture has it, else the one of the head.
pub(super) fn task(architecture: Architecture, head: Option<&str>, asked: Option<Task>) -> Result<Task, AddError> {
    let tasks = architecture.tasks();
    match (asked, head) {
        (Some(task), _) if tasks.contains(&task) => Ok(task),
        (Some(task), _) => Err(AddError::WrongTask { task, architecture }),
        (None, None) => Err(AddError::NoHead { architecture }),
        (None, Some(head)) => {
            let candidates = HEADS.iter().find(|(end, _)| head.ends_with(end)).map_or(&[][..], |(_, tasks)| *tasks);
            let task = candidates.iter().copied().find(|task| tasks.contains(task));
            task.ok_or_else(|| AddError::UnknownHead { head: head.to_owned(), architecture })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_lead_to_tasks() {
        let cases = [
            (Architecture::EncoderOnly, "BertForMaskedLM", Task::FillMask),
            (Architecture::EncoderOnly, "RobertaModel", Task::TextEmbedding),
            (Architecture::EncoderOnly, "DistilBertForQuestionAnswering", Task::QuestionAnswering),
            (Architecture::DecoderOnly, "GPT2LMHeadModel", Task::TextGeneration),
            (Architecture::DecoderOnly, "LlamaForCausalLM", Task::TextGeneration),
            (Architecture::DecoderOnly, "LlamaModel", Task::TextEmbedding),
            (Architecture::DecoderOnly, "LlamaForSequenceClassification", Task::TextClassification),
            (Architecture::EncoderDecoder, "T5ForConditionalGeneration", Task::Text2TextGeneration),
            (Architecture::EncoderDecoder, "BartModel", Task::TextEmbedding),
            (Architecture::EncoderDecoder, "T5EncoderModel", Task::TextEmbedding),
            (Architecture::EncoderDecoder, "BartForQuestionAnswering", Task::QuestionAnswering),
            (Architecture::EncoderDecoder, "MarianMTModel", Task::Text2TextGeneration),
            (Architecture::Speech, "WhisperForConditionalGeneration", Task::SpeechRecognition),
            (Architecture::Speech, "WhisperForAudioClassification", Task::AudioClassification),
            (Architecture::Speech, "Wav2Vec2ForCTC", Task::SpeechRecognition),
            (Architecture::Speech, "HubertForSequenceClassification", Task::AudioClassification),
            (Architecture::Vision, "ViTModel", Task::ImageEmbedding),
            (Architecture::Diffusion, "UNet2DConditionModel", Task::ImageDenoising),
            (Architecture::Diffusion, "AutoencoderKL", Task::ImageDecoding),
            (Architecture::Multimodal, "LlavaForConditionalGeneration", Task::ImageTextToText),
            (Architecture::Rag, "RagTokenForGeneration", Task::RetrievalAugmentedGeneration),
            (Architecture::TimeSeries, "PatchTSTForPrediction", Task::TimeSeriesForecasting),
            (Architecture::ObjectDetection, "DetrForObjectDetection", Task::ObjectDetection),
            (Architecture::Graph, "GraphormerForGraphClassification", Task::GraphClassification),
            (Architecture::Graph, "GraphormerModel", Task::GraphEmbedding),
            (Architecture::VisionText, "CLIPModel", Task::ImageTextSimilarity),
            (Architecture::Vision, "ResNetForImageClassification", Task::ImageClassification),
            (Architecture::Vision, "DeiTForImageClassificationWithTeacher", Task::ImageClassification),
        ];
        for (architecture, head, expected) in cases {
            assert_eq!(task(architecture, Some(head), None).ok(), Some(expected), "{head}");
        }
    }

    #[test]
    fn a_head_without_a_task_is_no_guess() {
        for (architecture, head) in [
            (Architecture::EncoderOnly, "BertForPreTraining"),
            (Architecture::EncoderOnly, "BertLMHeadModel"),
            (Architecture::Vision, "ViTForMaskedImageModeling"),
        ] {
            assert!(task(architecture, Some(head), None).is_err(), "{head}");
        }
    }
}
