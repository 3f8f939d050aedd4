//! The registry: every supported model type, one line each. Everything that lists model types is derived from it: the enum
//! [`ModelType`], the dispatch of the models crate, the recorder's `src/record/registry.py`, specs, docs and messages.
//!
//! A type is entered when its numbers agree with transformers. Sorted by architecture, then by name.

use crate::{
    architecture::Architecture,
    closed_enum::closed_enum,
    head::Head::{
        self, AudioClassification, Autoencoder, Base, CausalLm, Classification, ConditionalGeneration, Ctc, Encoder,
        GraphClassification, ImageClassification, ImageClassificationWithTeacher, MaskedLm, NextSentence,
        ObjectDetection, PreTraining, Prediction, QuestionAnswering, Regression, SequenceClassification,
        SequenceGeneration, TokenClassification, TokenGeneration,
    },
};
use ScoreFunction::{Sigmoid, Softmax};

/// Calls `$callback!` with the table.
///
/// A block for each architecture: its variant, its name, which is also its cargo feature and its folder of model code, and
/// the module of the recorder that draws its inputs. In it, a line for each model type:
///
/// 1. the variant of [`ModelType`],
/// 2. the `model_type` of `config.json`; for models of diffusers, which have none, the `_class_name`,
/// 3. the file of model code and the definition in it that loads the type: types that differ in configuration defaults or
///    names share one,
/// 4. what the names of its transformers classes start with,
/// 5. its heads,
/// 6. the fields of [`ModelEntry`] that differ from `ModelEntry::DEFAULT`.
#[macro_export]
macro_rules! for_each_model_type {
    ($callback:ident) => {
        $callback! {
        DecoderOnly "decoder_only" recorded_by "decoder_only" {
            Bloom   "bloom"    bloom::Bloom      "Bloom"   DECODER {}
            Falcon  "falcon"   falcon::Falcon    "Falcon"  DECODER {}
            Gemma   "gemma"    gemma2::Gemma     "Gemma"   [Base, CausalLm, SequenceClassification, TokenClassification] { tokenizer: "GemmaTokenizer" }
            Gemma2  "gemma2"   gemma2::Gemma2    "Gemma2"  [Base, CausalLm, SequenceClassification, TokenClassification] { tokenizer: "GemmaTokenizer" }
            Gpt2    "gpt2"     gpt2::Gpt2        "GPT2"    DECODER { language_model_class: "GPT2LMHeadModel", tokenizer: "GPT2Tokenizer" }
            GptNeoX "gpt_neox" gpt_neox::GptNeoX "GPTNeoX" DECODER { tokenizer: "GPTNeoXTokenizer" }
            Llama   "llama"    llama::Llama      "Llama"   DECODER {}
            Mistral "mistral"  llama::Llama      "Mistral" DECODER { forced_tokenizer: "TokenizersBackend" }
            Olmo2   "olmo2"    olmo2::Olmo2      "Olmo2"   [Base, CausalLm, SequenceClassification] { forced_tokenizer: "TokenizersBackend" }
            Opt     "opt"      opt::Opt          "OPT"     [Base, CausalLm, SequenceClassification, QuestionAnswering] { tokenizer: "GPT2Tokenizer" }
            Phi3    "phi3"     phi3::Phi3        "Phi3"    [Base, CausalLm, SequenceClassification, TokenClassification] { forced_tokenizer: "TokenizersBackend" }
            Qwen2   "qwen2"    qwen2::Qwen2      "Qwen2"   DECODER { forced_tokenizer: "Qwen2Tokenizer" }
            Qwen3   "qwen3"    qwen3::Qwen3      "Qwen3"   DECODER { tokenizer: "Qwen2Tokenizer" }
        }
        Diffusion "diffusion" recorded_by "diffusion" {
            AutoencoderKl "AutoencoderKL"        autoencoder_kl::AutoencoderKl "Autoencoder"     [Autoencoder] {}
            Unet          "UNet2DConditionModel" unet::Unet                    "UNet2DCondition" [Base] {}
        }
        EncoderDecoder "encoder_decoder" recorded_by "encoder_decoder" {
            Bart   "bart"   bart::Bart     "Bart"   [Base, ConditionalGeneration, SequenceClassification, QuestionAnswering] { tokenizer: "RobertaTokenizer" }
            Marian "marian" marian::Marian "Marian" [Base, ConditionalGeneration] { language_model_class: "MarianMTModel", tokenizer: "MarianTokenizer" }
            Pegasus "pegasus" marian::Pegasus "Pegasus" [Base, ConditionalGeneration] { tokenizer: "PegasusTokenizer" }
            T5     "t5"     t5::T5         "T5"     [Base, ConditionalGeneration, Encoder] { tokenizer: "T5Tokenizer" }
        }
        EncoderOnly "encoder_only" recorded_by "encoder_only" {
            Albert     "albert"     albert::Albert         "Albert"     PRETRAINED { tokenizer: "AlbertTokenizer" }
            Bert       "bert"       bert::Bert             "Bert"       BERT { tokenizer: "BertTokenizer" }
            DebertaV2  "deberta-v2" deberta_v2::DebertaV2  "DebertaV2"  ENCODER { tokenizer: "DebertaV2Tokenizer" }
            DistilBert "distilbert" distilbert::DistilBert "DistilBert" ENCODER { tokenizer: "BertTokenizer" }
            Electra    "electra"    electra::Electra       "Electra"    PRETRAINED { tokenizer: "BertTokenizer" }
            ModernBert "modernbert" modernbert::ModernBert "ModernBert" ENCODER { forced_tokenizer: "TokenizersBackend" }
            Mpnet      "mpnet"      mpnet::Mpnet           "MPNet"      ENCODER { tokenizer: "MPNetTokenizer" }
            Roberta    "roberta"    bert::Roberta          "Roberta"    ENCODER { tokenizer: "RobertaTokenizer" }
            XlmRoberta "xlm-roberta" bert::Roberta         "XLMRoberta" ENCODER { tokenizer: "XLMRobertaTokenizer" }
        }
        Graph "graph" recorded_by "graph" {
            Graphormer "graphormer" graphormer::Graphormer "Graphormer" [Base, GraphClassification] {}
        }
        Moe "moe" recorded_by "decoder_only" {
            Mixtral  "mixtral"   mixtral::Mixtral    "Mixtral"  DECODER { forced_tokenizer: "TokenizersBackend" }
            Olmoe    "olmoe"     olmoe::Olmoe        "Olmoe"    [Base, CausalLm] { tokenizer: "GPTNeoXTokenizer" }
            Qwen3Moe "qwen3_moe" qwen3_moe::Qwen3Moe "Qwen3Moe" DECODER { tokenizer: "Qwen2Tokenizer" }
        }
        Multimodal "multimodal" recorded_by "multimodal" {
            Llava "llava" llava::Llava "Llava" [ConditionalGeneration] { forced_tokenizer: "TokenizersBackend", processor: "LlavaImageProcessor" }
        }
        ObjectDetection "object_detection" recorded_by "object_detection" {
            Detr  "detr"  detr::Detr   "Detr"  [Base, ObjectDetection] { processor: "DetrImageProcessor" }
            Yolos "yolos" yolos::Yolos "Yolos" [Base, ObjectDetection] { processor: "YolosImageProcessor" }
        }
        Rag "rag" recorded_by "rag" {
            Rag "rag" rag::Rag "Rag" [TokenGeneration, SequenceGeneration] { tokenizer: "RagTokenizer" }
        }
        Speech "speech" recorded_by "speech" {
            Hubert   "hubert"   wav2vec2::Hubert   "Hubert"   [Base, Ctc, SequenceClassification] { tokenizer: "Wav2Vec2CTCTokenizer", processor: "Wav2Vec2FeatureExtractor" }
            Wav2Vec2 "wav2vec2" wav2vec2::Wav2Vec2 "Wav2Vec2" [Base, Ctc, SequenceClassification] { tokenizer: "Wav2Vec2CTCTokenizer", processor: "Wav2Vec2FeatureExtractor" }
            Whisper  "whisper"  whisper::Whisper   "Whisper"  [Base, ConditionalGeneration, AudioClassification] { tokenizer: "WhisperTokenizer", processor: "WhisperFeatureExtractor" }
        }
        Ssm "ssm" recorded_by "decoder_only" {
            Mamba  "mamba"  mamba::Mamba   "Mamba"  [Base, CausalLm] { tokenizer: "GPTNeoXTokenizer" }
            Mamba2 "mamba2" mamba2::Mamba2 "Mamba2" [Base, CausalLm] { tokenizer: "GPTNeoXTokenizer" }
        }
        TimeSeries "time_series" recorded_by "time_series" {
            PatchTst "patchtst" patchtst::PatchTst "PatchTST" [Prediction, Classification, Regression] {}
        }
        Vision "vision" recorded_by "vision" {
            ConvNext "convnext" convnext::ConvNext "ConvNext" CLASSIFIER { processor: "ConvNextImageProcessor", any_image_size: true }
            Deit     "deit"     vit::Deit          "DeiT"     [Base, ImageClassification, ImageClassificationWithTeacher] { processor: "DeiTImageProcessor" }
            Dinov2   "dinov2"   dinov2::Dinov2     "Dinov2"   CLASSIFIER { processor: "BitImageProcessor", any_image_size: true }
            ResNet   "resnet"   resnet::ResNet     "ResNet"   CLASSIFIER { processor: "ConvNextImageProcessor", any_image_size: true }
            Swin     "swin"     swin::Swin         "Swin"     CLASSIFIER { processor: "ViTImageProcessor" }
            Vit      "vit"      vit::Vit           "ViT"      CLASSIFIER { processor: "ViTImageProcessor" }
        }
        VisionText "vision_text" recorded_by "vision_text" {
            Clip   "clip"   clip::Clip     "CLIP"   [Base] { tokenizer: "CLIPTokenizer", processor: "CLIPImageProcessor" }
            Siglip "siglip" siglip::Siglip "Siglip" [Base] { tokenizer: "SiglipTokenizer", processor: "SiglipImageProcessor", scores: Sigmoid }
        }
        }
    };
}

