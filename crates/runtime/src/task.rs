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
mod keypoint_detection;
mod multiple_choice;
mod object_detection;
mod operator_evaluation;
mod query_masks;
mod question_answering;
mod request;
mod request_parts;
mod response;
mod retrieval_augmented_generation;
mod scores;
mod speech_recognition;
mod text2text_generation;
mod text_embedding;
mod text_generation;
mod text_to_speech;
mod time_series;
mod token_classification;

pub use call::HandlerError;
pub(crate) use object_detection::QueryResult;
pub use request::{
    DocumentQuestion, PlacedWord, QuestionContext, Request, TextChoices, TimeSeries,
};
pub use response::{
    Answer, AudioEmbedding, Detection, FilledMask, FoundPassage, GeneratedText, GraphEmbedding,
    ImageEmbedding, ImageKeypoints, ImageTextEmbedding, LabelScore, LabelledToken, Response,
    RetrievedAnswer, Segment, SpokenText, TextEmbedding, Transcription,
};
pub(crate) use retrieval_augmented_generation::padding_token;

use crate::subject::LoadedSubject;
use call::TaskCall;
use testgen_types::Task;

/// Answers one request with a model, or with operators.
pub type Handler = fn(&LoadedSubject, Request) -> Result<Response, HandlerError>;

/// Defines the handlers of tasks that models answer.
macro_rules! handlers {
    ($($(#[doc = $doc:literal])+ $name:ident: $task:ident => $module:ident::$answer:ident;)+) => {$(
        $(#[doc = $doc])+
        pub fn $name(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
            $module::$answer(&TaskCall::for_task(loaded, Task::$task)?, request)
        }
    )+};
}

handlers! {
    /// Texts in; per text the vectors of its tokens [tokens, hidden], their mean `[hidden]` and the
    /// pooler's `[hidden]` out.
    text_embedding: TextEmbedding => text_embedding::answer;
    /// Texts with mask tokens in; for each mask token the five likeliest tokens with their
    /// probabilities out.
    fill_mask: FillMask => fill_mask::answer;
    /// Texts in; per text every label with its probability out, best first.
    text_classification: TextClassification => classification::answer_texts;
    /// Texts in; per text the best label of every token, with its bytes in the text, out.
    token_classification: TokenClassification => token_classification::answer;
    /// Questions with contexts in; per question the best span of its context out.
    question_answering: QuestionAnswering => question_answering::answer;
    /// Answers questions about documents: the best span of the words of each.
    document_question_answering: DocumentQuestionAnswering => document_question_answering::answer;
    /// Scores the choices of each text: every choice with its probability, best first.
    multiple_choice: MultipleChoice => multiple_choice::answer;
    /// Speaks texts: the sound of each.
    text_to_speech: TextToSpeech => text_to_speech::answer;
    /// Prompts in; per prompt its continuation, the new ids and why it ended, out.
    text_generation: TextGeneration => text_generation::answer;
    /// Generates a text from each text: the generated text, the new ids and the reason why it
    /// ended.
    text2text_generation: Text2TextGeneration => text2text_generation::answer;
    /// Recordings in; per recording its words out.
    speech_recognition: SpeechRecognition => speech_recognition::answer;
    /// Recordings in; per recording every label with its probability out, best first.
    audio_classification: AudioClassification => classification::answer_recordings;
    /// Recordings in; per recording the vectors of its frames and their mean out.
    audio_embedding: AudioEmbedding => audio_embedding::answer;
    /// Images in; per image every label with its probability out, best first.
    image_classification: ImageClassification => classification::answer_images;
    /// Images in; per image the boxes of its objects in pixels, with their labels and
    /// probabilities, best first, out.
    object_detection: ObjectDetection => object_detection::answer;
    /// Images in; per image the labels that occur in it, each with the mask of its pixels, out.
    image_segmentation: ImageSegmentation => image_segmentation::answer;
    /// Images in; per image the depth of its pixels [height, width] out.
    depth_estimation: DepthEstimation => depth_estimation::answer;
    /// Finds points in images: per image their places in pixels, with scores and descriptors.
    keypoint_detection: KeypointDetection => keypoint_detection::answer;
    /// Classifies videos: per video every label with its probability, best first.
    video_classification: VideoClassification => classification::answer_videos;
    /// Images in; per image the vectors of its patches and one pooled vector out.
    image_embedding: ImageEmbedding => image_embedding::answer;
    /// Images and texts in; per image every text with its score out, best first.
    image_text_similarity: ImageTextSimilarity => image_text::answer_similarity;
    /// Images and texts in; one vector `[width]` of their common space for each out.
    image_text_embedding: ImageTextEmbedding => image_text::answer_embedding;
    /// Series in; per series how its channels go on, [prediction_length, channels], out.
    time_series_forecasting: TimeSeriesForecasting => time_series::answer_forecast;
    /// Series in; per series every label with its probability out, best first.
    time_series_classification: TimeSeriesClassification => time_series::answer_labels;
    /// Predicts numbers from series: `[targets]` per series.
    time_series_regression: TimeSeriesRegression => time_series::answer_numbers;
    /// Prompts with places for images, and the images, in; per prompt its continuation, the new ids
    /// and why it ended, out.
    image_text_to_text: ImageTextToText => image_text_to_text::answer;
    /// Questions in; per question its answer and the passages that it was written from, best first,
    /// out.
    retrieval_augmented_generation: RetrievalAugmentedGeneration => retrieval_augmented_generation::answer;
    /// Noise and a condition in; per row of the noise, latents [channels, height, width] out, which
    /// the checkpoint's scheduler makes from that noise.
    image_denoising: ImageDenoising => diffusion::answer_denoising;
    /// Latents in; per row an image [channels, height, width] out.
    image_decoding: ImageDecoding => diffusion::answer_decoding;
    /// Classifies graphs: per graph every label with its probability, best first, or the one number
    /// that it predicts.
    graph_classification: GraphClassification => classification::answer_graphs;
    /// Embeds graphs: the vectors of the nodes of each graph, and one of the whole graph.
    graph_embedding: GraphEmbedding => graph_embedding::answer;
}

/// Computes operators: the result of each call, in their order.
pub fn operator_evaluation(
    loaded: &LoadedSubject,
    request: Request,
) -> Result<Response, HandlerError> {
    operator_evaluation::answer(loaded, request)
}
