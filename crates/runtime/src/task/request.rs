//! The request to an endpoint.

use testgen_nn::array::{Array, Arrays};
use testgen_operators::calls::Call;
use testgen_processing::{
    audio::Audio, generation::GenerationControls, graph::Graph, image::Image,
};

/// One request: a batch of the modality's real inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// For `text_embedding`, `fill_mask`, `text_classification`, `token_classification` and
    /// `text_to_speech`.
    Texts(Vec<String>),
    /// For `question_answering`.
    Questions(Vec<QuestionContext>),
    /// For `document_question_answering`.
    Documents(Vec<DocumentQuestion>),
    /// For `multiple_choice`; all texts have equally many choices.
    Choices(Vec<TextChoices>),
    /// For `text_generation`, `text2text_generation` and `retrieval_augmented_generation`.
    Prompts {
        /// The texts to continue, to make others of, or to answer.
        prompts: Vec<String>,
        /// How to do it.
        controls: GenerationControls,
    },
    /// For `speech_recognition`, `audio_classification` and `audio_embedding`.
    Speech {
        /// The recordings.
        recordings: Vec<Audio>,
        /// How to write their words, if the model generates.
        controls: GenerationControls,
    },
    /// For `image_classification`, `image_embedding`, `object_detection`, `image_segmentation`,
    /// `depth_estimation` and `keypoint_detection`.
    Images(Vec<Image>),
    /// For `video_classification`: the frames of each video.
    Videos(Vec<Vec<Image>>),
    /// For `image_text_to_text`.
    ImagePrompts {
        /// The images, in the order of their places in the prompts.
        images: Vec<Image>,
        /// The texts to continue, with the checkpoint's image token (`<image>`) for each image.
        prompts: Vec<String>,
        /// How to continue them.
        controls: GenerationControls,
    },
    /// For `image_denoising`.
    Noise {
        /// Floats [batch, channels, height, width] of deviation one.
        noise: Array,
        /// The other inputs of the model, by their names in diffusers: `encoder_hidden_states`
        /// [batch, seq, width], ...
        condition: Arrays,
        /// The number of steps.
        steps: usize,
    },
    /// For `image_decoding`: floats [batch, channels, height, width], divided by the pipeline's
    /// `scaling_factor`.
    Latents(Array),
    /// For the tasks of time series.
    Series(Vec<TimeSeries>),
    /// For `graph_classification` and `graph_embedding`.
    Graphs(Vec<Graph>),
    /// For `operator_evaluation`.
    Calls(Vec<Call>),
    /// For `image_text_similarity` and `image_text_embedding`: every image is compared with every
    /// text.
    ImagesWithTexts {
        /// The images.
        images: Vec<Image>,
        /// The texts.
        texts: Vec<String>,
    },
}

/// A question about a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentQuestion {
    /// The question.
    pub question: String,
    /// The words of the page, in the order of reading.
    pub words: Vec<PlacedWord>,
}

/// A word with its place on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedWord {
    /// The word.
    pub text: String,
    /// Left, top, right, bottom, in thousandths of the page's width and height.
    pub corners: [i64; 4],
}

/// A text and the texts that may follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChoices {
    /// The text, such as a question.
    pub prompt: String,
    /// The texts to choose from.
    pub choices: Vec<String>,
}

/// A question and the text that holds its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionContext {
    /// The question.
    pub question: String,
    /// The text in which the answer is looked for.
    pub context: String,
}

/// A series of several channels.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSeries {
    /// Floats [time, channels], the newest last; where nothing was observed, zero.
    pub values: Array,
    /// Integers [time, channels]: 1 for a value that was observed, else 0. `None` if all were.
    pub observed: Option<Array>,
}

impl Request {
    /// A request of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Texts(texts.into_iter().map(Into::into).collect())
    }

    /// The number of inputs in the batch.
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Questions(questions) => questions.len(),
            Self::Documents(questions) => questions.len(),
            Self::Choices(texts) => texts.len(),
            Self::Prompts { prompts, .. } | Self::ImagePrompts { prompts, .. } => prompts.len(),
            Self::Speech { recordings, .. } => recordings.len(),
            Self::Images(images) => images.len(),
            Self::Videos(videos) => videos.len(),
            Self::Noise { noise: array, .. } | Self::Latents(array) => {
                array.shape().first().copied().unwrap_or(0)
            }
            Self::Series(series) => series.len(),
            Self::Graphs(graphs) => graphs.len(),
            Self::Calls(calls) => calls.len(),
            Self::ImagesWithTexts { images, texts } => images.len() + texts.len(),
        }
    }

    /// Whether there is nothing to answer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of the request, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Texts(_) => "texts",
            Self::Questions(_) => "questions with contexts",
            Self::Documents(_) => "questions about documents",
            Self::Choices(_) => "texts with choices",
            Self::Prompts { .. } => "prompts",
            Self::Speech { .. } => "recordings",
            Self::Images(_) => "images",
            Self::Videos(_) => "videos",
            Self::ImagePrompts { .. } => "prompts with images",
            Self::Noise { .. } => "noise",
            Self::Latents(_) => "latents",
            Self::Series(_) => "series",
            Self::Graphs(_) => "graphs",
            Self::Calls(_) => "calls of operators",
            Self::ImagesWithTexts { .. } => "images with texts",
        }
    }
}
