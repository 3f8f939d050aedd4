//! The registry: every model type with a native implementation, one line each. Everything that
//! lists such types is derived from it: their part of the enum [`ModelType`](crate::ModelType), the
//! dispatch of the models crate, the recorder's `python/reference/registry.json`, docs.
//!
//! A type is entered when its numbers agree with transformers. Sorted by architecture, then by
//! name.

use crate::head::Head::{
    self, Base, CausalLm, ImageClassification, MaskedLm, NextSentence, PreTraining,
    QuestionAnswering, SequenceClassification, TokenClassification,
};

/// Calls `$callback!` with the table.
///
/// A block for each architecture: its variant, its name, which is also its cargo feature and its
/// folder of model code, and the module of the recorder that draws its inputs. In it, a line for
/// each model type:
///
/// 1. the variant of [`ModelType`](crate::ModelType),
/// 2. the `model_type` of `config.json`; for models of diffusers, which have none, the
///    `_class_name`,
/// 3. the file of model code and the definition in it that loads the type: types that differ in
///    configuration defaults or names share one,
/// 4. what the names of its transformers classes start with,
/// 5. its heads,
/// 6. the fields of [`NativeEntry`] that differ from `NativeEntry::DEFAULT`.
#[macro_export]
macro_rules! for_each_native_type {
    ($callback:ident) => {
        $callback! {
        DecoderOnly "decoder_only" recorded_by "decoder_only" {
            Bloom   "bloom"    bloom::Bloom      "Bloom"   DECODER {}
            Falcon  "falcon"   falcon::Falcon    "Falcon"  DECODER {}
            Gemma   "gemma"    gemma::Gemma      "Gemma"   [Base, CausalLm, SequenceClassification, TokenClassification] { tokenizer: "GemmaTokenizer" }
            Gemma2  "gemma2"   gemma::Gemma2     "Gemma2"  [Base, CausalLm, SequenceClassification, TokenClassification] { tokenizer: "GemmaTokenizer" }
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
            Pegasus "pegasus" pegasus::Pegasus "Pegasus" [Base, ConditionalGeneration] { tokenizer: "PegasusTokenizer" }
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
            Roberta    "roberta"    roberta::Roberta       "Roberta"    ENCODER { tokenizer: "RobertaTokenizer" }
            XlmRoberta "xlm-roberta" roberta::Roberta      "XLMRoberta" ENCODER { tokenizer: "XLMRobertaTokenizer" }
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

pub(crate) const DECODER: [Head; 5] = [
    Base,
    CausalLm,
    SequenceClassification,
    TokenClassification,
    QuestionAnswering,
];
pub(crate) const ENCODER: [Head; 5] = [
    Base,
    MaskedLm,
    SequenceClassification,
    TokenClassification,
    QuestionAnswering,
];
pub(crate) const PRETRAINED: [Head; 6] = [
    Base,
    PreTraining,
    MaskedLm,
    SequenceClassification,
    TokenClassification,
    QuestionAnswering,
];
pub(crate) const BERT: [Head; 7] = [
    Base,
    MaskedLm,
    PreTraining,
    NextSentence,
    SequenceClassification,
    TokenClassification,
    QuestionAnswering,
];
pub(crate) const CLASSIFIER: [Head; 2] = [Base, ImageClassification];

/// One line of the registry, beside the name and the architecture: what a native implementation
/// needs to know.
#[derive(Debug, Clone, Copy)]
pub struct NativeEntry {
    /// The start of the transformers class names, for instance `Bert`.
    pub class: &'static str,
    /// The heads that are implemented.
    pub heads: &'static [Head],
    /// The model definition that loads the type; types with one definition compute alike.
    pub definition: &'static str,
    /// The class with the head that generates text, where its name does not end as [`Head::as_str`]
    /// says.
    pub language_model_class: &'static str,
    /// The tokenizer class of `AutoTokenizer` for checkpoints that name none; empty where
    /// transformers registers none.
    pub tokenizer: &'static str,
    /// The tokenizer class that `AutoTokenizer` takes whatever the checkpoint names; usually empty.
    pub forced_tokenizer: &'static str,
    /// The image processor or feature extractor of checkpoints that name none; empty if the type
    /// reads neither.
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

impl Default for NativeEntry {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl NativeEntry {
    /// The values of omitted fields of a line.
    pub(crate) const DEFAULT: Self = Self {
        class: "",
        heads: &[],
        definition: "",
        language_model_class: "",
        tokenizer: "",
        forced_tokenizer: "",
        processor: "",
        scores: ScoreFunction::Softmax,
        any_image_size: false,
    };
}
