//! The published features of matrix units. Fasi et al. 2021 "Numerical behavior of NVIDIA tensor
//! cores" (Volta, Ampere), Li et al. 2024 "FTTN" (arXiv 2403.00232; Volta, Ampere, Hopper), Xie et
//! al. 2025 "MMA-Sim" (arXiv 2511.10909: all), AMD's documentation of MIOpen, "MI200 MFMA behavior
//! specifics" (CDNA 2 flushes subnormals).

use testgen_types::{ExtraBits, MatrixUnit, Precision, SumRounding};

/// The features of a generation. `None` matches every value.
struct Generation {
    name: &'static str,
    /// The terms added at once in f16 and bf16.
    terms: usize,
    /// The same in TF32, whose factors have twice the bytes; `None` for units whose TF32 is not
    /// used here.
    tf32_terms: Option<usize>,
    extra_bits: Option<ExtraBits>,
    rounding: SumRounding,
    accumulator_separate: Option<bool>,
    /// Whether operands below the smallest normal number are kept.
    subnormal_inputs: bool,
}

/// A generation of NVIDIA, which adds the accumulator with the terms and truncates.
const fn nvidia(
    name: &'static str,
    terms: usize,
    tf32_terms: Option<usize>,
    extra_bits: Option<ExtraBits>,
) -> Generation {
    Generation {
        name,
        terms,
        tf32_terms,
        extra_bits,
        rounding: SumRounding::TowardZero,
        accumulator_separate: Some(false),
        subnormal_inputs: true,
    }
}

/// A generation of AMD, which adds the accumulator last and rounds to nearest.
const fn amd(
    name: &'static str,
    terms: usize,
    tf32_terms: Option<usize>,
    extra_bits: Option<ExtraBits>,
) -> Generation {
    Generation {
        rounding: SumRounding::NearestEven,
        accumulator_separate: Some(true),
        ..nvidia(name, terms, tf32_terms, extra_bits)
    }
}

const GENERATIONS: [Generation; 7] = [
    nvidia("NVIDIA Volta", 4, None, Some(ExtraBits::None)),
    nvidia("NVIDIA Ampere and Ada", 8, Some(4), Some(ExtraBits::One)),
    nvidia(
        "NVIDIA Hopper and Blackwell",
        16,
        Some(8),
        Some(ExtraBits::Two),
    ),
    amd("AMD CDNA 1", 2, None, None),
    Generation {
        subnormal_inputs: false,
        ..amd("AMD CDNA 2", 2, None, None)
    },
    amd("AMD CDNA 3", 8, None, Some(ExtraBits::One)),
    Generation {
        accumulator_separate: None,
        ..amd(
            "f32 operations in sequence, no matrix unit",
            1,
            Some(1),
            None,
        )
    },
];

/// The generations that agree with every feature.
pub(super) fn like(precision: Precision, measured: &MatrixUnit) -> Vec<String> {
    let agreeing = GENERATIONS
        .iter()
        // A generation whose features were not all measured is not among them.
        .filter(|generation| generation.agrees(precision, measured));
    agreeing
        .map(|generation| generation.name.to_owned())
        .collect()
}

impl Generation {
    fn agrees(&self, precision: Precision, measured: &MatrixUnit) -> bool {
        let terms = if precision == Precision::Tf32 {
            self.tf32_terms
        } else {
            Some(self.terms)
        };
        // Without a published number of terms nothing distinguishes the generation.
        terms.is_some()
            && measured.terms == terms
            && (self.extra_bits.is_none() || self.extra_bits == measured.extra_bits)
            && measured.rounding == Some(self.rounding)
            && (self.accumulator_separate.is_none()
                || self.accumulator_separate == measured.accumulator_separate)
            && measured.subnormal_inputs == Some(self.subnormal_inputs)
    }
}
