//! Faults of matrix products, each reported of AMD's libraries or of the same kind as a reported
//! one.

use std::str::FromStr;

/// A fault of the simulated rocBLAS and hipBLASLt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlasFault {
    /// Alpha is taken as 1, as reported of TF32 on gfx950 (rocm-libraries 12226).
    Alpha,
    /// C is not added.
    Beta,
    /// Subnormal elements of A and B are taken as 0, as MFMA of gfx90a does in f16 (rocm-libraries
    /// 11938).
    Flush,
    /// With both factors transposed, A is read as if it were not (ROCm 4615).
    Transpose,
    /// Elements of the result after the first kilobyte are not stored; hipBLASLt 2299 drops those
    /// after 2 GiB.
    Limit,
    /// Every product of a batch has the first B.
    Batch,
    /// The element after the last one is written, too.
    Beyond,
    /// Nothing is computed, and success is returned (rocm-libraries 5706).
    Silent,
    /// An internal error is returned.
    Refuse,
    /// The product is rounded to the type of the result before beta * C is added.
    Round,
    /// The last of the listed solutions computes nothing; the others are right.
    Solution,
}

impl BlasFault {
    /// Every fault with its name in `HIP_SIM_FAULTS`.
    pub const ALL: &[(&str, Self)] = &[
        ("alpha", Self::Alpha),
        ("beta", Self::Beta),
        ("flush", Self::Flush),
        ("transpose", Self::Transpose),
        ("limit", Self::Limit),
        ("batch", Self::Batch),
        ("beyond", Self::Beyond),
        ("silent", Self::Silent),
        ("refuse", Self::Refuse),
        ("round", Self::Round),
        ("solution", Self::Solution),
    ];
}

impl FromStr for BlasFault {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, fault)| *fault)
            .ok_or(())
    }
}
