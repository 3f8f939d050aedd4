//! Reads a [`ModelSpec`] from the tree: every key, and every rule between keys.

mod checks;

use super::{
    Limits, Memory, ModelName, ModelSpec,
    fields::{MappingFields, SpecDecoder, list, required_variant},
    subject,
    tree::{Node, YamlValue},
};
use checks::{SpecContext, checks};
use testgen_base::{closed_enum::ClosedEnum, text::Quoted};
use testgen_types::{Architecture, DeviceKind, ModelType, Precision, SubjectKind, Task};

const MEMORY_KEYS: &[&str] = &["vram_mib"];
const LIMIT_KEYS: &[&str] = &["seconds"];

/// Reads a whole spec; `None` when there are problems, all of which are in `decoder`.
pub(super) fn spec(decoder: &mut SpecDecoder, document: &Node, stem: &str) -> Option<ModelSpec> {
    // Before any key is read: the kind decides which keys are known.
    let kind = kind(document);
    let (known, required) = subject::keys(kind);
    let fields = decoder.mapping(document, "", known, required)?;
    let name = name(decoder, &fields, stem);
    let model_type = required_variant::<ModelType>(decoder, &fields, "model_type");
    let architecture = architecture(decoder, &fields, model_type);
    let task = task(decoder, &fields, architecture);
    let devices = variants::<DeviceKind>(decoder, &fields, "devices");
    let precisions = variants::<Precision>(decoder, &fields, "precisions");
    if let Some((devices, precisions)) = devices.as_deref().zip(precisions.as_deref()) {
        computable(decoder, &fields, devices, precisions);
    }
    let context = SpecContext {
        architecture,
        devices: devices.as_deref(),
        precisions: precisions.as_deref(),
    };
    let checks = fields
        .optional("checks")
        .map(|node| checks(decoder, node, &context))
        .unwrap_or_default();
    let subject = subject::read(kind, decoder, &fields, (model_type, context.precisions));
    let memory = fields
        .optional("memory")
        .and_then(|node| memory(decoder, node));
    let limits = fields
        .optional("limits")
        .and_then(|node| limits(decoder, node));
    // Fields can be complete and still contradict each other.
    decoder.problems.is_empty().then_some(())?;
    Some(ModelSpec {
        name: name?,
        subject: subject?,
        architecture: architecture?,
        task: task?,
        devices: devices?,
        precisions: precisions?,
        checks,
        memory,
        limits,
    })
}

/// The kind of subject that the architecture has.
fn kind(document: &Node) -> SubjectKind {
    let YamlValue::Mapping(entries) = &document.value else {
        // A spec without a valid architecture is read as the spec of a model.
        return SubjectKind::Model;
    };
    let architecture = entries.iter().find_map(|(key, node)| match &node.value {
        YamlValue::Text(text) if key.value == "architecture" => text.parse::<Architecture>().ok(),
        _ => None,
    });
    architecture.map_or(SubjectKind::Model, Architecture::subject)
}

fn name(decoder: &mut SpecDecoder, fields: &MappingFields<'_>, stem: &str) -> Option<ModelName> {
    let node = fields.optional("name")?;
    // `ModelName` has the limit of the length.
    let text = decoder.text(node, "name", usize::MAX)?;
    let name = match ModelName::new(text) {
        Ok(name) => name,
        Err(error) => {
            decoder.complain(node, error.to_string(), None);
            return None;
        }
    };
    // Commands name a spec by its name, and a synthetic checkpoint is recorded under the stem.
    if text != stem {
        let message = format!(
            "the name `{text}` is not the stem of the file, {}",
            Quoted(stem)
        );
        decoder.complain(
            node,
            message,
            Some(format!(
                "rename the file to `{text}.yaml`, or change the name"
            )),
        );
        return None;
    }
    Some(name)
}

