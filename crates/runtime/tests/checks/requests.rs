//! The request and the handler of each task, as the templates have them.

use testgen_runtime::{
    RecordedRequest, Request, RequestError, Task,
    task::{self, Handler},
};

/// The request of a task, built from recorded inputs.
pub(crate) fn request_of(task: Task, recorded: &RecordedRequest) -> Result<Request, RequestError> {
    Ok(match task {
        Task::TextEmbedding
        | Task::FillMask
        | Task::TextClassification
        | Task::TextToSpeech
        | Task::TokenClassification => Request::Texts(recorded.texts()?),
        Task::QuestionAnswering => Request::Questions(recorded.questions()?),
        Task::DocumentQuestionAnswering => Request::Documents(recorded.documents()?),
        Task::MultipleChoice => Request::Choices(recorded.choices()?),
        Task::TextGeneration | Task::Text2TextGeneration | Task::RetrievalAugmentedGeneration => {
            Request::Prompts {
                prompts: recorded.prompts()?,
                controls: recorded.controls()?,
            }
        }
        Task::SpeechRecognition | Task::AudioClassification | Task::AudioEmbedding => {
            Request::Speech {
                recordings: recorded.recordings()?,
                controls: recorded.controls()?,
            }
        }
        Task::ImageClassification
        | Task::ImageEmbedding
        | Task::ObjectDetection
        | Task::ImageSegmentation
        | Task::DepthEstimation
        | Task::KeypointDetection => Request::Images(recorded.images()?),
        Task::VideoClassification => Request::Videos(recorded.videos()?),
        Task::ImageTextSimilarity | Task::ImageTextEmbedding => Request::ImagesWithTexts {
            images: recorded.images()?,
            texts: recorded.texts()?,
        },
        Task::ImageTextToText => Request::ImagePrompts {
            images: recorded.images()?,
            prompts: recorded.prompts()?,
            controls: recorded.controls()?,
        },
        Task::ImageDenoising => Request::Noise {
            noise: recorded.noise()?,
            condition: recorded.condition()?,
            steps: recorded.steps()?,
        },
        Task::ImageDecoding => Request::Latents(recorded.latents()?),
        Task::TimeSeriesForecasting
        | Task::TimeSeriesClassification
        | Task::TimeSeriesRegression => Request::Series(recorded.series()?),
        Task::GraphClassification | Task::GraphEmbedding => Request::Graphs(recorded.graphs()?),
        Task::OperatorEvaluation => Request::Calls(recorded.calls()?),
    })
}

/// The handler of a task.
pub(crate) fn handler_of(task: Task) -> Handler {
    match task {
        Task::TextEmbedding => task::text_embedding,
        Task::FillMask => task::fill_mask,
        Task::TextClassification => task::text_classification,
        Task::TokenClassification => task::token_classification,
        Task::QuestionAnswering => task::question_answering,
        Task::DocumentQuestionAnswering => task::document_question_answering,
        Task::MultipleChoice => task::multiple_choice,
        Task::TextToSpeech => task::text_to_speech,
        Task::TextGeneration => task::text_generation,
        Task::Text2TextGeneration => task::text2text_generation,
        Task::SpeechRecognition => task::speech_recognition,
        Task::AudioClassification => task::audio_classification,
        Task::AudioEmbedding => task::audio_embedding,
        Task::ImageClassification => task::image_classification,
        Task::ImageEmbedding => task::image_embedding,
        Task::ObjectDetection => task::object_detection,
        Task::ImageSegmentation => task::image_segmentation,
        Task::DepthEstimation => task::depth_estimation,
        Task::KeypointDetection => task::keypoint_detection,
        Task::VideoClassification => task::video_classification,
        Task::ImageTextSimilarity => task::image_text_similarity,
        Task::ImageTextEmbedding => task::image_text_embedding,
        Task::ImageDenoising => task::image_denoising,
        Task::ImageDecoding => task::image_decoding,
        Task::ImageTextToText => task::image_text_to_text,
        Task::RetrievalAugmentedGeneration => task::retrieval_augmented_generation,
        Task::TimeSeriesForecasting => task::time_series_forecasting,
        Task::TimeSeriesClassification => task::time_series_classification,
        Task::TimeSeriesRegression => task::time_series_regression,
        Task::GraphClassification => task::graph_classification,
        Task::GraphEmbedding => task::graph_embedding,
        Task::OperatorEvaluation => task::operator_evaluation,
    }
}
