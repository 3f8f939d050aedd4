//! The checks, and which of them a harness must register.

use crate::{architecture::Architecture, closed_enum::closed_enum, device_kind::DeviceKind, precision::Precision};

closed_enum! {
    /// One property of a harness on a device.
    Check: "check" {
        /// Every tensor of the checkpoint is read, with the shape the configuration says, and none is missing.
        LoadKeysExact = "load_keys_exact",
        /// Changing a configuration field that the model reads changes the output or makes loading fail.
        ConfigEffective = "config_effective",
        /// The outputs are on the device, and in the precision, that the endpoint reports.
        Placement = "placement",
        /// Preprocessing equals the recorded one: token ids of a text, pixel values of an image, paths and degrees of a
        /// graph.
        PreprocessGolden = "preprocess_golden",
        /// The output of the embedding layer equals the recorded one.
        EmbedGolden = "embed_golden",
        /// Every layer's hidden state equals the recorded one; reports the first that diverges.
        LayerTraceGolden = "layer_trace_golden",
        /// The output tensors equal the recorded ones.
        OutputGolden = "output_golden",
        /// The boxes, scores and labels that postprocessing computes from the outputs equal the recorded ones.
        DetectionGolden = "detection_golden",
        /// Every token is routed to the recorded experts with the recorded weights; another expert only within its
        /// margin.
        RouterGolden = "router_golden",
        /// The retrieved passages equal the recorded ones and those of an exhaustive search; the answers equal the
        /// recorded ones.
        RetrievalGolden = "retrieval_golden",
        /// The endpoint answers the recorded request of its modality as transformers does: labels with scores, tokens, boxes,
        /// vectors.
        HandlerGolden = "handler_golden",
        /// No NaN and no infinity where the reference has none.
        Finite = "finite",
        /// The content of masked positions has no influence on the others.
        MaskGolden = "mask_golden",
        /// A later token changes no earlier output.
        CausalLeak = "causal_leak",
        /// Padding, left or right, changes nothing at the real positions.
        PadInvariance = "pad_invariance",
        /// A row computed alone equals the row in a batch, in any order.
        BatchInvariance = "batch_invariance",
        /// Decoding step by step with the cache equals the whole sequence at once, also in chunks and after a reset.
        KvCacheEquivalence = "kv_cache_equivalence",
        /// Lengths and batch sizes around the tile sizes of GPU kernels agree with a prefix or a row of the longest.
        ShapeSweep = "shape_sweep",
        /// Three runs give the same bits.
        Determinism = "determinism",
        /// error(f32) < error(f16) < error(bf16), and that of tf32 between f32 and bf16, each within its tolerance.
        DtypeLadder = "dtype_ladder",
        /// Every implementation of attention that an engine has computes the same, with and without masks, and with a cache.
        AttentionPaths = "attention_paths",
        /// Every implementation of experts that an engine has computes the same: one expert after another, and all at once.
        ExpertPaths = "expert_paths",
        /// The half precision of this device, or its TF32, measured by computing and compared with f64.
        HalfProbe = "half_probe",
        /// Greedy tokens equal the recorded ones, or differ only where the recorded margin is below the error.
        GreedyMargin = "greedy_margin",
        /// End token, length limits, seed, and temperature towards zero have their documented effect.
        GenerationControls = "generation_controls",
        /// Every element of an operator's result is within its bound of a float64 reference; sums have no more bias and variance
        /// than rounding causes.
        Forward = "forward",
        /// Odd sizes, strides, offsets, broadcasting and empty tensors.
        Shapes = "shapes",
        /// NaN, infinities, zeros, subnormal and the largest numbers, as IEEE 754 and PyTorch define.
        SpecialValues = "special_values",
        /// Relations that hold bit for bit: products of small integers, powers of two, equal and permuted rows, copies.
        Relations = "relations",
        /// Integers and booleans, exactly.
        Integers = "integers",
        /// Operators on the sizes of reported faults: thousands of terms and tokens, hundreds of thousands of rows, gigabytes; into
        /// memory that holds NaN, again after other work, and on two streams at once. Runs with `testgen run --stress` only.
        Stress = "stress",
        /// Memory in use returns to its value before the load once the model is dropped.
        MemoryReleased = "memory_released",
        /// Without the device, the endpoint is marked as fallback, with the reason.
        FallbackMarked = "fallback_marked",
        /// For a checkpoint that cannot be loaded, the endpoint is marked as mock, with the reason.
        MockMarked = "mock_marked",
        /// `TESTGEN_REQUIRE` turns a missing device, a fallback and a mock into failures.
        RequireHonoured = "require_honoured",
    }
}

