//! A complete, good harness for any model, as the templates render it.

use testgen_contract::{Architecture, DeviceKind, ModelType, Precision, Registration, Task, required_checks};
use testgen_verify::{Expectation, ExpectedTolerance, Finding, Source, verify_harness};

/// The path that findings of these tests name.
pub(crate) const PATH: &str = "generated/src/encoder_only/bert.rs";

const HEAD: &str = include_str!("base/head.rs.txt");
const INIT_CPU: &str = include_str!("base/init_cpu.rs.txt");
const INIT_CUDA: &str = include_str!("base/init_cuda.rs.txt");
const INIT_ROCM: &str = include_str!("base/init_rocm.rs.txt");
const LOAD: &str = include_str!("base/load.rs.txt");
const HANDLER: &str = include_str!("base/handler.rs.txt");

/// A BERT with all devices and precisions; it skips one check.
pub(crate) fn bert() -> Expectation {
    expectation("bert", ModelType::Bert, Task::TextEmbedding)
}

/// One model of each architecture.
pub(crate) fn models() -> Vec<Expectation> {
    vec![
        bert(),
        expectation("distilbert", ModelType::DistilBert, Task::FillMask),
        Expectation {
            hub: None,
            vram_mib: Some(512),
            tolerances: vec![
                tolerance("logits", Precision::F16, Precision::F16.tolerance_ceiling()),
                tolerance("logits", Precision::F32, [1e-5, 6e-5]),
                tolerance("hidden", Precision::F32, [1e-5, 1e-5]),
            ],
            ..expectation("llama", ModelType::Llama, Task::TextGeneration)
        },
        expectation("vit", ModelType::Vit, Task::ImageClassification),
    ]
}

fn tolerance(output: &str, precision: Precision, [rel_l2, max_rel]: [f64; 2]) -> ExpectedTolerance {
    ExpectedTolerance { output: output.to_owned(), precision, rel_l2, max_rel, reason: "a deep model".to_owned() }
}

/// A model with all devices and precisions.
pub(crate) fn expectation(name: &str, model_type: ModelType, task: Task) -> Expectation {
    let architecture = model_type.architecture();
    let (devices, precisions) = (DeviceKind::ALL.to_vec(), Precision::ALL.to_vec());
    let skipped = required_checks(architecture, &devices, &precisions)[3];
    Expectation {
        name: name.to_owned(),
        architecture,
        task,
        model_type,
        devices,
        precisions,
        checkpoint: "../fixtures/bert".to_owned(),
        hub: Some("google-bert/bert-base-uncased".to_owned()),
        tolerances: Vec::new(),
        vram_mib: None,
        skips: vec![(skipped, "takes an hour".to_owned())],
        spec_path: format!("model_specs/{architecture}/{name}.yaml"),
        spec_sha256: "5f0c0e".repeat(11)[..64].to_owned(),
        command: "testgen generate --specs model_specs --out generated".to_owned(),
        template: format!("{architecture}.rs.tera"),
    }
}

/// The good harness of a model.
pub(crate) fn harness(expectation: &Expectation) -> String {
    let devices = |body: &str| body.replace("@LOAD@", LOAD.trim_end()).replace("@TASK@", expectation.task.as_str());
    let init = |body: &str, kind: DeviceKind| {
        devices(body).replace("@DEVICE@", kind.as_str()).replace("@KIND@", kind.variant_name())
    };
    let mut text = head(expectation);
    text += &init(INIT_CPU, DeviceKind::Cpu);
    text += &init(INIT_CUDA, DeviceKind::Cuda);
    text += &init(INIT_ROCM, DeviceKind::Rocm);
    DeviceKind::ALL.iter().for_each(|&kind| text += &init(HANDLER, kind));
    text + &list(expectation)
}

/// Verifies `text` as the harness of `expectation`.
pub(crate) fn verify(text: &str, expectation: &Expectation) -> Vec<Finding> {
    verify_harness(&Source { path: PATH, text }, Some(expectation))
}

fn head(expectation: &Expectation) -> String {
    let list = |words: Vec<String>| words.join(", ");
    let Expectation { architecture, .. } = expectation;
    let architecture: &Architecture = architecture;
    HEAD.replace("@COMMAND@", &expectation.command)
        .replace("@SPEC_PATH@", &expectation.spec_path)
        .replace("@SHA256@", &expectation.spec_sha256)
        .replace("@TEMPLATE@", &expectation.template)
        .replace("@NAME@", &expectation.name)
        .replace("@HUB@", &format!("{:?}", expectation.hub))
        .replace("@VRAM@", &format!("{:?}", expectation.vram_mib))
        .replace("@OVERRIDE@", if expectation.tolerances.is_empty() { "" } else { "ToleranceOverride, " })
        .replace("@TOLERANCES@", &list(expectation.tolerances.iter().map(written).collect()))
        .replace("@MODEL_TYPE@", expectation.model_type.variant_name())
        .replace("@ARCHITECTURE@", architecture.variant_name())
        .replace("@TASK@", expectation.task.variant_name())
        .replace(
            "@DEVICES@",
            &list(expectation.devices.iter().map(|it| format!("DeviceKind::{}", it.variant_name())).collect()),
        )
        .replace(
            "@PRECISIONS@",
            &list(expectation.precisions.iter().map(|it| format!("Precision::{}", it.variant_name())).collect()),
        )
}

fn written(tolerance: &ExpectedTolerance) -> String {
    let ExpectedTolerance { output, precision, rel_l2, max_rel, reason } = tolerance;
    format!(
        "ToleranceOverride {{ output: {output:?}, precision: Precision::{}, rel_l2: {rel_l2:?}, max_rel: {max_rel:?}, \
         reason: {reason:?} }}",
        precision.variant_name()
    )
}

fn list(expectation: &Expectation) -> String {
    let mut text = String::from(
        "/// The three ways in and every check, for the suite's test binary.\npub static HARNESS: Harness = Harness {\n    \
         spec: &SPEC,\n    init_cpu,\n    init_cuda,\n    init_rocm,\n    checks: &[\n",
    );
    let Expectation { architecture, devices, precisions, skips, .. } = expectation;
    for registration in required_checks(*architecture, devices, precisions) {
        text += &line(registration, skips.iter().find(|(skip, _)| *skip == registration).map(|(_, reason)| reason));
    }
    text + "    ],\n};\n"
}

fn line(registration: Registration, skip: Option<&String>) -> String {
    let Registration { device, check, precision } = registration;
    let arguments = format!(
        "DeviceKind::{}, Check::{}, Precision::{}",
        device.variant_name(),
        check.variant_name(),
        precision.variant_name()
    );
    match skip {
        Some(reason) => format!("        Registered::skip({arguments}, {reason:?}),\n"),
        None => format!("        Registered::run({arguments}),\n"),
    }
}
