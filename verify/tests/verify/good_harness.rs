//! A complete, good harness for any model, as the templates render it.

use testgen_types::{Architecture, Check, DeviceKind, ModelType, Operator, Precision, Task};
use testgen_verify::{
    Expectation, ExpectedOperator, ExpectedSkip, ExpectedStress, ExpectedSubject,
    ExpectedTolerance, Finding, HarnessSource, verify_harness,
};

/// The path that findings of these tests name.
pub(crate) const PATH: &str = "generated/src/encoder_only/bert.rs";

const HARNESS: &str = include_str!("base/harness.rs.txt");

/// A BERT with all devices and precisions; it skips one check.
pub(crate) fn bert() -> Expectation {
    expectation("bert", ModelType::Bert, Task::TextEmbedding)
}

/// Models of every architecture: one with another task, one with tolerances and memory of its own,
/// and the first model type of each architecture that these are not of.
pub(crate) fn models() -> Vec<Expectation> {
    let mut models = vec![
        bert(),
        expectation("distilbert", ModelType::DistilBert, Task::FillMask),
        Expectation {
            vram_mib: Some(512),
            limit_seconds: Some(600),
            tolerances: vec![
                tolerance("logits", Precision::F16, Precision::F16.tolerance_ceiling()),
                tolerance("logits", Precision::F32, [1e-5, 6e-5]),
                tolerance("hidden", Precision::F32, [1e-5, 1e-5]),
            ],
            ..expectation("llama", ModelType::Llama, Task::TextGeneration)
        },
    ];
    for &architecture in Architecture::ALL {
        if models
            .iter()
            .all(|model| model.architecture != architecture)
        {
            models.push(first_of(architecture));
        }
    }
    models
}

fn first_of(architecture: Architecture) -> Expectation {
    if architecture == Architecture::Operators {
        return operators();
    }
    let model_type = ModelType::ALL
        .iter()
        .copied()
        .find(|model_type| model_type.architecture() == architecture);
    let model_type = model_type.expect("every architecture has a model type");
    let task = architecture
        .tasks()
        .first()
        .copied()
        .expect("every architecture has a task");
    expectation(&model_type.as_str().replace('_', "-"), model_type, task)
}

/// Operators, which have neither model type nor checkpoint.
pub(crate) fn operators() -> Expectation {
    let operator = |operator, shapes: &[&[u64]]| ExpectedOperator {
        operator,
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        stress: Vec::new(),
    };
    let stress = vec![ExpectedStress {
        issue: "vllm#51511".to_owned(),
        shapes: vec![vec![1, 8192, 64]],
    }];
    let matmul = ExpectedOperator {
        stress,
        ..operator(Operator::Matmul, &[&[1, 40, 24], &[33, 65, 17]])
    };
    let all = vec![operator(Operator::Add, &[&[33, 65]]), matmul];
    Expectation {
        architecture: Architecture::Operators,
        subject: ExpectedSubject::Operators(all),
        spec_path: "model_specs/operators/matrix.yaml".to_owned(),
        template: "operators.rs.tera".to_owned(),
        ..expectation("matrix", ModelType::Bert, Task::OperatorEvaluation)
    }
}

fn tolerance(output: &str, precision: Precision, [rel_l2, max_rel]: [f64; 2]) -> ExpectedTolerance {
    ExpectedTolerance {
        output: output.to_owned(),
        precision,
        rel_l2,
        max_rel,
        reason: "a deep model".to_owned(),
    }
}

/// A model with all devices and precisions.
pub(crate) fn expectation(name: &str, model_type: ModelType, task: Task) -> Expectation {
    let architecture = model_type.architecture();
    Expectation {
        name: name.to_owned(),
        architecture,
        task,
        subject: ExpectedSubject::Model {
            model_type,
            checkpoint: "../fixtures/bert".to_owned(),
            hub: Some("google-bert/bert-base-uncased".to_owned()),
        },
        devices: DeviceKind::ALL.to_vec(),
        precisions: Precision::ALL.to_vec(),
        tolerances: Vec::new(),
        vram_mib: None,
        limit_seconds: None,
        skips: vec![ExpectedSkip {
            check: Check::Placement,
            device: Some(DeviceKind::Cpu),
            precision: Some(Precision::F16),
            reason: "takes an hour".to_owned(),
        }],
        spec_path: format!("model_specs/{architecture}/{name}.yaml"),
        spec_sha256: "5f0c0e".repeat(11)[..64].to_owned(),
        command: "testgen generate --specs model_specs --out generated".to_owned(),
        template: format!("{architecture}.rs.tera"),
    }
}

