//! The model types: those with a native implementation, which the registry lists, and all others
//! that transformers and diffusers have.

use crate::{
    architecture::Architecture,
    closed_enum::closed_enum,
    head::Head::{self, *},
    refused_classes::REFUSED_CLASSES,
    registry::{
        BERT, CLASSIFIER, DECODER, ENCODER, NativeEntry, PRETRAINED,
        ScoreFunction::{self, Sigmoid},
    },
    type_versions::{ADDED, REMOVED},
};

/// Declares [`ModelType`] and its lookups from both tables.
macro_rules! model_type {
    (
        {$(
            $architecture:ident $feature:literal recorded_by $recorder:literal {
                $($variant:ident $name:literal $file:ident::$definition:ident $class:literal $heads:tt { $($field:ident: $value:expr),* })*
            }
        )*}
        $(
            $other_architecture:ident recorded_by $other_recorder:literal {
                $($other:ident $other_name:literal [$($head:ident $head_class:literal),*])*
            }
        )*
    ) => {
        closed_enum! {
            /// Exactly the `model_type` string of `config.json`; anything else is an error, never a
            /// guess.
            ModelType: "model_type" {
                $($(
                    #[doc = concat!("`", $name, "`: `", $class, "Model` and the same with other heads")]
                    $variant = $name,
                )*)*
                $($(
                    #[doc = concat!("`", $other_name, "`, without a native implementation")]
                    $other = $other_name,
                )*)*
            }
        }

        impl ModelType {
            /// The family whose template, tasks and checks this type takes.
            pub const fn architecture(self) -> Architecture {
                match self {
                    $($(Self::$variant => Architecture::$architecture,)*)*
                    $($(Self::$other => Architecture::$other_architecture,)*)*
                }
            }

            /// The module of the recorder that draws inputs and names outputs.
            pub const fn recorder(self) -> &'static str {
                match self {
                    $($(Self::$variant => $recorder,)*)*
                    $($(Self::$other => $other_recorder,)*)*
                }
            }

            /// The registry's line of a type with a native implementation; others are computed by
            /// other engines only.
            pub const fn native(self) -> Option<&'static NativeEntry> {
                match self {
                    $($(Self::$variant => Some(const { &NativeEntry {
                        class: $class,
                        heads: &$heads,
                        definition: concat!(stringify!($file), "::", stringify!($definition)),
                        $($field: $value,)*
                        ..NativeEntry::DEFAULT
                    } }),)*)*
                    _ => None,
                }
            }

            /// The class of each head, of a type without a native implementation.
            const fn others(self) -> &'static [(Head, &'static str)] {
                match self {
                    $($(Self::$other => &[$(($head, $head_class)),*],)*)*
                    _ => &[],
                }
            }
        }
    };
}

/// Passes the registry on to the table of all other types.
// A macro sees only its own tokens, so the enum is declared by one call with the lines of both
// tables.
macro_rules! with_transformers_types {
    ($($registry:tt)*) => { for_each_transformers_type!(model_type { $($registry)* }); };
}
for_each_native_type!(with_transformers_types);

impl ModelType {
    /// The head of a transformers class, if the type has it: `BertForMaskedLM` is
    /// [`Head::MaskedLm`] of `bert`.
    pub fn head(self, class: &str) -> Option<Head> {
        self.heads()
            .find_map(|(head, name)| (name == class).then_some(head))
    }

    /// The transformers classes that can be computed.
    pub fn classes(self) -> Vec<String> {
        self.heads().map(|(_, class)| class).collect()
    }

    /// The class of a checkpoint that names none: that without a head, else the first.
    pub fn base_class(self) -> String {
        let base = self
            .heads()
            .find(|(head, _)| *head == Head::Base)
            // LLaVA and others have no class without a head.
            .or_else(|| self.heads().next());
        base.map(|(_, class)| class).unwrap_or_default()
    }

    /// How logits of images and texts become scores.
    pub fn scores(self) -> ScoreFunction {
        match self.native() {
            Some(entry) => entry.scores,
            // Trained with the loss of SigLIP, but the table of these types has no such field.
            None if self == Self::Siglip2 => Sigmoid,
            None => ScoreFunction::Softmax,
        }
    }

    /// The Python package that has the type, as a requirement of pip. The versions of transformers
    /// before the first one of the table are not known.
    pub fn package(self) -> String {
        let first = version_of(ADDED, self.as_str());
        match (first, version_of(REMOVED, self.as_str())) {
            // No version of transformers has the types of diffusers.
            (None, _) => "diffusers".to_owned(),
            (Some(first), None) => format!("transformers>={first}"),
            (Some(first), Some(gone)) => format!("transformers>={first},<{gone}"),
        }
    }

    /// The argument that is why checks cannot be about a model class of diffusers: it is not a
    /// tensor. `None` for all other names.
    pub fn refused_argument(class: &str) -> Option<&'static str> {
        REFUSED_CLASSES
            .iter()
            .find_map(|(refused, argument)| (*refused == class).then_some(*argument))
    }

    /// Each head with its transformers class.
    fn heads(self) -> impl Iterator<Item = (Head, String)> {
        let native = self.native().into_iter().flat_map(|entry| {
            entry
                .heads
                .iter()
                .map(|head| (*head, entry.class_of(*head)))
        });
        native.chain(
            self.others()
                .iter()
                .map(|(head, class)| (*head, (*class).to_owned())),
        )
    }

    /// The type of a `model_type` that may be unknown here.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|model_type| model_type.as_str() == name)
    }
}

