//! The checks: one line each. Everything that lists checks is derived from the table: the enum
//! [`Check`], what a harness must register (`registration`), what the runtime runs for each, specs
//! and docs.

use crate::{
    architecture::{Architecture, SubjectKind},
    closed_enum::closed_enum,
    device_kind::DeviceKind,
};

/// Calls `$callback!` with the table.
///
/// A line for each check:
///
/// 1. the property that it shows,
/// 2. the variant of [`Check`], and its name in specs, test names and reports,
/// 3. the kinds of subjects that have the property, each with its file below `check` of the
///    runtime; `by_golden`, `by_class` or `by_answers`, if that shows of some checkpoints that they do not
///    have it,
/// 4. `needs`: the feature of an engine without which there is nothing to compare,
/// 5. the fields of [`CheckEntry`] that differ from `CheckEntry::DEFAULT`.
#[macro_export]
macro_rules! for_each_check {
    ($callback:ident) => {
        $callback! {
        /// Every tensor of the checkpoint is read, with the shape the configuration says, and none
        /// is missing.
        LoadKeysExact "load_keys_exact" [Model(load_keys_exact)] needs(Tensors) {}
        /// Changing a configuration field that the model reads changes the output or makes loading
        /// fail.
        ConfigEffective "config_effective" [Model(config_effective)] needs(Configuration) {}
        /// The outputs are on the device, and in the precision, that the endpoint reports.
        Placement "placement" [Model(placement), Operators(operators::placement)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// Preprocessing equals the recorded one: token ids of a text, pixel values of an image,
        /// paths and degrees of a graph.
        PreprocessGolden "preprocess_golden" [Model(preprocess_golden, by_golden)] {}
        /// The output of the embedding layer equals the recorded one.
        EmbedGolden "embed_golden" [Model(embed_golden, by_golden)] needs(HiddenStates) { topic: CheckTopic::Numbers }
        /// Every layer's hidden state equals the recorded one; reports the first that diverges.
        LayerTraceGolden "layer_trace_golden" [Model(layer_trace_golden, by_golden)] needs(HiddenStates) { topic: CheckTopic::Numbers }
        /// The output tensors equal the recorded ones.
        OutputGolden "output_golden" [Model(output_golden)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// The boxes, scores and labels that postprocessing computes from the outputs equal the
        /// recorded ones.
        DetectionGolden "detection_golden" [Model(detection_golden, by_golden)] { topic: CheckTopic::Numbers, architectures: detects_objects }
        /// Every token is routed to the recorded experts with the recorded weights; another expert
        /// only within its margin.
        RouterGolden "router_golden" [Model(router_golden, by_golden)] needs(HiddenStates) { topic: CheckTopic::Numbers, architectures: has_experts }
        /// The retrieved passages equal the recorded ones and the results of an exhaustive search;
        /// the answers equal the recorded ones.
        RetrievalGolden "retrieval_golden" [Model(retrieval_golden, by_golden)] { topic: CheckTopic::Numbers, architectures: retrieves }
        /// The endpoint answers the recorded request of its modality as transformers does: labels
        /// with scores, tokens, boxes, vectors.
        HandlerGolden "handler_golden" [Model(handler_golden, by_answers)] { precisions: Precisions::Each }
        /// No NaN and no infinity unless the reference has them.
        Finite "finite" [Model(finite)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// The content of masked positions has no influence on the others.
        MaskGolden "mask_golden" [Model(mask_golden)] { topic: CheckTopic::Relations, architectures: has_a_mask }
        /// A later token changes no earlier output.
        CausalLeak "causal_leak" [Model(causal_leak, by_class)] { topic: CheckTopic::Relations, architectures: is_causal }
        /// Padding, left or right, changes nothing at the real positions.
        PadInvariance "pad_invariance" [Model(pad_invariance)] { topic: CheckTopic::Relations, architectures: has_a_mask }
        /// A row computed alone equals the row in a batch, in any order.
        BatchInvariance "batch_invariance" [Model(batch_invariance)] { topic: CheckTopic::Relations }
        /// Decoding step by step with the cache equals the whole sequence at once, also in chunks
        /// and after a reset.
        KvCacheEquivalence "kv_cache_equivalence" [Model(kv_cache_equivalence, by_class)] { topic: CheckTopic::Relations, architectures: Architecture::generates }
        /// Lengths and batch sizes around the tile sizes of GPU kernels agree with a prefix or a
        /// row of the longest.
        ShapeSweep "shape_sweep" [Model(shape_sweep)] { topic: CheckTopic::Relations }
        /// A text as long as the model's positions, up to 32768 tokens, has the same outputs in
        /// chunks with a cache, cut at lengths around the tiles of kernels, and padded in a batch;
        /// a token is seen as far as its window. Runs with `testgen run --stress` only.
        LongText "long_text" [Model(long_text, by_class)] { topic: CheckTopic::Relations, architectures: reads_long_texts, is_on_request: true }
        /// Three runs give the same bits.
        Determinism "determinism" [Model(determinism), Operators(operators::determinism)] {}
        /// error(f32) < error(f16) < error(bf16), and error(tf32) between f32 and bf16, each
        /// within its tolerance.
        DtypeLadder "dtype_ladder" [Model(dtype_ladder)] {}
        /// Every implementation of attention that an engine has computes the same, with and without
        /// masks, and with a cache.
        AttentionPaths "attention_paths" [Model(attention_paths)] { architectures: has_attention, precisions: Precisions::Each, engines: Engines::Processes }
        /// Every implementation of experts that an engine has computes the same: one expert after
        /// another, and all at once.
        ExpertPaths "expert_paths" [Model(expert_paths)] { architectures: has_experts, precisions: Precisions::Each, engines: Engines::Processes }
        /// The half precision of this device, or its TF32, measured by computing and compared with
        /// f64.
        HalfProbe "half_probe" [Model(half_probe), Operators(half_probe)] { precisions: Precisions::EachButF32 }
        /// Greedy tokens equal the recorded ones, or differ only at positions whose recorded margin
        /// is below the error.
        GreedyMargin "greedy_margin" [Model(greedy_margin, by_golden)] { architectures: Architecture::generates }
        /// End token, length limits, seed, and temperature towards zero have their documented
        /// effect.
        GenerationControls "generation_controls" [Model(generation_controls, by_class)] { topic: CheckTopic::Relations, architectures: Architecture::generates }
        /// Every element of an operator's result is within its bound of a float64 reference; sums
        /// have no more bias and variance than rounding causes.
        Forward "forward" [Operators(operators::forward)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// Odd sizes, strides, offsets, broadcasting and empty tensors.
        Shapes "shapes" [Operators(operators::shapes)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// NaN, infinities, zeros, subnormal and the largest numbers, as IEEE 754 and PyTorch
        /// define.
        SpecialValues "special_values" [Operators(operators::special_values)] { topic: CheckTopic::Numbers, precisions: Precisions::Each }
        /// Relations that hold bit for bit: products of small integers, powers of two, equal and
        /// permuted rows, copies.
        Relations "relations" [Operators(operators::relations)] { precisions: Precisions::Each }
        /// Integers and booleans, exactly.
        Integers "integers" [Operators(operators::integers)] { topic: CheckTopic::Numbers }
        /// Operators on the sizes of reported faults: thousands of terms and tokens, hundreds of
        /// thousands of rows, gigabytes; into memory that holds NaN, again after other work, and on
        /// two streams at once. Runs with `testgen run --stress` only.
        Stress "stress" [Operators(operators::stress)] { topic: CheckTopic::Numbers, precisions: Precisions::Each, is_on_request: true }
        /// Memory in use returns to its value before the load once the model is dropped.
        MemoryReleased "memory_released" [Model(memory_released), Operators(operators::memory_released)] {}
        /// Without the device, the endpoint is marked as fallback, with the reason.
        FallbackMarked "fallback_marked" [Model(fallback_marked), Operators(fallback_marked)] { topic: CheckTopic::Status, devices: CheckDevices::Gpus }
        /// For a checkpoint that cannot be loaded, the endpoint is marked as mock, with the reason.
        MockMarked "mock_marked" [Model(mock_marked), Operators(mock_marked)] { topic: CheckTopic::Status }
        /// `TESTGEN_REQUIRE` turns a missing device, a fallback and a mock into failures.
        RequireHonoured "require_honoured" [Model(require_honoured), Operators(require_honoured)] { topic: CheckTopic::Status, devices: CheckDevices::Gpus }
        }
    };
}

macro_rules! define_checks {
    ($(
        $(#[doc = $property:literal])+
        $check:ident $name:literal
        [$($subject:ident($($file:tt)+)),+] $(needs($feature:ident))?
        { $($field:ident: $value:expr),* }
    )+) => {
        closed_enum! {
            /// One property of a harness on a device.
            Check: "check" { $($(#[doc = $property])+ $check = $name,)+ }
        }

        impl Check {
            /// The facts in its line of the table.
            pub const fn entry(self) -> CheckEntry {
                match self {
                    $(Self::$check => CheckEntry {
                        property: concat!($($property),+),
                        subjects: &[$(SubjectKind::$subject),+],
                        $($field: $value,)*
                        ..CheckEntry::DEFAULT
                    },)+
                }
            }
        }
    };
}

for_each_check!(define_checks);

/// The facts about a check that are known before it runs.
#[derive(Debug, Clone, Copy)]
pub struct CheckEntry {
    /// The property that it shows, as in the table, with a space before each line.
    pub property: &'static str,
    /// The kinds of subjects that have the property.
    pub subjects: &'static [SubjectKind],
    /// Whether subjects of an architecture have it.
    pub architectures: fn(Architecture) -> bool,
    /// The precisions in which it runs.
    pub precisions: Precisions,
    /// The devices on which it runs.
    pub devices: CheckDevices,
    /// The engines that have it.
    pub engines: Engines,
    /// The topic of its result.
    pub topic: CheckTopic,
    /// Whether it runs only on request, because it takes minutes.
    pub is_on_request: bool,
}

/// The topic of a check's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckTopic {
    /// The numbers that one forward pass computes on the recorded inputs, on the device and in the
    /// precision of the check's name.
    Numbers,
    /// Relations between outputs of one engine: masks, batches, caches, lengths. A model need not
    /// have such a property.
    Relations,
    /// The surroundings of the numbers: loading, input, answers, implementations, other precisions,
    /// memory.
    Surroundings,
    /// The status of an endpoint without its device or its model. The other topics need numbers
    /// that the device computed, and never pass on a fallback or a mock.
    Status,
}

/// The precisions of a spec in which a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precisions {
    /// One: f32 if the spec has it, else the finest one that the device has.
    Finest,
    /// Each.
    Each,
    /// Each but f32, which the others are compared with.
    EachButF32,
}

/// The devices on which a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDevices {
    /// Every device.
    All,
    /// GPUs, because a CPU is never absent.
    Gpus,
}

/// The engines that have a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engines {
    /// Every engine.
    All,
    /// Engines that are processes and have several implementations of one computation, which are
    /// compared. The native one has one of each.
    Processes,
}

impl CheckEntry {
    // Most checks run once on every device, so that the table names only what differs.
    const DEFAULT: Self = Self {
        property: "",
        subjects: &[],
        architectures: |_| true,
        precisions: Precisions::Finest,
        devices: CheckDevices::All,
        engines: Engines::All,
        topic: CheckTopic::Surroundings,
        is_on_request: false,
    };
}

/// The text encoder of CLIP is causal although it generates nothing.
const fn is_causal(architecture: Architecture) -> bool {
    architecture.generates() || matches!(architecture, Architecture::VisionText)
}

// Nodes that pad a batch of graphs are masked as the padding of texts is.
const fn has_a_mask(architecture: Architecture) -> bool {
    architecture.reads_text() || matches!(architecture, Architecture::Graph)
}

const fn has_attention(architecture: Architecture) -> bool {
    !matches!(architecture, Architecture::Ssm)
}

const fn has_experts(architecture: Architecture) -> bool {
    matches!(architecture, Architecture::Moe)
}

const fn detects_objects(architecture: Architecture) -> bool {
    matches!(architecture, Architecture::ObjectDetection)
}

/// Decoders whose tokens do not share experts: which of them are chosen may depend on rounding.
const fn reads_long_texts(architecture: Architecture) -> bool {
    matches!(architecture, Architecture::DecoderOnly | Architecture::Ssm)
}

const fn retrieves(architecture: Architecture) -> bool {
    matches!(architecture, Architecture::Rag)
}

impl Check {
    /// Whether harnesses of `architecture` have the check.
    pub fn applies_to(self, architecture: Architecture) -> bool {
        let entry = self.entry();
        entry.subjects.contains(&architecture.subject()) && (entry.architectures)(architecture)
    }

    /// Whether the check runs on `device`.
    pub const fn applies_on(self, device: DeviceKind) -> bool {
        // By `matches!`, because a derived `==` cannot be called in a `const fn`.
        matches!(self.entry().devices, CheckDevices::All) || !matches!(device, DeviceKind::Cpu)
    }

    /// Whether the check runs once per precision of the spec.
    pub const fn per_precision(self) -> bool {
        !matches!(self.entry().precisions, Precisions::Finest)
    }

    /// Whether the check runs only on request.
    pub const fn is_on_request(self) -> bool {
        self.entry().is_on_request
    }

    /// Whether only engines that are processes have the check.
    pub const fn compares_implementations(self) -> bool {
        matches!(self.entry().engines, Engines::Processes)
    }

    /// The topic of its result.
    pub const fn topic(self) -> CheckTopic {
        self.entry().topic
    }

    /// Whether its result is about the numbers of one forward pass.
    pub const fn compares_numbers(self) -> bool {
        matches!(self.topic(), CheckTopic::Numbers)
    }

    /// Whether the check compares numbers that the device computed.
    pub const fn is_numeric(self) -> bool {
        !matches!(self.topic(), CheckTopic::Status)
    }
}
