//! `request` builds the request of the spec's task from what was recorded for it.
//!
//! ```text
//! pub fn request(recorded: &RecordedRequest) -> Result<Request, RequestError> {
//!     Ok(Request::ImagesWithTexts { images: recorded.images()?, texts: recorded.texts()? })
//! }
//! ```
//!
//! The check `handler_golden` sends this request through the handler of every device and compares
//! the answer with the one recorded one. A request of another modality would test another handler,
//! and other inputs would lead to another answer. So on every path the result is the variant of
//! `Request` that belongs to the task, each part of it is the result of the accessor of
//! `RecordedRequest` for that part, and an error is the error of such an accessor:
//!
//! | tasks | variant | accessors |
//! |---|---|---|
//! | `text_embedding`, `fill_mask`, `text_classification`, `token_classification`, `text_to_speech` | `Texts` | `texts` |
//! | `question_answering` | `Questions` | `questions` |
//! | `document_question_answering` | `Documents` | `documents` |
//! | `multiple_choice` | `Choices` | `choices` |
//! | `text_generation`, `text2text_generation`, `retrieval_augmented_generation` | `Prompts` | `prompts`, `controls` |
//! | `speech_recognition`, `audio_classification`, `audio_embedding` | `Speech` | `recordings`, `controls` |
//! | `image_classification`, `image_embedding`, `object_detection`, `image_segmentation`, `depth_estimation`, `keypoint_detection` | `Images` | `images` |
//! | `video_classification` | `Videos` | `videos` |
//! | `image_text_similarity`, `image_text_embedding` | `ImagesWithTexts` | `images`, `texts` |
//! | `image_text_to_text` | `ImagePrompts` | `images`, `prompts`, `controls` |
//! | `image_denoising` | `Noise` | `noise`, `condition`, `steps` |
//! | `image_decoding` | `Latents` | `latents` |
//! | the tasks of time series | `Series` | `series` |
//! | `graph_classification`, `graph_embedding` | `Graphs` | `graphs` |
//! | `operator_evaluation` | `Calls` | `calls` |
//!
//! Generate the harness again; in a template, fill the block `request` as another template of the
//! same modality does.

use crate::{
    finding::Diagnostic,
    harness::{ParsedHarness, REQUEST_FUNCTION},
    reader::{BranchOutcome, Callee, CodePath, Value},
    signature::{self, Signature, SignatureType},
};
use testgen_types::Task;

const SIGNATURE: Signature = Signature {
    parameters: &[SignatureType::Borrowed("RecordedRequest")],
    returns: SignatureType::Result("Request", "RequestError"),
    written: "(recorded: &RecordedRequest) -> Result<Request, RequestError>",
};

/// A variant of `Request`.
struct Modality {
    variant: &'static str,
    parts: VariantParts,
}

/// The content of a variant; each part is named after the accessor that returns it.
enum VariantParts {
    /// One value without a name.
    One(&'static str),
    /// Named fields.
    Named(&'static [&'static str]),
}

/// The request that handlers of `task` answer.
fn modality(task: Task) -> Modality {
    use VariantParts::{Named, One};
    // Exhaustive: a new task does not compile until its request is defined.
    let (variant, parts) = match task {
        Task::TextEmbedding
        | Task::FillMask
        | Task::TextClassification
        | Task::TextToSpeech
        | Task::TokenClassification => ("Texts", One("texts")),
        Task::QuestionAnswering => ("Questions", One("questions")),
        Task::DocumentQuestionAnswering => ("Documents", One("documents")),
        Task::MultipleChoice => ("Choices", One("choices")),
        Task::TextGeneration | Task::Text2TextGeneration | Task::RetrievalAugmentedGeneration => {
            ("Prompts", Named(&["prompts", "controls"]))
        }
        Task::SpeechRecognition | Task::AudioClassification | Task::AudioEmbedding => {
            ("Speech", Named(&["recordings", "controls"]))
        }
        Task::ImageClassification
        | Task::ImageEmbedding
        | Task::ObjectDetection
        | Task::ImageSegmentation
        | Task::DepthEstimation
        | Task::KeypointDetection => ("Images", One("images")),
        Task::VideoClassification => ("Videos", One("videos")),
        Task::ImageTextSimilarity | Task::ImageTextEmbedding => {
            ("ImagesWithTexts", Named(&["images", "texts"]))
        }
        Task::ImageTextToText => ("ImagePrompts", Named(&["images", "prompts", "controls"])),
        Task::ImageDenoising => ("Noise", Named(&["noise", "condition", "steps"])),
        Task::ImageDecoding => ("Latents", One("latents")),
        Task::TimeSeriesForecasting
        | Task::TimeSeriesClassification
        | Task::TimeSeriesRegression => ("Series", One("series")),
        Task::GraphClassification | Task::GraphEmbedding => ("Graphs", One("graphs")),
        Task::OperatorEvaluation => ("Calls", One("calls")),
    };
    Modality { variant, parts }
}

