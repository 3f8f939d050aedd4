//! The groups of types that allocate alike, each with the sequence of its allocations.

use crate::{
    autoencoder, call::NetworkCall, convnext, deberta, decoder, detection, encoder,
    encoder_decoder, error::EstimateError, graphormer, llava, patchtst, rag, resnet, ssm, swin,
    unet, vision, vision_text, wav2vec2, whisper,
};
use testgen_types::ModelType;

/// Types that allocate alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllocationFamily {
    Autoencoder,
    ConvNext,
    Deberta,
    Decoder,
    Detr,
    Encoder,
    EncoderDecoder,
    Graphormer,
    Llava,
    PatchTst,
    Rag,
    ResNet,
    StateSpace,
    Swin,
    Unet,
    Vision,
    VisionText,
    Wav2Vec2,
    Whisper,
    Yolos,
}

impl AllocationFamily {
    /// `None` if the type has no estimate.
    pub(crate) fn find(model_type: ModelType) -> Option<Self> {
        use ModelType as T;
        Some(match model_type {
            T::Bloom
            | T::Falcon
            | T::Gemma
            | T::Gemma2
            | T::Gpt2
            | T::GptNeoX
            | T::Llama
            | T::Mistral
            | T::Mixtral
            | T::Olmo2
            | T::Olmoe
            | T::Opt
            | T::Phi3
            | T::Qwen2
            | T::Qwen3
            | T::Qwen3Moe => Self::Decoder,
            T::Albert
            | T::Bert
            | T::DistilBert
            | T::Electra
            | T::ModernBert
            | T::Mpnet
            | T::Roberta
            | T::XlmRoberta => Self::Encoder,
            T::Bart | T::Marian | T::Pegasus | T::T5 => Self::EncoderDecoder,
            T::Deit | T::Dinov2 | T::Vit => Self::Vision,
            T::Clip | T::Siglip => Self::VisionText,
            T::Hubert | T::Wav2Vec2 => Self::Wav2Vec2,
            T::Mamba | T::Mamba2 => Self::StateSpace,
            T::AutoencoderKl => Self::Autoencoder,
            T::ConvNext => Self::ConvNext,
            T::DebertaV2 => Self::Deberta,
            T::Detr => Self::Detr,
            T::Graphormer => Self::Graphormer,
            T::Llava => Self::Llava,
            T::PatchTst => Self::PatchTst,
            T::Rag => Self::Rag,
            T::ResNet => Self::ResNet,
            T::Swin => Self::Swin,
            T::Unet => Self::Unet,
            T::Whisper => Self::Whisper,
            T::Yolos => Self::Yolos,
            // Without a native implementation there are no allocations to follow.
            _ => return None,
        })
    }

    /// Whether the number of tokens counts, and not only the size of images or series.
    pub(crate) fn reads_tokens(self) -> bool {
        !matches!(
            self,
            Self::Autoencoder
                | Self::ConvNext
                | Self::Detr
                | Self::PatchTst
                | Self::ResNet
                | Self::Swin
                | Self::Vision
                | Self::Yolos
        )
    }

    /// Whether an encoder and a decoder load a table of tokens each.
    pub(crate) fn has_stacks(self) -> bool {
        matches!(self, Self::EncoderDecoder | Self::Rag)
    }

    /// Whether the images of a call may have another size than the configuration says, if it says
    /// one.
    pub(crate) fn reads_any_image_size(self) -> bool {
        matches!(
            self,
            Self::ConvNext | Self::Detr | Self::ResNet | Self::Swin
        )
    }

    /// Whether it reads latents, or the images that they become, of any size.
    pub(crate) fn reads_latents(self) -> bool {
        matches!(self, Self::Autoencoder | Self::Unet)
    }

    /// One call of a network.
    pub(crate) fn forward(self, call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
        match self {
            Self::Autoencoder => autoencoder::forward(call),
            Self::ConvNext => convnext::forward(call),
            Self::Deberta => deberta::forward(call),
            Self::Decoder => decoder::forward(call),
            Self::Detr => detection::detr(call),
            Self::Encoder => encoder::forward(call),
            Self::EncoderDecoder => encoder_decoder::forward(call),
            Self::Graphormer => graphormer::forward(call),
            Self::Llava => llava::forward(call),
            Self::PatchTst => patchtst::forward(call),
            Self::Rag => rag::forward(call),
            Self::ResNet => resnet::forward(call),
            Self::StateSpace => ssm::forward(call),
            Self::Swin => swin::forward(call),
            Self::Unet => unet::forward(call),
            Self::Vision => vision::forward(call),
            Self::VisionText => vision_text::forward(call),
            Self::Wav2Vec2 => wav2vec2::forward(call),
            Self::Whisper => whisper::forward(call),
            Self::Yolos => detection::yolos(call),
        }
    }
}
