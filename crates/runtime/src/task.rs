//! One handler per task: the modality's real input in, a typed result out.
//!
//! Owns requests, responses and the steps between the processor and the model's outputs. Does not
//! own queues, devices or status: those are the endpoint's. A handler runs tokenizer or image
//! processor, then the model, then reads the outputs; it never cuts an input silently.

mod answer_span;
mod audio_embedding;
mod call;
mod classification;
mod depth_estimation;
mod diffusion;
mod document_question_answering;
mod fill_mask;
mod graph_embedding;
mod image_embedding;
mod image_map;
mod image_segmentation;
mod image_text;
mod image_text_to_text;
mod multiple_choice;
mod object_detection;
mod operator_evaluation;
mod question_answering;
mod request;
mod response;
mod retrieval_augmented_generation;
mod scores;
mod speech_recognition;
mod text2text_generation;
mod text_embedding;
mod text_generation;
mod time_series;
mod token_classification;

pub use call::HandlerError;
pub(crate) use object_detection::QueryResult;
pub use request::{
    DocumentQuestion, PlacedWord, QuestionContext, Request, TextChoices, TimeSeries,
};
pub use response::{
    Answer, AudioEmbedding, Detection, FilledMask, FoundPassage, GeneratedText, GraphEmbedding,
    ImageEmbedding, ImageTextEmbedding, LabelScore, LabelledToken, Response, RetrievedAnswer,
    Segment, TextEmbedding, Transcription,
};

use crate::subject::LoadedSubject;
use call::TaskCall;
use testgen_types::Task;

/// Answers one request with a model, or with operators.
pub type Handler = fn(&LoadedSubject, Request) -> Result<Response, HandlerError>;

/// Texts in; per text the vectors of its tokens [tokens, hidden], their mean `[hidden]` and the
/// pooler's `[hidden]` out.
pub fn text_embedding(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    text_embedding::answer(&TaskCall::for_task(loaded, Task::TextEmbedding)?, request)
}

/// Texts with mask tokens in; for each mask token the five likeliest tokens with their
/// probabilities out.
pub fn fill_mask(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    fill_mask::answer(&TaskCall::for_task(loaded, Task::FillMask)?, request)
}

/// Texts in; per text every label with its probability out, best first.
pub fn text_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    classification::answer_texts(
        &TaskCall::for_task(loaded, Task::TextClassification)?,
        request,
    )
}

/// Texts in; per text the best label of every token, with its bytes in the text, out.
pub fn token_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    token_classification::answer(
        &TaskCall::for_task(loaded, Task::TokenClassification)?,
        request,
    )
}

/// Questions with contexts in; per question the best span of its context out.
pub fn question_answering(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    question_answering::answer(
        &TaskCall::for_task(loaded, Task::QuestionAnswering)?,
        request,
    )
}

/// Answers questions about documents: the best span of the words of each.
pub fn document_question_answering(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    document_question_answering::answer(
        &TaskCall::for_task(loaded, Task::DocumentQuestionAnswering)?,
        request,
    )
}

/// Scores the choices of each text: every choice with its probability, best first.
pub fn multiple_choice(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    multiple_choice::answer(&TaskCall::for_task(loaded, Task::MultipleChoice)?, request)
}

/// Prompts in; per prompt its continuation, the new ids and why it ended, out.
pub fn text_generation(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    text_generation::answer(&TaskCall::for_task(loaded, Task::TextGeneration)?, request)
}

/// Generates a text from each text: the generated text, the new ids and the reason why it ended.
pub fn text2text_generation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    text2text_generation::answer(
        &TaskCall::for_task(loaded, Task::Text2TextGeneration)?,
        request,
    )
}

/// Recordings in; per recording its words out.
pub fn speech_recognition(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    speech_recognition::answer(
        &TaskCall::for_task(loaded, Task::SpeechRecognition)?,
        request,
    )
}

/// Recordings in; per recording every label with its probability out, best first.
pub fn audio_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    classification::answer_recordings(
        &TaskCall::for_task(loaded, Task::AudioClassification)?,
        request,
    )
}