/// One line of a harness's list: this check, on this device, in this precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registration {
    /// The device the check runs on.
    pub device: DeviceKind,
    /// The property the check proves.
    pub check: Check,
    /// The number format the model computes in.
    pub precision: Precision,
}

impl Check {
    /// Whether models of `architecture` have the property at all.
    pub const fn applies_to(self, architecture: Architecture) -> bool {
        if matches!(architecture, Architecture::Operators) {
            return self.applies_to_operators();
        }
        match self {
            Self::Forward | Self::Shapes | Self::SpecialValues | Self::Relations | Self::Integers | Self::Stress => {
                false
            }
            // The text encoder of CLIP is causal although it generates nothing.
            Self::CausalLeak => architecture.generates() || matches!(architecture, Architecture::VisionText),
            Self::KvCacheEquivalence | Self::GreedyMargin | Self::GenerationControls => architecture.generates(),
            Self::DetectionGolden => matches!(architecture, Architecture::ObjectDetection),
            Self::MaskGolden | Self::PadInvariance => {
                architecture.reads_text() || matches!(architecture, Architecture::Graph)
            }
            Self::RetrievalGolden => matches!(architecture, Architecture::Rag),
            Self::RouterGolden | Self::ExpertPaths => matches!(architecture, Architecture::Moe),
            Self::AttentionPaths => !matches!(architecture, Architecture::Ssm),
            _ => true,
        }
    }

    /// Whether operators have the property: those of checkpoints, texts and layers they have not.
    const fn applies_to_operators(self) -> bool {
        matches!(
            self,
            Self::Forward
                | Self::Shapes
                | Self::SpecialValues
                | Self::Relations
                | Self::Integers
                | Self::Stress
                | Self::Placement
                | Self::Determinism
                | Self::HalfProbe
                | Self::MemoryReleased
                | Self::FallbackMarked
                | Self::MockMarked
                | Self::RequireHonoured
        )
    }

    /// Whether the check runs once per precision of the spec, rather than in f32 only.
    pub const fn per_precision(self) -> bool {
        matches!(
            self,
            Self::Placement
                | Self::OutputGolden
                | Self::HandlerGolden
                | Self::Finite
                | Self::AttentionPaths
                | Self::ExpertPaths
                | Self::HalfProbe
                | Self::Forward
                | Self::Shapes
                | Self::SpecialValues
                | Self::Relations
                | Self::Stress
        )
    }

    /// Whether the check runs only where it is asked for: it takes minutes.
    pub const fn is_on_request(self) -> bool {
        matches!(self, Self::Stress)
    }

    /// Whether the check compares several implementations that an engine has of one computation. Only engines that are processes have it:
    /// the native one has one implementation of each.
    pub const fn compares_implementations(self) -> bool {
        matches!(self, Self::AttentionPaths | Self::ExpertPaths)
    }

    /// Whether the check compares numbers that the device computed; such a check never passes on a fallback or a mock.
    pub const fn is_numeric(self) -> bool {
        !matches!(self, Self::FallbackMarked | Self::MockMarked | Self::RequireHonoured)
    }

    /// Whether the check runs on `device`: fallback and requirement concern GPUs only.
    pub const fn applies_on(self, device: DeviceKind) -> bool {
        match self {
            Self::FallbackMarked | Self::RequireHonoured => !matches!(device, DeviceKind::Cpu),
            _ => true,
        }
    }
}

