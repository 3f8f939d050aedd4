//! The architecture that is nearest to an unsupported model, derived from fields of `config.json`.
//! The fields are named; where they are missing or contradict each other, there is no answer.

use serde_json::{Map, Value};
use std::fmt;
use testgen_types::Architecture;

/// An architecture, with the fields that it was derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The architecture.
    pub architecture: Architecture,
    /// The suffix of the first class of `architectures`, if it was used.
    pub end: Option<&'static str>,
    /// The other fields of `config.json` that were used.
    pub fields: Vec<&'static str>,
}

/// Suffixes of class names that decide the architecture, whatever the other fields are.
const ENDS: &[(&str, Architecture)] = &[
    ("ForMaskedLM", Architecture::EncoderOnly),
    ("ForMultipleChoice", Architecture::EncoderOnly),
    ("ForImageClassification", Architecture::Vision),
    ("ForImageClassificationWithTeacher", Architecture::Vision),
    ("ForSemanticSegmentation", Architecture::Vision),
    ("ForDepthEstimation", Architecture::Vision),
    ("ForKeypointDetection", Architecture::Vision),
    ("ForUniversalSegmentation", Architecture::Vision),
    ("ForVideoClassification", Architecture::Vision),
    ("ForObjectDetection", Architecture::ObjectDetection),
    ("ForGraphClassification", Architecture::Graph),
    ("ForPrediction", Architecture::TimeSeries),
    ("ForCTC", Architecture::Speech),
    ("ForSpeechToText", Architecture::Speech),
    ("ForAudioClassification", Architecture::Speech),
];
/// Suffixes of the classes that generate text.
// Older models such as GPT-2 have the second form.
const CAUSAL: &[&str] = &["ForCausalLM", "LMHeadModel"];
const CONDITIONAL: &str = "ForConditionalGeneration";
const TWO_STACKS: &str = "is_encoder_decoder";
/// Nested configurations that are not models: how weights are stored, and the backbone of a
/// detector.
const NO_PARTS: &[&str] = &["quantization_config", "backbone_config"];
/// Fields with the number of experts.
const EXPERTS: &[&str] = &[
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "moe_num_experts",
];
/// Fields with the size of the state.
const STATES: &[&str] = &["state_size", "mamba_d_state", "ssm_state_size"];
/// Fields of models whose input is a spectrogram.
const RECORDINGS: &[&str] = &["num_mel_bins", "input_feat_per_channel"];

/// The nearest architecture; `class` is the first of `architectures`, `fields` are all fields
/// except the ones that name the model.
pub(super) fn nearest(class: Option<&str>, fields: &Map<String, Value>) -> Option<Nearest> {
    let facts = ConfigFacts {
        class: class.unwrap_or_default(),
        fields,
    };
    // Libraries and parts first: the class of a composed model has an end of another architecture.
    let found = facts.of_a_library().or_else(|| facts.of_parts());
    if found.is_some() || facts.has_parts() {
        return found;
    }
    facts
        .of_the_class()
        .or_else(|| facts.of_two_stacks())
        .or_else(|| facts.of_a_decoder())
}

struct ConfigFacts<'a> {
    class: &'a str,
    fields: &'a Map<String, Value>,
}

impl ConfigFacts<'_> {
    fn of_a_library(&self) -> Option<Nearest> {
        // Only diffusers writes this field.
        self.following(Architecture::Diffusion, None, &["_diffusers_version"])
    }

    /// Models that consist of other models.
    fn of_parts(&self) -> Option<Nearest> {
        // Models that write about an image and models that compare images with texts have the same
        // two configurations, and different classes.
        let writes = self.end(CAUSAL).or_else(|| self.end(&[CONDITIONAL]));
        let encoders = match writes {
            Some(_) => self.following(
                Architecture::Multimodal,
                writes,
                &["vision_config", "text_config"],
            ),
            None => self.following(
                Architecture::VisionText,
                None,
                &["vision_config", "text_config", "logit_scale_init_value"],
            ),
        };
        encoders
            .or_else(|| self.following(Architecture::Rag, None, &["question_encoder", "generator"]))
    }

    /// Whether this configuration contains others.
    fn has_parts(&self) -> bool {
        // The fields of a configuration with others do not describe the model.
        self.fields.iter().any(|(name, value)| {
            !NO_PARTS.contains(&name.as_str())
                && (name.ends_with("_config") || value.get("model_type").is_some())
        })
    }

    fn of_the_class(&self) -> Option<Nearest> {
        let (end, architecture) = ENDS.iter().find(|(end, _)| self.class.ends_with(end))?;
        self.following(*architecture, Some(end), &[])
    }

    /// An encoder with a decoder; detectors and forecasters also have both, but no vocabulary.
    fn of_two_stacks(&self) -> Option<Nearest> {
        // A decoder that was cut out of such a model keeps the field, and its class says so.
        if !self.has_two_stacks() || self.end(CAUSAL).is_some() {
            return None;
        }
        match self.first(RECORDINGS) {
            Some(recordings) => {
                self.following(Architecture::Speech, None, &[TWO_STACKS, recordings])
            }
            None => self.following(
                Architecture::EncoderDecoder,
                None,
                &[TWO_STACKS, "vocab_size"],
            ),
        }
    }

    fn of_a_decoder(&self) -> Option<Nearest> {
        let end = self.end(CAUSAL).filter(|_| !self.has_two_stacks());
        match (end?, self.first(EXPERTS), self.first(STATES)) {
            (_, None, None) => self.following(Architecture::DecoderOnly, end, &[]),
            (_, Some(experts), None) => self.following(Architecture::Moe, end, &[experts]),
            // A hybrid of attention and state space layers is not a supported architecture.
            (_, None, Some(state)) if !self.has("num_attention_heads") => {
                self.following(Architecture::Ssm, end, &[state])
            }
            (_, _, Some(_)) => None,
        }
    }

    /// The architecture, if all the fields are present.
    fn following(
        &self,
        architecture: Architecture,
        end: Option<&'static str>,
        fields: &[&'static str],
    ) -> Option<Nearest> {
        // One missing field is enough to say nothing: a wrong architecture would mislead more than
        // none.
        let all = fields.iter().all(|name| self.has(name));
        all.then(|| Nearest {
            architecture,
            end,
            fields: fields.to_vec(),
        })
    }

    /// Whether the field is present and not false or null.
    fn has(&self, name: &str) -> bool {
        match self.fields.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            // A model with one expert is not a mixture of experts.
            Some(Value::Number(count)) => count.as_u64().is_none_or(|count| count > 1),
            Some(_) => true,
        }
    }

    fn has_two_stacks(&self) -> bool {
        self.has(TWO_STACKS)
    }

    fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The suffix of the class's name.
    fn end(&self, ends: &[&'static str]) -> Option<&'static str> {
        ends.iter().copied().find(|end| self.class.ends_with(end))
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self
            .end
            .map(|end| format!("the end `{end}` of `architectures`"));
        let fields = self.fields.iter().map(|field| format!("`{field}`"));
        let reasons: Vec<String> = end.into_iter().chain(fields).collect();
        write!(
            formatter,
            "the nearest architecture is `{}`, going by {}",
            self.architecture,
            reasons.join(", ")
        )
    }
}

#[cfg(test)]
mod tests;