/// The good harness of a model.
pub(crate) fn harness(expectation: &Expectation) -> String {
    let list = |words: Vec<String>| words.join(", ");
    let Expectation {
        devices,
        precisions,
        tolerances,
        skips,
        ..
    } = expectation;
    let values = [
        ("@COMMAND@", expectation.command.clone()),
        ("@SPEC_PATH@", expectation.spec_path.clone()),
        ("@SHA256@", expectation.spec_sha256.clone()),
        ("@TEMPLATE@", expectation.template.clone()),
        ("@NAME@", expectation.name.clone()),
        ("@SUBJECT@", written_subject(&expectation.subject)),
        (
            "@SUBJECT_TYPES@",
            subject_types(&expectation.subject).to_owned(),
        ),
        ("@VRAM@", format!("{:?}", expectation.vram_mib)),
        ("@LIMIT@", format!("{:?}", expectation.limit_seconds)),
        (
            "@OVERRIDE@",
            if tolerances.is_empty() {
                String::new()
            } else {
                "ToleranceOverride, ".to_owned()
            },
        ),
        (
            "@TOLERANCES@",
            list(tolerances.iter().map(written_tolerance).collect()),
        ),
        (
            "@ARCHITECTURE@",
            expectation.architecture.variant_name().to_owned(),
        ),
        ("@TASK_VARIANT@", expectation.task.variant_name().to_owned()),
        ("@TASK@", expectation.task.as_str().to_owned()),
        (
            "@DEVICES@",
            list(
                devices
                    .iter()
                    .map(|it| format!("DeviceKind::{}", it.variant_name()))
                    .collect(),
            ),
        ),
        (
            "@PRECISIONS@",
            list(
                precisions
                    .iter()
                    .map(|it| format!("Precision::{}", it.variant_name()))
                    .collect(),
            ),
        ),
        ("@REQUEST@", written_request(expectation.task).to_owned()),
        (
            "@SKIPPED@",
            skips
                .iter()
                .map(|skip| format!("\n        {},", written_skip(skip)))
                .collect::<String>()
                + "\n    ",
        ),
    ];
    values
        .iter()
        .fold(HARNESS.to_owned(), |text, (placeholder, value)| {
            text.replace(placeholder, value)
        })
}

