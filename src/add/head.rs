//! From the class that `architectures` of `config.json` names to a task.

use super::AddError;
use testgen_types::{ModelType, Task};

/// The task: the one asked for when the architecture has it, else the one of the head.
pub(super) fn task(
    model_type: ModelType,
    class: Option<&str>,
    asked: Option<Task>,
) -> Result<Task, AddError> {
    let architecture = model_type.architecture();
    let tasks = architecture.tasks();
    match (asked, class) {
        // The class is not asked: `--task` is the way out for a class that has no task.
        (Some(task), _) if tasks.contains(&task) => Ok(task),
        (Some(task), _) => Err(AddError::WrongTask { task, architecture }),
        // Without `architectures` a checkpoint can hold any head, so nothing is assumed.
        (None, None) => Err(AddError::NoHead { architecture }),
        (None, Some(class)) => {
            let candidates = model_type.head(class).map_or(&[][..], |head| head.tasks());
            // A head can have several tasks, and the architecture decides between them.
            let task = candidates.iter().copied().find(|task| tasks.contains(task));
            task.ok_or_else(|| AddError::UnknownHead {
                class: class.to_owned(),
                model_type,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_lead_to_tasks() {
        let cases = [
            (ModelType::Bert, "BertForMaskedLM", Task::FillMask),
            (ModelType::Roberta, "RobertaModel", Task::TextEmbedding),
            (
                ModelType::DistilBert,
                "DistilBertForQuestionAnswering",
                Task::QuestionAnswering,
            ),
            (
                ModelType::Layoutlm,
                "LayoutLMForQuestionAnswering",
                Task::DocumentQuestionAnswering,
            ),
            (ModelType::Vits, "VitsModel", Task::TextToSpeech),
            (
                ModelType::Ernie,
                "ErnieForMultipleChoice",
                Task::MultipleChoice,
            ),
            (ModelType::Gpt2, "GPT2LMHeadModel", Task::TextGeneration),
            (ModelType::Llama, "LlamaForCausalLM", Task::TextGeneration),
            (ModelType::Llama, "LlamaModel", Task::TextEmbedding),
            (
                ModelType::Llama,
                "LlamaForSequenceClassification",
                Task::TextClassification,
            ),
            (
                ModelType::T5,
                "T5ForConditionalGeneration",
                Task::Text2TextGeneration,
            ),
            (ModelType::Bart, "BartModel", Task::TextEmbedding),
            (ModelType::T5, "T5EncoderModel", Task::TextEmbedding),
            (
                ModelType::Bart,
                "BartForQuestionAnswering",
                Task::QuestionAnswering,
            ),
            (
                ModelType::Marian,
                "MarianMTModel",
                Task::Text2TextGeneration,
            ),
            (
                ModelType::Whisper,
                "WhisperForConditionalGeneration",
                Task::SpeechRecognition,
            ),
            (
                ModelType::Whisper,
                "WhisperForAudioClassification",
                Task::AudioClassification,
            ),
            (
                ModelType::Wav2Vec2,
                "Wav2Vec2ForCTC",
                Task::SpeechRecognition,
            ),
            (
                ModelType::Hubert,
                "HubertForSequenceClassification",
                Task::AudioClassification,
            ),
            (ModelType::Vit, "ViTModel", Task::ImageEmbedding),
            (
                ModelType::Unet,
                "UNet2DConditionModel",
                Task::ImageDenoising,
            ),
            (
                ModelType::AutoencoderKl,
                "AutoencoderKL",
                Task::ImageDecoding,
            ),
            (
                ModelType::Llava,
                "LlavaForConditionalGeneration",
                Task::ImageTextToText,
            ),
            (
                ModelType::Rag,
                "RagTokenForGeneration",
                Task::RetrievalAugmentedGeneration,
            ),
            (
                ModelType::PatchTst,
                "PatchTSTForPrediction",
                Task::TimeSeriesForecasting,
            ),
            (
                ModelType::Detr,
                "DetrForObjectDetection",
                Task::ObjectDetection,
            ),
            (
                ModelType::Graphormer,
                "GraphormerForGraphClassification",
                Task::GraphClassification,
            ),
            (
                ModelType::Graphormer,
                "GraphormerModel",
                Task::GraphEmbedding,
            ),
            (ModelType::Clip, "CLIPModel", Task::ImageTextSimilarity),
            (
                ModelType::ResNet,
                "ResNetForImageClassification",
                Task::ImageClassification,
            ),
            (
                ModelType::Segformer,
                "SegformerForSemanticSegmentation",
                Task::ImageSegmentation,
            ),
            (
                ModelType::Videomae,
                "VideoMAEForVideoClassification",
                Task::VideoClassification,
            ),
            (
                ModelType::DepthAnything,
                "DepthAnythingForDepthEstimation",
                Task::DepthEstimation,
            ),
            (
                ModelType::Mask2former,
                "Mask2FormerForUniversalSegmentation",
                Task::ImageSegmentation,
            ),
            (
                ModelType::Maskformer,
                "MaskFormerForInstanceSegmentation",
                Task::ImageSegmentation,
            ),
            (
                ModelType::Superpoint,
                "SuperPointForKeypointDetection",
                Task::KeypointDetection,
            ),
            (
                ModelType::Deit,
                "DeiTForImageClassificationWithTeacher",
                Task::ImageClassification,
            ),
        ];
        for (model_type, class, expected) in cases {
            assert_eq!(
                task(model_type, Some(class), None).ok(),
                Some(expected),
                "{class}"
            );
        }
    }

    #[test]
    fn a_class_without_a_task_is_an_error() {
        for (model_type, class) in [
            (ModelType::Bert, "BertForPreTraining"),
            (ModelType::Bert, "BertLMHeadModel"),
            (ModelType::Bert, "RobertaModel"),
            (ModelType::Vit, "ViTForMaskedImageModeling"),
        ] {
            assert!(task(model_type, Some(class), None).is_err(), "{class}");
        }
    }
}
