//! From the tree to a [`ModelSpec`]: every key, and every rule between keys.

use super::{
    Checkpoint, Checks, Memory, ModelName, ModelSpec, Skip, Tolerance, Xfail,
    fields::{Decoder, Fields, list},
    tree::Node,
};
use crate::{expected_failure, quoted::Quoted, words::Word};
use jiff::civil::Date;
use testgen_contract::{Architecture, Check, DeviceKind, ModelType, Precision, Task, required_checks};

const LONGEST_REASON: usize = 500;
const LONGEST_OWNER: usize = 100;
const LONGEST_PATH: usize = 1000;

pub(super) const KEYS: &[&str] = &[
    "name",
    "model_type",
    "architecture",
    "task",
    "checkpoint",
    "devices",
    "precisions",
    "checks",
    "tolerance",
    "memory",
];
pub(super) const REQUIRED_KEYS: &[&str] =
    &["name", "model_type", "architecture", "task", "checkpoint", "devices", "precisions"];
pub(super) const CHECKPOINT_KEYS: &[&str] = &["fixture", "path", "hub"];
pub(super) const CHECKS_KEYS: &[&str] = &["skip", "xfail"];
pub(super) const SKIP_KEYS: &[&str] = &["check", "device", "precision", "reason"];
pub(super) const XFAIL_KEYS: &[&str] = &["check", "device", "precision", "reason", "owner", "expires"];
pub(super) const TOLERANCE_KEYS: &[&str] = &["output", "precision", "rel_l2", "max_rel", "reason"];
pub(super) const MEMORY_KEYS: &[&str] = &["vram_mib"];

/// Reads a whole spec; `None` when there are problems, all of which are in `decoder`.
pub(super) fn spec(decoder: &mut Decoder, document: &Node, stem: &str) -> Option<ModelSpec> {
    let fields = decoder.mapping(document, "", KEYS, REQUIRED_KEYS)?;
    let name = name(decoder, &fields, stem);
    let model_type = required_word::<ModelType>(decoder, &fields, "model_type");
    let architecture = architecture(decoder, &fields, model_type);
    let task = task(decoder, &fields, architecture);
    let checkpoint = fields.optional("checkpoint").and_then(|node| checkpoint(decoder, node));
    let devices = words::<DeviceKind>(decoder, &fields, "devices");
    let precisions = words::<Precision>(decoder, &fields, "precisions");
    let context = Context { architecture, devices: devices.as_deref(), precisions: precisions.as_deref() };
    let checks = fields.optional("checks").map(|node| checks(decoder, node, &context)).unwrap_or_default();
    let tolerance = fields.optional("tolerance").map(|node| tolerances(decoder, node, &context)).unwrap_or_default();
    let memory = fields.optional("memory").and_then(|node| memory(decoder, node));
    decoder.problems.is_empty().then_some(())?;
    Some(ModelSpec {
        name: name?,
        model_type: model_type?,
        architecture: architecture?,
        task: task?,
        checkpoint: checkpoint?,
        devices: devices?,
        precisions: precisions?,
        checks,
        tolerance,
        memory,
    })
}

/// What the rest of the spec says, as far as it could be read.
struct Context<'a> {
    architecture: Option<Architecture>,
    devices: Option<&'a [DeviceKind]>,
    precisions: Option<&'a [Precision]>,
}

fn required_word<W: Word>(decoder: &mut Decoder, fields: &Fields<'_>, key: &str) -> Option<W> {
    let node = fields.optional(key)?;
    decoder.word(node, &fields.key(key))
}

fn required_text(decoder: &mut Decoder, fields: &Fields<'_>, key: &str, longest: usize) -> Option<String> {
    let node = fields.optional(key)?;
    decoder.text(node, &fields.key(key), longest).map(str::to_owned)
}

fn name(decoder: &mut Decoder, fields: &Fields<'_>, stem: &str) -> Option<ModelName> {
    let node = fields.optional("name")?;
    let text = decoder.text(node, "name", usize::MAX)?;
    let name = match ModelName::new(text) {
        Ok(name) => name,
        Err(error) => {
            decoder.complain(node, error.to_string(), None);
            return None;
        }
    };
    if text != stem {
        let message = format!("the name `{text}` is not the stem of the file, {}", Quoted(stem));
        decoder.complain(node, message, Some(format!("rename the file to `{text}.yaml`, or change the name")));
        return None;
    }
    Some(name)
}

fn architecture(decoder: &mut Decoder, fields: &Fields<'_>, model_type: Option<ModelType>) -> Option<Architecture> {
    let given = required_word::<Architecture>(decoder, fields, "architecture")?;
    if let Some((model_type, node)) = model_type.zip(fields.optional("architecture"))
        && model_type.architecture() != given
    {
        let right = model_type.architecture();
        let message = format!("model_type `{model_type}` has the architecture `{right}`, not `{given}`");
        decoder.complain(node, message, Some(format!("write `architecture: {right}`")));
        return None;
    }
    Some(given)
}

