//! `mock_marked`: the endpoint of a checkpoint that cannot be loaded is marked as a mock, with the
//! reason in every answer.

use super::run::{CheckResult, CheckRun, Failures, MISSING};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    endpoint::{Endpoint, Status},
    task::{
        DocumentQuestion, PlacedWord, QuestionContext, Request, Response, TextChoices, TimeSeries,
    },
};
use testgen_nn::array::{Array, Arrays};
use testgen_operators::calls::{Attributes, Call};
use testgen_processing::{
    audio::Audio, generation::GenerationControls, graph::Graph, image::Image,
};
use testgen_types::{Operator, Task};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OtherCheckpointLoaded,
    "another checkpoint is loaded",
    "but the endpoint is real",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let missing = run.context.missing_checkpoint();
    let mut endpoint = run.endpoint(Some(&missing), run.registration.precision);
    let mut failures = Failures::default();
    let why = match endpoint.status() {
        Status::Mock { why, .. } => why.clone(),
        other => {
            failures.push(format!(
                "the checkpoint does not exist, but the endpoint is {other}"
            ));
            String::new()
        }
    };
    // A real endpoint has no reason, and is a failure already.
    if !why.contains(MISSING) && failures.is_empty() {
        failures.push(format!(
            "the reason does not name the missing checkpoint: {why}"
        ));
    }
    if endpoint.loaded().is_some() || endpoint.device().is_some() {
        failures.push("the mock returns a model or a device");
    }
    for request in requests(run.spec().task) {
        failures.extend(unmarked_answer(&mut endpoint, request));
    }
    failures.conclude()?;
    Ok(Some(format!("marked as mock: {why}")))
}

/// A small request of the kind that the task takes; a mock must answer it without looking at it.
fn requests(task: Task) -> Vec<Request> {
    match task {
        Task::TextEmbedding
        | Task::FillMask
        | Task::TextClassification
        | Task::TextToSpeech
        | Task::TokenClassification => {
            vec![Request::Texts(one_text())]
        }
        Task::QuestionAnswering => {
            vec![Request::Questions(vec![QuestionContext {
                question: "who".to_owned(),
                context: "one".to_owned(),
            }])]
        }
        Task::DocumentQuestionAnswering => vec![Request::Documents(vec![DocumentQuestion {
            question: "who".to_owned(),
            words: vec![PlacedWord {
                text: "one".to_owned(),
                corners: [0; 4],
            }],
        }])],
        Task::MultipleChoice => vec![Request::Choices(vec![TextChoices {
            prompt: "one".to_owned(),
            choices: one_text(),
        }])],
        Task::TextGeneration | Task::Text2TextGeneration | Task::RetrievalAugmentedGeneration => {
            vec![Request::Prompts {
                prompts: one_text(),
                controls: GenerationControls::default(),
            }]
        }
        Task::SpeechRecognition | Task::AudioClassification | Task::AudioEmbedding => {
            let recordings = vec![Audio {
                sampling_rate: 16_000,
                samples: vec![0.0; 400],
            }];
            vec![Request::Speech {
                recordings,
                controls: GenerationControls::default(),
            }]
        }
        Task::ImageClassification
        | Task::ImageEmbedding
        | Task::ObjectDetection
        | Task::ImageSegmentation
        | Task::DepthEstimation
        | Task::KeypointDetection => {
            vec![Request::Images(one_image())]
        }
        Task::VideoClassification => vec![Request::Videos(vec![one_image()])],
        Task::ImageDenoising => {
            let noise = Array::floats([1, 1, 1, 1], vec![0.0]);
            vec![Request::Noise {
                noise,
                condition: Arrays::new(),
                steps: 1,
            }]
        }
        Task::ImageDecoding => vec![Request::Latents(Array::floats([1, 1, 1, 1], vec![0.0]))],
        Task::ImageTextToText => {
            let controls = GenerationControls::default();
            vec![Request::ImagePrompts {
                images: one_image(),
                prompts: one_text(),
                controls,
            }]
        }
        Task::TimeSeriesForecasting
        | Task::TimeSeriesClassification
        | Task::TimeSeriesRegression => {
            vec![Request::Series(vec![TimeSeries {
                values: Array::floats([1, 1], vec![0.0]),
                observed: None,
            }])]
        }
        Task::GraphClassification | Task::GraphEmbedding => {
            let edge_index = Array::integers([2, 1], vec![0, 0]);
            vec![Request::Graphs(vec![Graph {
                num_nodes: 1,
                edge_index,
                node_feat: None,
                edge_attr: None,
            }])]
        }
        Task::OperatorEvaluation => {
            vec![Request::Calls(vec![Call::new(
                Operator::Copy,
                Vec::new(),
                Attributes::default(),
            )])]
        }
        Task::ImageTextSimilarity | Task::ImageTextEmbedding => {
            vec![Request::ImagesWithTexts {
                images: one_image(),
                texts: one_text(),
            }]
        }
    }
}

/// The failure if an answer, direct or from the queue, does not say that it comes from a mock.
fn unmarked_answer(endpoint: &mut Endpoint, request: Request) -> Option<String> {
    let at_once = endpoint.handle(request.clone());
    if !matches!(&at_once, Ok(Response::Mock { why }) if !why.is_empty()) {
        return Some(format!("the mock answers {at_once:?}"));
    }
    if let Err(full) = endpoint.submit(request) {
        return Some(full.to_string());
    }
    let queued = endpoint.process();
    let is_mock = queued.len() == 1 && matches!(&queued[0].response, Ok(Response::Mock { .. }));
    (!is_mock).then(|| format!("the mock answers {queued:?} from its queue"))
}

fn one_text() -> Vec<String> {
    vec!["one".to_owned()]
}

fn one_image() -> Vec<Image> {
    Image::new(1, 1, vec![0, 0, 0]).into_iter().collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::label::Label;
    use testgen_types::DeviceKind;

    /// The answer to the request that the check submits, and no other.
    #[test]
    fn one_answer_comes_from_the_queue() {
        let error = std::io::Error::other("a test has no model");
        let mut mock = Endpoint::mock(
            &Label::new("bert", DeviceKind::Cpu),
            DeviceKind::Cpu,
            &error,
        );
        let request = requests(Task::FillMask).remove(0);
        assert_eq!(unmarked_answer(&mut mock, request.clone()), None);
        mock.submit(request.clone()).unwrap();
        assert!(
            unmarked_answer(&mut mock, request)
                .unwrap()
                .contains("from its queue")
        );
    }
}
