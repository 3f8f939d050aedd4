//! The checks, and which of them a harness must register.

use crate::{Architecture, DeviceKind, Precision, word::words};

words! {
    /// One property of a harness on a device.
    Check: "check" {
        /// Every tensor of the checkpoint is read, with the shape the configuration says, and none is missing.
        LoadKeysExact = "load_keys_exact",
        /// Changing a configuration field that the model reads changes the output or makes the load fail.
        ConfigEffective = "config_effective",
        /// The outputs live on the device, and in the precision, that the endpoint names.
        Placement = "placement",
        /// Text becomes the recorded token ids, an image the recorded pixel values, a graph the recorded paths and degrees.
        PreprocessGolden = "preprocess_golden",
        /// The output of the embedding layer equals the recorded one.
        EmbedGolden = "embed_golden",
        /// Every layer's hidden state equals the recorded one; names the first that diverges.
        LayerTraceGolden = "layer_trace_golden",
        /// The whole output tensors equal the recorded ones.
        OutputGolden = "output_golden",
        /// The boxes, scores and labels that a handler makes of the outputs equal the recorded ones.
        DetectionGolden = "detection_golden",
        /// Every token goes to the recorded experts with the recorded weights, or elsewhere only within its margin.
        RouterGolden = "router_golden",
        /// The passages found are the recorded ones, also those of a search through all of them, and so are the answers.
        RetrievalGolden = "retrieval_golden",
        /// No NaN and no infinity where the reference has none.
        Finite = "finite",
        /// What stands at masked positions has no influence on the others.
        MaskGolden = "mask_golden",
        /// A later token changes no earlier output.
        CausalLeak = "causal_leak",
        /// Padding, left or right, changes nothing at the real positions.
        PadInvariance = "pad_invariance",
        /// A row alone equals the row in a batch, in any order.
        BatchInvariance = "batch_invariance",
        /// Step by step with the cache equals the whole sequence at once, also in chunks and after a reset.
        KvCacheEquivalence = "kv_cache_equivalence",
        /// Lengths and batch sizes around the tile sizes of GPU kernels agree with a prefix or a row of the longest.
        ShapeSweep = "shape_sweep",
        /// Three runs give the same bits.
        Determinism = "determinism",
        /// error(f32) < error(f16) < error(bf16), each within its tolerance.
        DtypeLadder = "dtype_ladder",
        /// What the half precision of this device really computes, measured against f64.
        HalfProbe = "half_probe",
        /// Greedy tokens equal the recorded ones, or differ only where the recorded margin is below the error.
        GreedyMargin = "greedy_margin",
        /// End token, length limits, seed, and temperature towards zero do what they say.
        GenerationControls = "generation_controls",
        /// Memory in use returns to where it was once the model is dropped.
        MemoryReleased = "memory_released",
        /// A device that is absent gives an endpoint marked as fallback, with the reason.
        FallbackMarked = "fallback_marked",
        /// A checkpoint that cannot be loaded gives an endpoint marked as mock, with the reason.
        MockMarked = "mock_marked",
        /// `TESTGEN_REQUIRE` turns absence, fallback and mock into failure.
        RequireHonoured = "require_honoured",
    }
}

/// One line of a harness's list: this check, on this device, in this precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registration {
    /// Where the check runs.
    pub device: DeviceKind,
    /// What the check proves.
    pub check: Check,
    /// The type that the model computes in.
    pub precision: Precision,
}

impl Check {
    /// Whether models of `architecture` have the property at all.
    pub const fn applies_to(self, architecture: Architecture) -> bool {
        match self {
            Self::CausalLeak => architecture.generates() || matches!(architecture, Architecture::VisionText),
            Self::KvCacheEquivalence | Self::GreedyMargin | Self::GenerationControls => architecture.generates(),
            Self::DetectionGolden => matches!(architecture, Architecture::ObjectDetection),
            Self::MaskGolden | Self::PadInvariance => {
                architecture.reads_text() || matches!(architecture, Architecture::Graph)
            }
            Self::RetrievalGolden => matches!(architecture, Architecture::Rag),
            Self::RouterGolden => matches!(architecture, Architecture::Moe),
            _ => true,
        }
    }

    /// Whether the check is made once for each precision of the spec, rather than in f32 alone.
    pub const fn per_precision(self) -> bool {
        matches!(self, Self::Placement | Self::OutputGolden | Self::Finite | Self::HalfProbe)
    }

    /// Whether the check compares numbers that the device computed; such a check never passes on a fallback or a mock.
    pub const fn is_numeric(self) -> bool {
        !matches!(self, Self::FallbackMarked | Self::MockMarked | Self::RequireHonoured)
    }

    /// Whether the check is made on `device`: a fallback and a requirement are about GPUs.
    pub const fn applies_on(self, device: DeviceKind) -> bool {
        match self {
            Self::FallbackMarked | Self::RequireHonoured => !matches!(device, DeviceKind::Cpu),
            _ => true,
        }
    }
}

/// Every registration that a harness of `architecture` must have, ordered by device, check and precision.
///
/// f32 is the reference of the ladder and of the metamorphic checks: checks that are not made per precision run in f32
/// where the spec has it, else in the spec's first precision.
pub fn required_checks(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
) -> Vec<Registration> {
    let single = precisions.iter().copied().min().into_iter().collect::<Vec<_>>();
    let mut required = Vec::new();
    for &device in devices {
        let checks = Check::ALL.iter().filter(|check| check.applies_to(architecture) && check.applies_on(device));
        for &check in checks {
            let precisions = if check.per_precision() { precisions } else { &single };
            let skip_f32 = |precision: &&Precision| !(check == Check::HalfProbe && **precision == Precision::F32);
            required.extend(precisions.iter().filter(skip_f32).map(|&precision| Registration {
                device,
                check,
                precision,
            }));
        }
    }
    required.sort();
    required
}