/// Recordings in; per recording the vectors of its frames and their mean out.
pub fn audio_embedding(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    audio_embedding::answer(&TaskCall::for_task(loaded, Task::AudioEmbedding)?, request)
}

/// Images in; per image every label with its probability out, best first.
pub fn image_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    classification::answer_images(
        &TaskCall::for_task(loaded, Task::ImageClassification)?,
        request,
    )
}

/// Images in; per image the boxes of its objects in pixels, with their labels and probabilities,
/// best first, out.
pub fn object_detection(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    object_detection::answer(&TaskCall::for_task(loaded, Task::ObjectDetection)?, request)
}

/// Images in; per image the labels that occur in it, each with the mask of its pixels, out.
pub fn image_segmentation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    image_segmentation::answer(
        &TaskCall::for_task(loaded, Task::ImageSegmentation)?,
        request,
    )
}

/// Images in; per image the depth of its pixels [height, width] out.
pub fn depth_estimation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    depth_estimation::answer(&TaskCall::for_task(loaded, Task::DepthEstimation)?, request)
}

/// Classifies videos: per video every label with its probability, best first.
pub fn video_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    classification::answer_videos(
        &TaskCall::for_task(loaded, Task::VideoClassification)?,
        request,
    )
}

/// Images in; per image the vectors of its patches and one pooled vector out.
pub fn image_embedding(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    image_embedding::answer(&TaskCall::for_task(loaded, Task::ImageEmbedding)?, request)
}

/// Images and texts in; per image every text with its score out, best first.
pub fn image_text_similarity(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    image_text::answer_similarity(
        &TaskCall::for_task(loaded, Task::ImageTextSimilarity)?,
        request,
    )
}

/// Images and texts in; one vector `[width]` of their common space for each out.
pub fn image_text_embedding(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    image_text::answer_embedding(
        &TaskCall::for_task(loaded, Task::ImageTextEmbedding)?,
        request,
    )
}

/// Series in; per series how its channels go on, [prediction_length, channels], out.
pub fn time_series_forecasting(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    time_series::answer_forecast(
        &TaskCall::for_task(loaded, Task::TimeSeriesForecasting)?,
        request,
    )
}

/// Series in; per series every label with its probability out, best first.
pub fn time_series_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    time_series::answer_labels(
        &TaskCall::for_task(loaded, Task::TimeSeriesClassification)?,
        request,
    )
}

/// Predicts numbers from series: `[targets]` per series.
pub fn time_series_regression(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    time_series::answer_numbers(
        &TaskCall::for_task(loaded, Task::TimeSeriesRegression)?,
        request,
    )
}

/// Prompts with places for images, and the images, in; per prompt its continuation, the new ids and
/// why it ended, out.
pub fn image_text_to_text(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    image_text_to_text::answer(&TaskCall::for_task(loaded, Task::ImageTextToText)?, request)
}

/// Questions in; per question its answer and the passages that it was written from, best first,
/// out.
pub fn retrieval_augmented_generation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    retrieval_augmented_generation::answer(
        &TaskCall::for_task(loaded, Task::RetrievalAugmentedGeneration)?,
        request,
    )
}

/// Noise and a condition in; per row of the noise, latents [channels, height, width] out, which the
/// checkpoint's scheduler makes from that noise.
pub fn image_denoising(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    diffusion::answer_denoising(&TaskCall::for_task(loaded, Task::ImageDenoising)?, request)
}

/// Latents in; per row an image [channels, height, width] out.
pub fn image_decoding(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    diffusion::answer_decoding(&TaskCall::for_task(loaded, Task::ImageDecoding)?, request)
}

/// Classifies graphs: per graph every label with its probability, best first, or the one number
/// that it predicts.
pub fn graph_classification(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    classification::answer_graphs(
        &TaskCall::for_task(loaded, Task::GraphClassification)?,
        request,
    )
}

/// Embeds graphs: the vectors of the nodes of each graph, and one of the whole graph.
pub fn graph_embedding(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    graph_embedding::answer(&TaskCall::for_task(loaded, Task::GraphEmbedding)?, request)
}

/// Computes operators: the result of each call, in their order.
pub fn operator_evaluation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    operator_evaluation::answer(loaded, request)
}