fn task(decoder: &mut Decoder, fields: &Fields<'_>, architecture: Option<Architecture>) -> Option<Task> {
    let given = required_word::<Task>(decoder, fields, "task")?;
    if let Some((architecture, node)) = architecture.zip(fields.optional("task"))
        && !architecture.tasks().contains(&given)
    {
        let tasks: Vec<&str> = architecture.tasks().iter().map(|task| task.as_str()).collect();
        let message = format!("architecture `{architecture}` has no task `{given}`");
        decoder.complain(node, message, Some(format!("its tasks are {}", list(&tasks))));
        return None;
    }
    Some(given)
}

fn checkpoint(decoder: &mut Decoder, node: &Node) -> Option<Checkpoint> {
    let fields = decoder.mapping(node, "checkpoint", CHECKPOINT_KEYS, &[])?;
    let fixture = fields.optional("fixture").and_then(|node| {
        let text = decoder.text(node, "checkpoint.fixture", usize::MAX)?;
        if let Err(error) = ModelName::new(text) {
            let help = "a fixture is a directory in `fixtures/`; for another place write `path: ...`";
            decoder.complain(node, format!("`checkpoint.fixture`: {error}"), Some(help.to_owned()));
        }
        Some(text.to_owned())
    });
    let path = fields.optional("path").and_then(|node| {
        let text = decoder.text(node, "checkpoint.path", LONGEST_PATH)?;
        if text.contains('\0') {
            decoder.complain(node, "`checkpoint.path` contains a NUL, which no path can", None);
        }
        Some(text.to_owned())
    });
    let hub = fields.optional("hub").and_then(|node| hub(decoder, node));
    let places = [fields.optional("fixture"), fields.optional("path")].iter().flatten().count();
    if places != 1 {
        let found = if places == 0 { "neither" } else { "both" };
        let message = format!("`checkpoint` must have exactly one of `fixture` and `path`, found {found}");
        decoder.complain(node, message, None);
    }
    Some(Checkpoint { fixture, path, hub })
}

fn hub(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let text = decoder.text(node, "checkpoint.hub", 200)?;
    let mut parts = text.split('/');
    let good = parts.clone().count() <= 2 && parts.all(|part| ModelName::new(part).is_ok());
    if !good {
        let message = format!("`checkpoint.hub` {} is no model of the Hub", Quoted(text));
        decoder.complain(node, message, Some("write `owner/name`".to_owned()));
    }
    good.then(|| text.to_owned())
}

/// A list of words, not empty, none twice.
fn words<W: Word>(decoder: &mut Decoder, fields: &Fields<'_>, key: &str) -> Option<Vec<W>> {
    let node = fields.optional(key)?;
    let before = decoder.problems.len();
    let mut words = Vec::new();
    for (path, item) in decoder.items(node, key) {
        let Some(word) = decoder.word::<W>(item, &path) else { continue };
        if words.contains(&word) {
            decoder.complain(item, format!("`{word}` stands twice in `{key}`"), None);
        }
        words.push(word);
    }
    let sound = decoder.problems.len() == before;
    if sound && words.is_empty() {
        let known: Vec<&str> = W::all().iter().map(|word| word.text()).collect();
        decoder.complain(node, format!("`{key}` is empty"), Some(format!("name at least one of {}", list(&known))));
    }
    sound.then_some(words)
}

fn checks(decoder: &mut Decoder, node: &Node, context: &Context<'_>) -> Checks {
    let Some(fields) = decoder.mapping(node, "checks", CHECKS_KEYS, &[]) else { return Checks::default() };
    let skip = fields.optional("skip").map(|node| skips(decoder, node, context)).unwrap_or_default();
    let xfail = fields.optional("xfail").map(|node| xfails(decoder, node, context, &skip)).unwrap_or_default();
    Checks { skip, xfail }
}

fn skips(decoder: &mut Decoder, node: &Node, context: &Context<'_>) -> Vec<Skip> {
    let mut skips: Vec<Skip> = Vec::new();
    for (path, item) in decoder.items(node, "checks.skip") {
        let Some(skip) = skip(decoder, item, &path, context) else { continue };
        let same =
            |other: &Skip| (other.check, other.device, other.precision) == (skip.check, skip.device, skip.precision);
        if skips.iter().any(same) {
            decoder.complain(item, format!("`{path}` skips `{}` a second time", skip.check), None);
        }
        skips.push(skip);
    }
    skips
}

fn xfails(decoder: &mut Decoder, node: &Node, context: &Context<'_>, skips: &[Skip]) -> Vec<Xfail> {
    let mut xfails: Vec<Xfail> = Vec::new();
    for (path, item) in decoder.items(node, "checks.xfail") {
        let Some(xfail) = xfail(decoder, item, &path, context) else { continue };
        let key = |xfail: &Xfail| (xfail.check, xfail.device, xfail.precision);
        if xfails.iter().any(|other| key(other) == key(&xfail)) {
            decoder.complain(item, format!("`{path}` expects `{}` to fail a second time", xfail.check), None);
        }
        if skips.iter().any(|skip| (skip.check, skip.device, skip.precision) == key(&xfail)) {
            let message = format!("`{path}` expects `{}` to fail, but `checks.skip` skips it", xfail.check);
            decoder.complain(item, message, Some("remove one of the two".to_owned()));
        }
        xfails.push(xfail);
    }
    xfails
}