/// The version that changed a type, if one did.
fn version_of(changes: &[(&'static str, &[&str])], name: &str) -> Option<&'static str> {
    changes
        .iter()
        .find_map(|(version, types)| types.contains(&name).then_some(*version))
}

impl NativeEntry {
    /// The transformers class with a head.
    fn class_of(&self, head: Head) -> String {
        let Self {
            class,
            language_model_class,
            ..
        } = self;
        // Some types name these classes in another way than all others, for instance
        // `GPT2LMHeadModel`.
        let generates = matches!(head, Head::CausalLm | Head::ConditionalGeneration);
        if generates && !language_model_class.is_empty() {
            (*language_model_class).to_owned()
        } else {
            format!("{class}{head}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_sorted_and_blocks_are_named_as_their_architecture() {
        let all = || ModelType::ALL.iter().copied();
        let (native, others): (Vec<ModelType>, Vec<ModelType>) =
            all().partition(|kind| kind.native().is_some());
        // Python identifiers and file names follow the lower-case form, so no two types may share
        // it.
        let key = |kind: &ModelType| (kind.architecture().as_str(), kind.as_str().to_lowercase());
        assert!(native.is_sorted_by_key(key), "{native:?}");
        assert!(others.is_sorted_by_key(key), "{others:?}");
        let names: BTreeSet<String> = all().map(|kind| kind.as_str().to_lowercase()).collect();
        assert_eq!(names.len(), ModelType::ALL.len());
    }

    #[test]
    fn features_are_named_as_architectures() {
        macro_rules! features {
            ($($architecture:ident $feature:literal recorded_by $recorder:literal $lines:tt)*) => {
                [$((Architecture::$architecture, $feature)),*]
            };
        }
        let features = for_each_native_type!(features);
        for (architecture, feature) in features {
            assert_eq!(architecture.as_str(), feature);
        }
        let covered: BTreeSet<Architecture> = features
            .into_iter()
            .map(|(architecture, _)| architecture)
            .collect();
        // Operators have no model.
        assert_eq!(covered.len() + 1, Architecture::ALL.len());
    }

    #[test]
    fn heads_follow_from_class_names() {
        for (model_type, class, head) in [
            (ModelType::Bert, "BertForMaskedLM", Some(Head::MaskedLm)),
            (
                ModelType::Bert,
                "BertForNextSentencePrediction",
                Some(Head::NextSentence),
            ),
            (ModelType::Bert, "BertForCausalLM", None),
            (ModelType::Gpt2, "GPT2LMHeadModel", Some(Head::CausalLm)),
            (ModelType::Gpt2, "GPT2DoubleHeadsModel", None),
            (ModelType::Gpt2, "GPT2ForCausalLM", None),
            (
                ModelType::Marian,
                "MarianMTModel",
                Some(Head::ConditionalGeneration),
            ),
            (ModelType::T5, "T5EncoderModel", Some(Head::Encoder)),
            (ModelType::Unet, "UNet2DConditionModel", Some(Head::Base)),
            (
                ModelType::AutoencoderKl,
                "AutoencoderKL",
                Some(Head::Autoencoder),
            ),
            (ModelType::Roberta, "BertModel", None),
            (
                ModelType::Smollm3,
                "SmolLM3ForCausalLM",
                Some(Head::CausalLm),
            ),
            (ModelType::Smollm3, "LlamaForCausalLM", None),
        ] {
            assert_eq!(model_type.head(class), head, "{class}");
        }
    }

    #[test]
    fn every_type_names_its_package() {
        for (model_type, package) in [
            (ModelType::Bert, "transformers>=4.40"),
            (ModelType::Gemma2, "transformers>=4.42"),
            (ModelType::Graphormer, "transformers>=4.40,<5.0"),
            (ModelType::Unet, "diffusers"),
        ] {
            assert_eq!(model_type.package(), package, "{model_type}");
        }
        for model_type in ModelType::ALL {
            let is_diffusers = model_type.architecture() == Architecture::Diffusion;
            assert_eq!(
                model_type.package() == "diffusers",
                is_diffusers,
                "`{model_type}` is not in the table of versions: python3 python fixtures.type_versions"
            );
        }
        let (added, removed) = (BTreeSet::from_iter(listed(ADDED)), listed(REMOVED));
        assert_eq!(added.len(), listed(ADDED).len(), "a type was added twice");
        let unknown = |name: &&str| !added.contains(name) || ModelType::find(name).is_none();
        let unknown: Vec<&str> = added
            .iter()
            .copied()
            .chain(removed)
            .filter(unknown)
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    fn listed(changes: &[(&str, &'static [&'static str])]) -> Vec<&'static str> {
        changes
            .iter()
            .flat_map(|(_, types)| types.iter().copied())
            .collect()
    }

    #[test]
    fn a_class_of_diffusers_is_a_type_or_refused() {
        assert_eq!(
            ModelType::refused_argument("ZImageTransformer2DModel"),
            Some("x")
        );
        assert_eq!(ModelType::refused_argument("BertModel"), None);
        for (class, argument) in REFUSED_CLASSES {
            assert_eq!(ModelType::find(class), None, "{class}");
            assert!(!argument.is_empty(), "{class}");
        }
    }

    #[test]
    fn every_type_can_serve_a_task_of_its_architecture() {
        for model_type in ModelType::ALL {
            let tasks = model_type.architecture().tasks();
            let serves = |head: &Head| head.tasks().iter().any(|task| tasks.contains(task));
            assert!(
                model_type.heads().any(|(head, _)| serves(&head)),
                "{model_type}"
            );
        }
    }
}
