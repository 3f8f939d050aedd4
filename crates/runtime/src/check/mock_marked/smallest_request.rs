//! The smallest request of each task, which a mock answers without looking at it.

use crate::task::{
    DocumentQuestion, PlacedWord, QuestionContext, Request, TextChoices, TimeSeries,
};
use testgen_nn::array::{Array, Arrays};
use testgen_operators::calls::{Attributes, Call};
use testgen_processing::{
    audio::Audio, generation::GenerationControls, graph::Graph, image::Image,
};
use testgen_types::{Operator, Task};

/// A request of the kind that `task` takes.
pub(super) fn smallest_request(task: Task) -> Request {
    match task {
        Task::TextEmbedding
        | Task::FillMask
        | Task::TextClassification
        | Task::TextToSpeech
        | Task::TokenClassification => Request::Texts(one_text()),
        Task::QuestionAnswering => Request::Questions(vec![question()]),
        Task::DocumentQuestionAnswering => Request::Documents(vec![document()]),
        Task::MultipleChoice => Request::Choices(vec![TextChoices {
            prompt: "one".to_owned(),
            choices: one_text(),
        }]),
        Task::TextGeneration | Task::Text2TextGeneration | Task::RetrievalAugmentedGeneration => {
            Request::Prompts {
                prompts: one_text(),
                controls: GenerationControls::default(),
            }
        }
        Task::SpeechRecognition | Task::AudioClassification | Task::AudioEmbedding => {
            Request::Speech {
                recordings: vec![recording()],
                controls: GenerationControls::default(),
            }
        }
        Task::ImageClassification
        | Task::ImageEmbedding
        | Task::ObjectDetection
        | Task::ImageSegmentation
        | Task::DepthEstimation
        | Task::KeypointDetection => Request::Images(one_image()),
        Task::VideoClassification => Request::Videos(vec![one_image()]),
        Task::ImageDenoising => Request::Noise {
            noise: latent(),
            condition: Arrays::new(),
            steps: 1,
        },
        Task::ImageDecoding => Request::Latents(latent()),
        Task::ImageTextToText => Request::ImagePrompts {
            images: one_image(),
            prompts: one_text(),
            controls: GenerationControls::default(),
        },
        Task::TimeSeriesForecasting
        | Task::TimeSeriesClassification
        | Task::TimeSeriesRegression => Request::Series(vec![series()]),
        Task::GraphClassification | Task::GraphEmbedding => Request::Graphs(vec![graph()]),
        Task::OperatorEvaluation => Request::Calls(vec![call()]),
        Task::ImageTextSimilarity | Task::ImageTextEmbedding => Request::ImagesWithTexts {
            images: one_image(),
            texts: one_text(),
        },
    }
}

fn one_text() -> Vec<String> {
    vec!["one".to_owned()]
}

fn question() -> QuestionContext {
    QuestionContext {
        question: "who".to_owned(),
        context: "one".to_owned(),
    }
}

fn document() -> DocumentQuestion {
    DocumentQuestion {
        question: "who".to_owned(),
        words: vec![PlacedWord {
            text: "one".to_owned(),
            corners: [0; 4],
        }],
    }
}

fn recording() -> Audio {
    Audio {
        sampling_rate: 16_000,
        samples: vec![0.0; 400],
    }
}

fn one_image() -> Vec<Image> {
    Image::new(1, 1, vec![0, 0, 0]).into_iter().collect()
}

/// The noise or the latents of one pixel.
fn latent() -> Array {
    Array::floats([1, 1, 1, 1], vec![0.0])
}

fn series() -> TimeSeries {
    TimeSeries {
        values: Array::floats([1, 1], vec![0.0]),
        observed: None,
    }
}

/// A node with an edge to itself.
fn graph() -> Graph {
    Graph {
        num_nodes: 1,
        edge_index: Array::integers([2, 1], vec![0, 0]),
        node_feat: None,
        edge_attr: None,
    }
}

fn call() -> Call {
    Call::new(Operator::Copy, Vec::new(), Attributes::default())
}