fn skip(decoder: &mut Decoder, node: &Node, path: &str, context: &Context<'_>) -> Option<Skip> {
    let fields = decoder.mapping(node, path, SKIP_KEYS, &["check", "reason"])?;
    let Which { check, device, precision } = which(decoder, node, &fields, path, context)?;
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON)?;
    Some(Skip { check, device, precision, reason })
}

fn xfail(decoder: &mut Decoder, node: &Node, path: &str, context: &Context<'_>) -> Option<Xfail> {
    let fields = decoder.mapping(node, path, XFAIL_KEYS, &["check", "owner", "expires", "reason"])?;
    let Which { check, device, precision } = which(decoder, node, &fields, path, context)?;
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON);
    let owner = required_text(decoder, &fields, "owner", LONGEST_OWNER);
    let expires = date(decoder, &fields, "expires");
    Some(Xfail { check, device, precision, reason: reason?, owner: owner?, expires: expires? })
}

fn date(decoder: &mut Decoder, fields: &Fields<'_>, key: &str) -> Option<Date> {
    let node = fields.optional(key)?;
    let text = decoder.text(node, &fields.key(key), usize::MAX)?;
    let date = expected_failure::parse_date(text);
    if date.is_none() {
        let help = "write the last day on which the failure is expected, for instance `2027-01-31`";
        decoder.complain(node, format!("`{}` {} is no date", fields.key(key), Quoted(text)), Some(help.to_owned()));
    }
    date
}

/// The checks that an entry is about.
struct Which {
    check: Check,
    device: Option<DeviceKind>,
    precision: Option<Precision>,
}

/// Reads `check`, `device` and `precision`, which must match at least one check of the spec.
fn which(decoder: &mut Decoder, node: &Node, fields: &Fields<'_>, path: &str, context: &Context<'_>) -> Option<Which> {
    let check = required_word(decoder, fields, "check");
    let device = match fields.optional("device") {
        Some(node) => Some(decoder.word(node, &fields.key("device"))?),
        None => None,
    };
    let precision = match fields.optional("precision") {
        Some(node) => Some(decoder.word(node, &fields.key("precision"))?),
        None => None,
    };
    let which = Which { check: check?, device, precision };
    if !context.has(&which) {
        let message = format!("`{path}` matches no check of this spec");
        let help = "the architecture, the devices and the precisions decide which checks there are; remove the entry";
        decoder.complain(node, message, Some(help.to_owned()));
        return None;
    }
    Some(which)
}

impl Context<'_> {
    /// Whether the harness has a check that `which` is about; true as long as that cannot be told.
    fn has(&self, which: &Which) -> bool {
        let (Some(architecture), Some(devices), Some(precisions)) = (self.architecture, self.devices, self.precisions)
        else {
            return true;
        };
        required_checks(architecture, devices, precisions).iter().any(|required| {
            required.check == which.check
                && which.device.is_none_or(|device| device == required.device)
                && which.precision.is_none_or(|precision| precision == required.precision)
        })
    }
}

fn tolerances(decoder: &mut Decoder, node: &Node, context: &Context<'_>) -> Vec<Tolerance> {
    let mut tolerances: Vec<Tolerance> = Vec::new();
    for (path, item) in decoder.items(node, "tolerance") {
        let Some(tolerance) = tolerance(decoder, item, &path, context) else { continue };
        let same = |other: &Tolerance| other.output == tolerance.output && other.precision == tolerance.precision;
        if tolerances.iter().any(same) {
            let message = format!("`{path}` is the second tolerance for this output in `{}`", tolerance.precision);
            decoder.complain(item, message, None);
        }
        tolerances.push(tolerance);
    }
    tolerances
}

fn tolerance(decoder: &mut Decoder, node: &Node, path: &str, context: &Context<'_>) -> Option<Tolerance> {
    let fields = decoder.mapping(node, path, TOLERANCE_KEYS, TOLERANCE_KEYS)?;
    let output = required_text(decoder, &fields, "output", 100);
    let precision = required_word::<Precision>(decoder, &fields, "precision");
    let rel_l2 = fields.optional("rel_l2").and_then(|node| decoder.fraction(node, &fields.key("rel_l2")));
    let max_rel = fields.optional("max_rel").and_then(|node| decoder.fraction(node, &fields.key("max_rel")));
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON);
    let precision = precision?;
    if let Some((precisions, node)) = context.precisions.zip(fields.optional("precision"))
        && !precisions.contains(&precision)
    {
        decoder.complain(node, format!("the spec does not name the precision `{precision}`"), None);
    }
    Some(Tolerance { output: output?, precision, rel_l2: rel_l2?, max_rel: max_rel?, reason: reason? })
}

fn memory(decoder: &mut Decoder, node: &Node) -> Option<Memory> {
    let fields = decoder.mapping(node, "memory", MEMORY_KEYS, MEMORY_KEYS)?;
    let node = fields.optional("vram_mib")?;
    let vram_mib = decoder.positive(node, "memory.vram_mib")?;
    Some(Memory { vram_mib })
}
