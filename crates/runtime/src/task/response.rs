//! The response of an endpoint: one entry per input of the request, in its order.

use testgen_nn::array::Array;
use testgen_operators::calls::Computed;
use testgen_processing::{generation::FinishReason, retrieval::Passage};

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// Of `text_embedding`.
    TextEmbeddings(Vec<TextEmbedding>),
    /// Of `fill_mask`: per text and mask token the five likeliest tokens, best first.
    FilledMasks(Vec<Vec<Vec<FilledMask>>>),
    /// Of `text_classification`, `image_classification`, `image_text_similarity` and
    /// `multiple_choice` (whose texts and choices are the labels), `video_classification`,
    /// `time_series_classification` and `graph_classification`: every label, best first.
    Labels(Vec<Vec<LabelScore>>),
    /// Of `token_classification`: every token of the text in its order.
    TokenLabels(Vec<Vec<LabelledToken>>),
    /// Of `question_answering` and `document_question_answering`.
    Answers(Vec<Answer>),
    /// Of `text_generation`, `text2text_generation` and `image_text_to_text`.
    Generations(Vec<GeneratedText>),
    /// Of `retrieval_augmented_generation`.
    RetrievedAnswers(Vec<RetrievedAnswer>),
    /// Of `object_detection`.
    Detections(Vec<Vec<Detection>>),
    /// Of `image_segmentation`: the labels that occur in the image, in the order of their numbers.
    Segments(Vec<Vec<Segment>>),
    /// Of `depth_estimation`: [height, width] of the image as it was given.
    Depths(Vec<Array>),
    /// Of `keypoint_detection`.
    Keypoints(Vec<ImageKeypoints>),
    /// Of `speech_recognition`.
    Transcriptions(Vec<Transcription>),
    /// Of `text_to_speech`.
    Speech(Vec<SpokenText>),
    /// Of `audio_embedding`.
    AudioEmbeddings(Vec<AudioEmbedding>),
    /// Of `image_embedding`.
    ImageEmbeddings(Vec<ImageEmbedding>),
    /// Of `image_text_embedding`: not one entry per input, but two lists.
    ImageTextEmbeddings(ImageTextEmbedding),
    /// Of `image_denoising`: [channels, height, width].
    Latents(Vec<Array>),
    /// Of `image_decoding`: [channels, height, width], about -1 to 1.
    Pixels(Vec<Array>),
    /// Of `time_series_forecasting`: [prediction_length, channels] in the unit of the series.
    Forecasts(Vec<Array>),
    /// Of `time_series_regression`: `[targets]`. Of `graph_classification` by a model with one
    /// output: `[1]`.
    Regressions(Vec<Array>),
    /// Of `graph_embedding`.
    GraphEmbeddings(Vec<GraphEmbedding>),
    /// Of `operator_evaluation`.
    Computed(Vec<Computed>),
    /// No model answered.
    Mock {
        /// Why not.
        why: String,
    },
}

/// The vectors of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextEmbedding {
    /// `last_hidden_state` of the real tokens, [tokens, hidden]; padding is cut off.
    pub tokens: Array,
    /// The mean of `tokens`, `[hidden]`.
    pub mean: Array,
    /// `pooler_output`, `[hidden]`, if the class has a pooler.
    pub pooled: Option<Array>,
}

/// A candidate for a mask token.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledMask {
    /// The token's id.
    pub id: i64,
    /// The token's text.
    pub text: String,
    /// Its probability, 0 to 1.
    pub score: f32,
}

/// A label with its probability.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelScore {
    /// The name in `id2label` of `config.json`.
    pub label: String,
    /// The softmax of its logit, 0 to 1.
    pub score: f32,
}

/// A token with its best label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledToken {
    /// The part of the text that the token covers.
    pub text: String,
    /// The first byte of it in the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The word that it is a part of, counted from 0, if the tokenizer knows words.
    pub word: Option<u32>,
    /// The best label and its probability.
    pub label: LabelScore,
}

/// The best span of a context, or of the words of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The part of the context, or the words.
    pub text: String,
    /// Its first byte in the context, or its first word.
    pub start: usize,
    /// The byte, or the word, after its last.
    pub end: usize,
    /// The product of the probabilities of start and end among the tokens of the context, 0 to 1.
    pub score: f32,
}

/// A continuation.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedText {
    /// The new text, without the prompt and without special tokens.
    pub text: String,
    /// The new tokens, with the end token where there is one.
    pub ids: Vec<i64>,
    /// Why it ended.
    pub finish: FinishReason,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrievedAnswer {
    /// The answer.
    pub answer: GeneratedText,
    /// The passages that it was written from, best first.
    pub passages: Vec<FoundPassage>,
}

/// A passage that was found for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    /// Its number in the index.
    pub id: i64,
    /// Its title and text.
    pub passage: Passage,
    /// The inner product of its embedding with the question's.
    pub score: f32,
    /// The softmax of its score among the passages that were found, 0 to 1.
    pub probability: f32,
}

/// An object in an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The name in `id2label` of `config.json`, and its probability among all labels and none, 0 to
    /// 1.
    pub label: LabelScore,
    /// Left, top, right, bottom, in pixels of the image as it was given.
    pub corners: [f32; 4],
}

/// The part of an image that has one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The name in `id2label` of `config.json`.
    pub label: String,
    /// 1 for its pixels and 0 for the others, [height, width] of the image as it was given.
    pub mask: Array,
}

/// The points that a model finds in an image, in the order in which it returns them.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageKeypoints {
    /// Column and row of each, in whole pixels of the image as it was given, [points, 2].
    pub points: Array,
    /// How sure the model is of each, `[points]`.
    pub scores: Array,
    /// A vector of length one for each, [points, width].
    pub descriptors: Array,
}

/// The transcription of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcription {
    /// The words, without special tokens.
    pub text: String,
    /// The tokens: the ones that a decoder wrote, or the likeliest of every frame.
    pub ids: Vec<i64>,
}

/// The sound of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenText {
    /// Numbers from -1 to 1, `[samples]`.
    pub waveform: Array,
    /// Samples in a second.
    pub sampling_rate: usize,
}

/// The vectors of one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct AudioEmbedding {
    /// `last_hidden_state`, [frames, hidden].
    pub frames: Array,
    /// The mean of `frames`, `[hidden]`.
    pub mean: Array,
}

/// The vectors of one image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEmbedding {
    /// `last_hidden_state`: [patches, hidden] with the class token first for a transformer,
    /// [channels, height, width] for a convolutional network.
    pub patches: Array,
    /// `pooler_output`, flat, if the class has a pooler; the mean of the patches otherwise.
    pub pooled: Array,
}

/// The vectors of one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphEmbedding {
    /// Of its nodes, [nodes, hidden].
    pub nodes: Array,
    /// The vector of the token for the whole graph, `[hidden]`.
    pub graph: Array,
}

/// Vectors of images and texts in one space, each of length one.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageTextEmbedding {
    /// One `[width]` for each image.
    pub images: Vec<Array>,
    /// One `[width]` for each text.
    pub texts: Vec<Array>,
}