/// Every registration that a harness of `architecture` must have on every engine, ordered by device, check and precision.
///
/// f32 is the reference of the precision ladder and of the metamorphic checks: checks that do not run per precision run
/// in f32 where the spec has it, else in the finest precision of the spec. A precision that devices of a kind cannot have
/// (tf32 on all but CUDA) requires no checks there.
pub fn required_checks(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
) -> Vec<Registration> {
    registrations(architecture, devices, precisions, |check| !check.compares_implementations())
}

/// The registrations that a harness has besides [`required_checks`] on an engine that is a process, in the same order.
pub fn engine_checks(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
) -> Vec<Registration> {
    registrations(architecture, devices, precisions, Check::compares_implementations)
}

fn registrations(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
    selects: impl Fn(Check) -> bool,
) -> Vec<Registration> {
    let mut required = Vec::new();
    for &device in devices {
        let computed: Vec<Precision> =
            precisions.iter().copied().filter(|precision| precision.applies_on(device)).collect();
        // `Precision` declares f32 first, so it is the least one.
        let single: Vec<Precision> = computed.iter().copied().min().into_iter().collect();
        let applies = |check: &&Check| check.applies_to(architecture) && check.applies_on(device) && selects(**check);
        for &check in Check::ALL.iter().filter(applies) {
            let precisions = if check.per_precision() { &computed } else { &single };
            // The probe measures the other precisions; f32 is what they are compared with.
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

#[cfg(test)]
mod tests {
    use super::{Architecture, Check, DeviceKind, Precision, engine_checks, required_checks};

    fn precisions(check: Check, device: DeviceKind, declared: &[Precision]) -> Vec<Precision> {
        let required = required_checks(Architecture::EncoderOnly, DeviceKind::ALL, declared);
        let same = required.iter().filter(|entry| entry.check == check && entry.device == device);
        same.map(|entry| entry.precision).collect()
    }

    #[test]
    fn tf32_requires_checks_on_cuda_only() {
        let declared = [Precision::F32, Precision::Tf32];
        assert_eq!(precisions(Check::OutputGolden, DeviceKind::Cuda, &declared), declared);
        assert_eq!(precisions(Check::HalfProbe, DeviceKind::Cuda, &declared), [Precision::Tf32]);
        for device in [DeviceKind::Cpu, DeviceKind::Rocm] {
            assert_eq!(precisions(Check::OutputGolden, device, &declared), [Precision::F32]);
            assert_eq!(precisions(Check::HalfProbe, device, &declared), []);
        }
    }

    #[test]
    fn checks_of_implementations_are_those_of_engines_only() {
        let devices = [DeviceKind::Cpu];
        let of = |architecture| engine_checks(architecture, &devices, &[Precision::F32, Precision::Bf16]);
        let named =
            |architecture| of(architecture).iter().map(|entry| (entry.check, entry.precision)).collect::<Vec<_>>();
        let attention = [Precision::F32, Precision::Bf16].map(|precision| (Check::AttentionPaths, precision));
        assert_eq!(named(Architecture::EncoderOnly), attention);
        assert_eq!(named(Architecture::Moe).len(), 4);
        assert!(of(Architecture::Ssm).is_empty());
        let required = required_checks(Architecture::Moe, &devices, &[Precision::F32]);
        assert!(required.iter().all(|entry| !entry.check.compares_implementations()));
    }

    #[test]
    fn checks_in_one_precision_take_the_finest_that_the_device_has() {
        let declared = [Precision::F16, Precision::Tf32];
        assert_eq!(precisions(Check::Determinism, DeviceKind::Cuda, &declared), [Precision::Tf32]);
        assert_eq!(precisions(Check::Determinism, DeviceKind::Cpu, &declared), [Precision::F16]);
        assert_eq!(
            precisions(Check::Determinism, DeviceKind::Cpu, &[Precision::Bf16, Precision::F32]),
            [Precision::F32]
        );
    }
}