const DECODER: [Head; 5] = [Base, CausalLm, SequenceClassification, TokenClassification, QuestionAnswering];
const ENCODER: [Head; 5] = [Base, MaskedLm, SequenceClassification, TokenClassification, QuestionAnswering];
const PRETRAINED: [Head; 6] =
    [Base, PreTraining, MaskedLm, SequenceClassification, TokenClassification, QuestionAnswering];
const BERT: [Head; 7] =
    [Base, MaskedLm, PreTraining, NextSentence, SequenceClassification, TokenClassification, QuestionAnswering];
const CLASSIFIER: [Head; 2] = [Base, ImageClassification];

/// One line of the registry, beside the name and the architecture.
#[derive(Debug, Clone, Copy)]
pub struct ModelEntry {
    /// The start of the transformers class names, for instance `Bert`.
    pub class: &'static str,
    /// The heads that are implemented.
    pub heads: &'static [Head],
    /// The model definition that loads the type; types with one definition compute alike.
    pub definition: &'static str,
    /// The module of the recorder that draws inputs and names outputs.
    pub recorder: &'static str,
    /// The class with the head that generates text, where its name does not end as [`Head::as_str`] says.
    pub language_model_class: &'static str,
    /// The tokenizer class of `AutoTokenizer` for checkpoints that name none; empty where transformers registers none.
    pub tokenizer: &'static str,
    /// The tokenizer class that `AutoTokenizer` takes whatever the checkpoint names; usually empty.
    pub forced_tokenizer: &'static str,
    /// The image processor or feature extractor of checkpoints that name none; empty where the type reads neither.
    pub processor: &'static str,
    /// How logits of images and texts become scores.
    pub scores: ScoreFunction,
    /// Whether the type reads images of other sizes than the one in `config.json`.
    pub any_image_size: bool,
}

