//! The known trainers.

use serde::Serialize;

/// A trainer whose lines are read. `docs/logs.md` names the source of each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// PyTorch's torchtitan.
    Torchtitan,
    /// NVIDIA's Megatron-LM, and Megatron-DeepSpeed.
    Megatron,
    /// AMD's Primus: Megatron-LM with HIP and ROCm memory.
    Primus,
    /// EleutherAI's GPT-NeoX.
    GptNeox,
    /// DeepSpeed's progress and throughput lines.
    DeepSpeed,
    /// NVIDIA's NeMo: its progress printer.
    Nemo,
    /// Lightning's progress bar, which NeMo uses, too.
    Lightning,
    /// The Hugging Face Trainer; TRL and Axolotl print the same dictionaries with more keys.
    HuggingFace,
    /// Karpathy's nanoGPT.
    NanoGpt,
    /// Karpathy's llm.c, in CUDA and in Python.
    LlmC,
    /// Hugging Face's nanotron.
    Nanotron,
    /// Google's MaxText.
    MaxText,
    /// PyTorch's torchtune: its log file and its progress bar.
    Torchtune,
    /// Composer's console logger, which llm-foundry uses, too.
    Composer,
    /// OLMo of the Allen Institute.
    Olmo,
    /// fairseq: JSON lines and simple lines.
    Fairseq,
    /// Lightning's LitGPT.
    LitGpt,
    /// OpenMMLab's MMEngine.
    MmEngine,
    /// Lines that scripts print of PyTorch's allocator: `torch.cuda.max_memory_allocated: 1.5 GB`.
    TorchMemory,
}

impl LogFormat {
    /// Every format.
    pub const ALL: &[Self] = &[
        Self::Torchtitan,
        Self::Megatron,
        Self::Primus,
        Self::GptNeox,
        Self::DeepSpeed,
        Self::Nemo,
        Self::Lightning,
        Self::HuggingFace,
        Self::NanoGpt,
        Self::LlmC,
        Self::Nanotron,
        Self::MaxText,
        Self::Torchtune,
        Self::Composer,
        Self::Olmo,
        Self::Fairseq,
        Self::LitGpt,
        Self::MmEngine,
        Self::TorchMemory,
    ];

    /// The name of the project.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Torchtitan => "torchtitan",
            Self::Megatron => "Megatron-LM",
            Self::Primus => "Primus",
            Self::GptNeox => "GPT-NeoX",
            Self::DeepSpeed => "DeepSpeed",
            Self::Nemo => "NeMo",
            Self::Lightning => "Lightning",
            Self::HuggingFace => "Hugging Face Trainer",
            Self::NanoGpt => "nanoGPT",
            Self::LlmC => "llm.c",
            Self::Nanotron => "nanotron",
            Self::MaxText => "MaxText",
            Self::Torchtune => "torchtune",
            Self::Composer => "Composer",
            Self::Olmo => "OLMo",
            Self::Fairseq => "fairseq",
            Self::LitGpt => "LitGPT",
            Self::MmEngine => "MMEngine",
            Self::TorchMemory => "PyTorch's allocator",
        }
    }
}