fn architecture(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    model_type: Option<ModelType>,
) -> Option<Architecture> {
    let given = required_variant::<Architecture>(decoder, fields, "architecture")?;
    if let Some((model_type, node)) = model_type.zip(fields.optional("architecture"))
        && model_type.architecture() != given
    {
        // Without an architecture after this, the task and the checks are not compared with a wrong
        // one.
        let right = model_type.architecture();
        let message =
            format!("model_type `{model_type}` has the architecture `{right}`, not `{given}`");
        decoder.complain(
            node,
            message,
            Some(format!("write `architecture: {right}`")),
        );
        return None;
    }
    Some(given)
}

fn task(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    architecture: Option<Architecture>,
) -> Option<Task> {
    let given = required_variant::<Task>(decoder, fields, "task")?;
    if let Some((architecture, node)) = architecture.zip(fields.optional("task"))
        && !architecture.tasks().contains(&given)
    {
        let tasks: Vec<&str> = architecture
            .tasks()
            .iter()
            .map(|task| task.as_str())
            .collect();
        let message = format!("architecture `{architecture}` has no task `{given}`");
        decoder.complain(
            node,
            message,
            Some(format!("its tasks are {}", list(&tasks))),
        );
        return None;
    }
    Some(given)
}

/// A list of variants: not empty, without duplicates.
fn variants<T: ClosedEnum>(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    key: &str,
) -> Option<Vec<T>> {
    let node = fields.optional(key)?;
    let before = decoder.problems.len();
    let mut variants = Vec::new();
    for (path, item) in decoder.items(node, key) {
        let Some(variant) = decoder.variant::<T>(item, &path) else {
            // The other entries are read, so that all errors are reported at once.
            continue;
        };
        if variants.contains(&variant) {
            decoder.complain(
                item,
                format!("`{variant}` is listed twice in `{key}`"),
                None,
            );
        }
        variants.push(variant);
    }
    // A list that bad entries leave empty is not reported a second time.
    let sound = decoder.problems.len() == before;
    if sound && variants.is_empty() {
        let known: Vec<&str> = T::all().iter().map(|variant| variant.text()).collect();
        decoder.complain(
            node,
            format!("`{key}` is empty"),
            Some(format!("name at least one of {}", list(&known))),
        );
    }
    sound.then_some(variants)
}

/// Requires that each precision has a device, and each device a precision.
fn computable(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    devices: &[DeviceKind],
    precisions: &[Precision],
) {
    // An entry without any check is a mistake.
    let has_device =
        |precision: &&Precision| devices.iter().any(|device| precision.applies_on(*device));
    if let Some((node, precision)) = fields
        .optional("precisions")
        .zip(precisions.iter().find(|it| !has_device(it)))
    {
        let kinds = DeviceKind::ALL
            .iter()
            .filter(|device| precision.applies_on(**device));
        let kinds: Vec<&str> = kinds.map(|device| device.as_str()).collect();
        let message = format!("no device of this spec computes in `{precision}`");
        let help = format!("remove it, or add to `devices`: {}", list(&kinds));
        decoder.complain(node, message, Some(help));
    }
    if let Some((node, device)) = fields.optional("devices").zip(devices.iter().find(|it| {
        !precisions
            .iter()
            .any(|precision| precision.applies_on(**it))
    })) {
        let message = format!("`{device}` computes in no precision of this spec");
        decoder.complain(
            node,
            message,
            Some("add `f32` to `precisions`, or remove the device".to_owned()),
        );
    }
}

fn memory(decoder: &mut SpecDecoder, node: &Node) -> Option<Memory> {
    let fields = decoder.mapping(node, "memory", MEMORY_KEYS, MEMORY_KEYS)?;
    let node = fields.optional("vram_mib")?;
    let vram_mib = decoder.positive(node, "memory.vram_mib")?;
    Some(Memory { vram_mib })
}

fn limits(decoder: &mut SpecDecoder, node: &Node) -> Option<Limits> {
    let fields = decoder.mapping(node, "limits", LIMIT_KEYS, LIMIT_KEYS)?;
    let node = fields.optional("seconds")?;
    let seconds = decoder.positive(node, "limits.seconds")?;
    Some(Limits { seconds })
}