/// How the logits of several texts for one image become scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreFunction {
    /// The texts compete: the scores of an image sum to one.
    Softmax,
    /// Each pair is scored by itself.
    Sigmoid,
}

impl ModelEntry {
    /// The values of omitted fields of a line.
    const DEFAULT: Self = Self {
        class: "",
        heads: &[],
        definition: "",
        recorder: "",
        language_model_class: "",
        tokenizer: "",
        forced_tokenizer: "",
        processor: "",
        scores: Softmax,
        any_image_size: false,
    };
}

/// Declares [`ModelType`] and its lookups from the table.
macro_rules! model_type {
    ($(
        $architecture:ident $feature:literal recorded_by $recorder:literal {
            $($variant:ident $name:literal $file:ident::$definition:ident $class:literal $heads:tt { $($field:ident: $value:expr),* })*
        }
    )*) => {
        closed_enum! {
            /// Exactly the `model_type` string of `config.json`; anything else is an error, never a guess.
            ModelType: "model_type" {
                $($(
                    #[doc = concat!("`", $name, "`: `", $class, "Model` and the same with other heads")]
                    $variant = $name,
                )*)*
            }
        }

        impl ModelType {
            /// The family whose template, tasks and checks this type takes.
            pub const fn architecture(self) -> Architecture {
                match self { $($(Self::$variant => Architecture::$architecture,)*)* }
            }

            /// The registry's line of the type.
            pub const fn entry(self) -> &'static ModelEntry {
                match self { $($(Self::$variant => const { &ModelEntry {
                    class: $class,
                    heads: &$heads,
                    definition: concat!(stringify!($file), "::", stringify!($definition)),
                    recorder: $recorder,
                    $($field: $value,)*
                    ..ModelEntry::DEFAULT
                } },)*)* }
            }
        }
    };
}
for_each_model_type!(model_type);