/// Checks the function's signature and every path through it.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = signature::defined_once(harness, REQUEST_FUNCTION, &SIGNATURE);
    let (Some(function), Some(requirements)) = (&harness.request, &harness.requirements) else {
        return diagnostics;
    };
    // A function that the reader does not understand is another rule's finding, and its paths prove
    // nothing.
    if function.interpretation.unsupported.is_empty() {
        let modality = modality(requirements.task);
        let help = format!("return `{}`", modality.written());
        let at = |code_path: &CodePath<'_>, message: String| {
            Diagnostic::span(code_path.end(), message, help.as_str())
        };
        let code_paths = &function.interpretation.code_paths;
        let requests = code_paths
            .iter()
            .filter(|code_path| !is_error(code_path) && !modality.is_built(code_path));
        let message = format!(
            "the request of `{}` is not the recorded `Request::{}`",
            requirements.task, modality.variant
        );
        let mut wrong: Vec<Diagnostic> = requests
            .map(|code_path| at(code_path, message.clone()))
            .collect();
        // The accessors of another request fail with separate errors, which need no second finding.
        if wrong.is_empty() {
            let errors = code_paths.iter().filter(|code_path| {
                is_error(code_path) && !modality.is_error_of_accessor(code_path)
            });
            wrong.extend(errors.map(|code_path| {
                at(
                    code_path,
                    "`request` fails although every accessor succeeds".to_owned(),
                )
            }));
        }
        // One finding for a function: every path of a wrong one would repeat it.
        diagnostics.extend(Diagnostic::once(wrong));
    }
    diagnostics
}

impl Modality {
    /// The expression that a harness returns.
    fn written(&self) -> String {
        let variant = self.variant;
        match self.parts {
            VariantParts::One(part) => format!("Ok(Request::{variant}(recorded.{part}()?))"),
            VariantParts::Named(parts) => {
                let fields: Vec<String> = parts
                    .iter()
                    .map(|part| format!("{part}: recorded.{part}()?"))
                    .collect();
                format!("Ok(Request::{variant} {{ {} }})", fields.join(", "))
            }
        }
    }

    /// Whether a path returns the recorded request.
    fn is_built(&self, code_path: &CodePath<'_>) -> bool {
        let Value::Wrapped(BranchOutcome::Ok, value) = &code_path.result else {
            return false;
        };
        let name = format!("Request::{}", self.variant);
        match (&self.parts, value.as_ref()) {
            (VariantParts::One(part), value) => code_path.call_of(value).is_some_and(|call| {
                call.callee == Callee::Runtime(name)
                    && matches!(call.arguments.as_slice(), [argument] if is_part(code_path, argument, part))
            }),
            (VariantParts::Named(parts), Value::Structure(found, fields)) => {
                let filled =
                    |part: &&str| fields.iter().any(|(field, value)| field == part && is_part(code_path, value, part));
                // As many fields as parts, so that none is filled with something that was not
                // recorded.
                *found == name && fields.len() == parts.len() && parts.iter().all(filled)
            }
            _ => false,
        }
    }

    /// Whether a path returns the error of an accessor for a part of the request.
    fn is_error_of_accessor(&self, code_path: &CodePath<'_>) -> bool {
        let parts = match &self.parts {
            VariantParts::One(part) => std::slice::from_ref(part),
            VariantParts::Named(parts) => *parts,
        };
        let Value::Wrapped(BranchOutcome::Err, error) = &code_path.result else {
            return false;
        };
        // By its origin: an error that the harness makes itself would hide an accessor that
        // succeeded.
        let Value::Payload(BranchOutcome::Err, of) = error.as_ref() else {
            return false;
        };
        parts.iter().any(|part| is_accessor(code_path, of, part))
    }
}

fn is_error(code_path: &CodePath<'_>) -> bool {
    matches!(code_path.result, Value::Wrapped(BranchOutcome::Err, _))
}

/// Whether `value` is the payload that the accessor of `part` returned.
fn is_part(code_path: &CodePath<'_>, value: &Value<'_>, part: &str) -> bool {
    matches!(value, Value::Payload(BranchOutcome::Ok, of) if is_accessor(code_path, of, part))
}

/// Whether `value` is the result of `recorded.<part>()`.
fn is_accessor(code_path: &CodePath<'_>, value: &Value<'_>, part: &str) -> bool {
    code_path.call_of(value).is_some_and(|call| {
        matches!(&call.callee, Callee::Method(name) if name == part)
            // No further argument, and the recorded request itself as the receiver.
            && call.arguments == [Value::Parameter(0)]
    })
}