/// The subject as a harness writes it.
fn written_subject(subject: &ExpectedSubject) -> String {
    match subject {
        ExpectedSubject::Model {
            model_type,
            checkpoint,
            hub,
        } => format!(
            "Subject::Model {{ model_type: ModelType::{}, source: Source {{ path: {checkpoint:?}, hub: {hub:?} }} }}",
            model_type.variant_name()
        ),
        ExpectedSubject::Operators(operators) => {
            let shape = |shape: &Vec<u64>| format!("&{shape:?}");
            let written = |one: &ExpectedOperator| {
                let shapes: Vec<String> = one.shapes.iter().map(shape).collect();
                let name = one.operator.variant_name();
                let group = |group: &ExpectedStress| {
                    let shapes: Vec<String> = group.shapes.iter().map(shape).collect();
                    format!(
                        "StressShapes {{ issue: {:?}, shapes: &[{}] }}",
                        group.issue,
                        shapes.join(", ")
                    )
                };
                let stress = one.stress.iter().map(group).collect::<Vec<_>>().join(", ");
                let shapes = shapes.join(", ");
                format!(
                    "OperatorShapes {{ operator: Operator::{name}, shapes: &[{shapes}], stress: &[{stress}] }}"
                )
            };
            format!(
                "Subject::Operators {{ shapes: &[{}] }}",
                operators.iter().map(written).collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// The imports that a subject needs.
fn subject_types(subject: &ExpectedSubject) -> &'static str {
    match subject {
        ExpectedSubject::Model { .. } => "ModelType, Source",
        ExpectedSubject::Operators(_) => "Operator, OperatorShapes, StressShapes",
    }
}

/// The request of a task.
fn written_request(task: Task) -> &'static str {
    match task {
        Task::TextEmbedding
        | Task::FillMask
        | Task::TextClassification
        | Task::TextToSpeech
        | Task::TokenClassification => "Request::Texts(recorded.texts()?)",
        Task::QuestionAnswering => "Request::Questions(recorded.questions()?)",
        Task::DocumentQuestionAnswering => "Request::Documents(recorded.documents()?)",
        Task::MultipleChoice => "Request::Choices(recorded.choices()?)",
        Task::TextGeneration | Task::Text2TextGeneration | Task::RetrievalAugmentedGeneration => {
            "Request::Prompts { prompts: recorded.prompts()?, controls: recorded.controls()? }"
        }
        Task::SpeechRecognition | Task::AudioClassification | Task::AudioEmbedding => {
            "Request::Speech { recordings: recorded.recordings()?, controls: recorded.controls()? }"
        }
        Task::ImageClassification
        | Task::ImageEmbedding
        | Task::ImageSegmentation
        | Task::DepthEstimation
        | Task::KeypointDetection
        | Task::ObjectDetection => "Request::Images(recorded.images()?)",
        Task::VideoClassification => "Request::Videos(recorded.videos()?)",
        Task::ImageTextSimilarity | Task::ImageTextEmbedding => {
            "Request::ImagesWithTexts { images: recorded.images()?, texts: recorded.texts()? }"
        }
        Task::ImageTextToText => {
            "Request::ImagePrompts { images: recorded.images()?, prompts: recorded.prompts()?, controls: \
             recorded.controls()? }"
        }
        Task::ImageDenoising => {
            "Request::Noise { noise: recorded.noise()?, condition: recorded.condition()?, steps: recorded.steps()? }"
        }
        Task::ImageDecoding => "Request::Latents(recorded.latents()?)",
        Task::TimeSeriesForecasting
        | Task::TimeSeriesClassification
        | Task::TimeSeriesRegression => "Request::Series(recorded.series()?)",
        Task::GraphClassification | Task::GraphEmbedding => "Request::Graphs(recorded.graphs()?)",
        Task::OperatorEvaluation => "Request::Calls(recorded.calls()?)",
    }
}

/// Verifies `text` as the harness of `expectation`.
pub(crate) fn verify(text: &str, expectation: &Expectation) -> Vec<Finding> {
    verify_harness(&HarnessSource { path: PATH, text }, Some(expectation))
}

fn written_tolerance(tolerance: &ExpectedTolerance) -> String {
    let ExpectedTolerance {
        output,
        precision,
        rel_l2,
        max_rel,
        reason,
    } = tolerance;
    format!(
        "ToleranceOverride {{ output: {output:?}, precision: Precision::{}, rel_l2: {rel_l2:?}, max_rel: {max_rel:?}, \
         reason: {reason:?} }}",
        precision.variant_name()
    )
}

fn written_skip(skip: &ExpectedSkip) -> String {
    let ExpectedSkip {
        check,
        device,
        precision,
        reason,
    } = skip;
    let device = device
        .map(|device| format!("DeviceKind::{}, ", device.variant_name()))
        .unwrap_or_default();
    let precision = precision
        .map(|precision| format!("Precision::{}, ", precision.variant_name()))
        .unwrap_or_default();
    let constructor = match (device.is_empty(), precision.is_empty()) {
        (true, true) => "new",
        (false, true) => "on",
        (true, false) => "in_precision",
        (false, false) => "on_in_precision",
    };
    format!(
        "Skip::{constructor}({device}{precision}Check::{}, {reason:?})",
        check.variant_name()
    )
}