impl ModelType {
    /// The head of a transformers class, where the type has it: `BertForMaskedLM` is [`Head::MaskedLm`] of `bert`.
    pub fn head(self, class: &str) -> Option<Head> {
        self.entry().heads.iter().copied().find(|head| self.class(*head) == class)
    }

    /// The transformers classes that are implemented.
    pub fn classes(self) -> Vec<String> {
        self.entry().heads.iter().map(|head| self.class(*head)).collect()
    }

    /// The transformers class with a head.
    fn class(self, head: Head) -> String {
        let ModelEntry { class, language_model_class, .. } = self.entry();
        let generates = matches!(head, Head::CausalLm | Head::ConditionalGeneration);
        if generates && !language_model_class.is_empty() {
            (*language_model_class).to_owned()
        } else {
            format!("{class}{head}")
        }
    }

    /// The type of a `model_type` that may be unknown here.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|model_type| model_type.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_sorted_and_blocks_are_named_as_their_architecture() {
        let lines: Vec<_> = ModelType::ALL.iter().map(|kind| (kind.architecture().as_str(), kind.as_str())).collect();
        // Python identifiers and file names follow the lower-case form, so no two types may share it.
        let key = |(architecture, name): &(&str, &str)| (architecture.to_string(), name.to_lowercase());
        assert!(lines.is_sorted_by_key(key), "{lines:?}");
        let names: BTreeSet<String> = lines.iter().map(|(_, name)| name.to_lowercase()).collect();
        assert_eq!(names.len(), lines.len());
    }

    #[test]
    fn features_are_named_as_architectures() {
        macro_rules! features {
            ($($architecture:ident $feature:literal recorded_by $recorder:literal $lines:tt)*) => {
                [$((Architecture::$architecture, $feature)),*]
            };
        }
        let features = for_each_model_type!(features);
        for (architecture, feature) in features {
            assert_eq!(architecture.as_str(), feature);
        }
        let covered: BTreeSet<Architecture> = features.into_iter().map(|(architecture, _)| architecture).collect();
        // Operators have no model.
        assert_eq!(covered.len() + 1, Architecture::ALL.len());
    }

    #[test]
    fn heads_follow_from_class_names() {
        for (model_type, class, head) in [
            (ModelType::Bert, "BertForMaskedLM", Some(Head::MaskedLm)),
            (ModelType::Bert, "BertForNextSentencePrediction", Some(Head::NextSentence)),
            (ModelType::Bert, "BertForCausalLM", None),
            (ModelType::Gpt2, "GPT2LMHeadModel", Some(Head::CausalLm)),
            (ModelType::Gpt2, "GPT2DoubleHeadsModel", None),
            (ModelType::Gpt2, "GPT2ForCausalLM", None),
            (ModelType::Marian, "MarianMTModel", Some(Head::ConditionalGeneration)),
            (ModelType::T5, "T5EncoderModel", Some(Head::Encoder)),
            (ModelType::Unet, "UNet2DConditionModel", Some(Head::Base)),
            (ModelType::AutoencoderKl, "AutoencoderKL", Some(Head::Autoencoder)),
            (ModelType::Roberta, "BertModel", None),
        ] {
            assert_eq!(model_type.head(class), head, "{class}");
        }
    }

    #[test]
    fn every_type_can_serve_a_task_of_its_architecture() {
        for model_type in ModelType::ALL {
            let tasks = model_type.architecture().tasks();
            let serves = |head: &Head| head.tasks().iter().any(|task| tasks.contains(task));
            assert!(model_type.entry().heads.iter().any(serves), "{model_type}");
        }
    }
}
